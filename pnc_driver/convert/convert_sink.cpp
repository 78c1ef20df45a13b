// Scattering through an imap.
#include "convert/convert_sink.hpp"

namespace forebay {

void ScatterSink::scatter(std::int64_t element, const std::byte* from, std::int64_t elements) {
  walk_.seek(element);
  walk_.pass(elements, [&](std::int64_t at, std::int64_t stride, std::int64_t n) {
    range_error_ |= converter_.convert_strided(from, memory_ + at, stride, static_cast<std::size_t>(n));
    from += n * converter_.external_size();
  });
}

void ScatterSink::consume(std::span<const Run> runs, const std::byte* window, std::int64_t origin) {
  const std::int64_t size = converter_.external_size();
  for (const Run& run : runs) {
    const std::byte* from = window + (run.file - origin);
    if (((run.stream | run.length) & (size - 1)) != 0) {
      cut_.take(run, from, [&](std::int64_t element, const std::byte* bytes, std::int64_t count) {
        scatter(element, bytes, count);
      });
    } else {
      scatter(run.stream / size, from, run.length / size);
    }
  }
}

}  // namespace forebay
