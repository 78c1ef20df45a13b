// Where an imap puts the elements of a box: taken apart where a run jumps, and stepped where it goes on.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay {

/// Element (i0, i1, …) of a box of `count`, in row-major order, lies sum(i * imap) elements from the
/// beginning of memory, as netCDF's varm has it.
class ImapWalk {
 public:
  ImapWalk(std::span<const std::int64_t> count, std::span<const std::int64_t> imap,
           std::int64_t element_bytes) {
    assert(count.size() == imap.size());
    for (std::size_t d = 0; d < count.size(); ++d) {
      const std::int64_t stride = imap[d] * element_bytes;
      if (count[d] == 1) continue;
      if (!dims_.empty() && dims_.back().stride == stride * count[d]) {
        dims_.back() = {dims_.back().count * count[d], stride, 0};
      } else {
        dims_.push_back({count[d], stride, 0});
      }
    }
    if (dims_.empty()) dims_.push_back({1, element_bytes, 0});
  }

  /// Goes to an element by its number in the box.
  void seek(std::int64_t element) {
    if (element == element_) return;
    element_ = element;
    at_ = 0;
    for (std::size_t d = dims_.size(); d-- > 0;) {
      Dim& dim = dims_[d];
      dim.index = d == 0 ? element : element % dim.count;
      if (d > 0) element /= dim.count;
      at_ += dim.index * dim.stride;
    }
  }

  /// Passes the next elements: calls f(at, stride, n) for each n that lie `stride` bytes apart, the first at
  /// byte `at` of memory.
  template <class F>
  void pass(std::int64_t elements, F&& f) {
    Dim& row = dims_.back();
    element_ += elements;
    while (elements > 0) {
      const std::int64_t n = std::min(elements, row.count - row.index);
      f(at_, row.stride, n);
      elements -= n;
      row.index += n;
      at_ += n * row.stride;
      for (std::size_t d = dims_.size() - 1; d > 0 && dims_[d].index == dims_[d].count; --d) {
        at_ += dims_[d - 1].stride - dims_[d].count * dims_[d].stride;
        dims_[d].index = 0;
        ++dims_[d - 1].index;
      }
    }
  }

 private:
  struct Dim {
    std::int64_t count;
    std::int64_t stride;  // bytes of memory
    std::int64_t index;
  };
  std::vector<Dim> dims_;     // slowest first, merged; at least one
  std::int64_t element_ = 0;  // where index and at_ stand
  std::int64_t at_ = 0;
};

}  // namespace forebay
