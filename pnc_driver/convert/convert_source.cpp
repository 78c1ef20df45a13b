// Gathering through an imap.
#include "convert/convert_source.hpp"

#include <algorithm>
#include <cstring>

namespace forebay {

// Converts the next elements from where the walk stands.
void GatherSource::gather(std::byte* to, std::int64_t elements) {
  walk_.pass(elements, [&](std::int64_t at, std::int64_t stride, std::int64_t n) {
    range_error_ |= converter_.convert_strided(memory_ + at, stride, to, static_cast<std::size_t>(n));
    to += n * converter_.external_size();
  });
}

// A run that begins or ends inside an element: that element is converted aside, and in part copied.
void GatherSource::produce_cut(const Run& run, std::byte* to) {
  const std::int64_t size = converter_.external_size();
  const std::int64_t end = run.stream + run.length;
  for (std::int64_t at = run.stream; at < end;) {
    const std::int64_t element = at / size;
    const std::int64_t skip = at - element * size;
    std::int64_t length = (end - at) / size * size;
    walk_.seek(element);
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
      walk_.seek(run.stream / size);
      gather(to, run.length / size);
    }
  }
}

}  // namespace forebay
