// Walking an imap: an index is taken apart where a run jumps, and stepped where it goes on.
#include "request/convert_source.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace forebay {

GatherSource::GatherSource(const void* memory, std::span<const std::int64_t> count,
                           std::span<const std::int64_t> imap, ExternalType external, MemoryType type,
                           const void* fill, ConvertOptions options)
    : memory_(static_cast<const std::byte*>(memory)),
      converter_(external, type, fill, options),
      at_(memory_) {
  assert(count.size() == imap.size());
  for (std::size_t d = 0; d < count.size(); ++d) {
    const std::int64_t stride = imap[d] * converter_.memory_size();
    if (count[d] == 1) continue;
    if (!dims_.empty() && dims_.back().stride == stride * count[d]) {
      dims_.back() = {dims_.back().count * count[d], stride, 0};
    } else {
      dims_.push_back({count[d], stride, 0});
    }
  }
  if (dims_.empty()) dims_.push_back({1, converter_.memory_size(), 0});
}

void GatherSource::seek(std::int64_t element) {
  if (element == element_) return;
  element_ = element;
  at_ = memory_;
  for (std::size_t d = dims_.size(); d-- > 0;) {
    Dim& dim = dims_[d];
    dim.index = d == 0 ? element : element % dim.count;
    if (d > 0) element /= dim.count;
    at_ += dim.index * dim.stride;
  }
}

// Converts the next elements from where we stand, and steps past them.
void GatherSource::gather(std::byte* to, std::int64_t elements) {
  Dim& row = dims_.back();
  element_ += elements;
  while (elements > 0) {
    const std::int64_t n = std::min(elements, row.count - row.index);
    range_error_ |= converter_.convert_strided(at_, row.stride, to, static_cast<std::size_t>(n));
    to += n * converter_.external_size();
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

// A run that begins or ends inside an element: that element is converted aside, and in part copied.
void GatherSource::produce_cut(const Run& run, std::byte* to) {
  const std::int64_t size = converter_.external_size();
  const std::int64_t end = run.stream + run.length;
  for (std::int64_t at = run.stream; at < end;) {
    const std::int64_t element = at / size;
    const std::int64_t skip = at - element * size;
    std::int64_t length = (end - at) / size * size;
    seek(element);
    if (skip == 0 && length > 0) {
      gather(to, length / size);
    } else {
      std::byte whole[8];
      gather(whole, 1);
      length = std::min(size - skip, end - at);
      std::memcpy(to, whole + skip, static_cast<std::size_t>(length));
    }
    at += length;
    to += length;
  }
}

void GatherSource::produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) {
  const std::int64_t size = converter_.external_size();
  for (const Run& run : runs) {
    std::byte* to = destination + (run.file - origin);
    if (((run.stream | run.length) & (size - 1)) != 0) {
      produce_cut(run, to);
    } else {
      seek(run.stream / size);
      gather(to, run.length / size);
    }
  }
}

}  // namespace forebay
