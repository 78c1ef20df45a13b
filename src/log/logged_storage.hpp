// A file whose writes go to a log first: Storage over Storage.
#pragma once

#include <memory>

#include "log/node_log.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// What is written goes to `log`, and from there to `below` when somebody drains it; what is read is what was
/// written, wherever it is. Both outlive this.
std::unique_ptr<Storage> make_logged_storage(Storage& below, NodeLog& log);

}  // namespace forebay
