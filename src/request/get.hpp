// One request of a read.
#pragma once

#include "request/cursor.hpp"
#include "request/stream.hpp"

namespace forebay {

/// Neither is owned. Bytes of the file that several requests, or one several times, ask for go to each.
struct Get {
  Cursor* cursor = nullptr;
  Sink* sink = nullptr;
};

}  // namespace forebay
