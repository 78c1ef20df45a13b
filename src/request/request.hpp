// One request as a flush, or a fetch, sees it.
#pragma once

#include "request/cursor.hpp"
#include "request/stream.hpp"

namespace forebay {

/// Neither is owned. In a list of puts, later ones win where they overlap.
struct Put {
  Cursor* cursor = nullptr;
  Source* source = nullptr;
};

/// Neither is owned. Bytes of the file that several requests, or one several times, ask for go to each.
struct Get {
  Cursor* cursor = nullptr;
  Sink* sink = nullptr;
};

}  // namespace forebay
