// What a node calls itself.
#pragma once

#include <string>

namespace forebay {

/// Empty: it does not say.
std::string host_name();

}  // namespace forebay
