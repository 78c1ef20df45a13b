// What moves pieces of a request's stream between staging memory and wherever the program has them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay {

/// Between begin and finish of a slot the work may go on by itself. Both return false where it failed.
class Mover {
 public:
  virtual ~Mover() = default;
  /// Stream bytes [first, first + bytes), whole elements, into the staging memory of a put, or out of that of
  /// a get.
  virtual bool begin(int slot, std::int64_t first, std::int64_t bytes, std::byte* staging) = 0;
  virtual bool finish(int slot) = 0;
};

/// Staging memory: `slots` parts of slot_bytes, each at least an element.
struct StagingMemory {
  std::byte* at = nullptr;
  std::int64_t slot_bytes = 0;
  int slots = 0;
};

}  // namespace forebay
