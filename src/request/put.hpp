// One request as a flush sees it.
#pragma once

#include "request/cursor.hpp"
#include "request/stream.hpp"

namespace forebay {

/// Neither is owned. In a list of puts, later ones win where they overlap.
struct Put {
  Cursor* cursor = nullptr;
  Source* source = nullptr;
};

}  // namespace forebay
