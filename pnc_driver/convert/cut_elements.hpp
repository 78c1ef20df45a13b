// Elements of a stream that come in parts: where a round or a read ends inside one, the next part of it comes
// later, or came before.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "request/run.hpp"

namespace forebay {

/// Keeps the parts until an element is whole: few at a time, since a request has one at most at each border
/// of a round.
class CutElements {
 public:
  /// Elements of `size` bytes, at most 8.
  explicit CutElements(std::int64_t size) : size_(size) {}

  /// Takes a run that begins or ends inside an element, whose bytes are at `from`. Calls
  /// whole(element, bytes, count) for each series of elements of which all bytes are there now.
  template <class F>
  void take(const Run& run, const std::byte* from, F&& whole) {
    const std::int64_t end = run.stream + run.length;
    for (std::int64_t at = run.stream; at < end;) {
      const std::int64_t element = at / size_;
      const std::int64_t skip = at - element * size_;
      std::int64_t length = (end - at) / size_ * size_;
      if (skip == 0 && length > 0) {
        whole(element, from, length / size_);
      } else {
        length = std::min(size_ - skip, end - at);
        if (add(element, skip, length, from)) whole(element, whole_.data(), 1);
      }
      at += length;
      from += length;
    }
  }

 private:
  struct Part {
    std::int64_t element;
    std::array<std::byte, 8> bytes;
    unsigned have;  // a bit a byte
  };

  // Whether the element is whole now; then it is in whole_.
  bool add(std::int64_t element, std::int64_t skip, std::int64_t length, const std::byte* from) {
    auto part =
        std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.element == element; });
    if (part == parts_.end()) part = parts_.insert(parts_.end(), {element, {}, 0});
    std::memcpy(part->bytes.data() + skip, from, static_cast<std::size_t>(length));
    part->have |= ((1U << length) - 1) << skip;
    if (part->have != (1U << size_) - 1) return false;
    whole_ = part->bytes;
    *part = parts_.back();
    parts_.pop_back();
    return true;
  }

  std::int64_t size_;
  std::vector<Part> parts_;
  std::array<std::byte, 8> whole_{};
};

}  // namespace forebay
