// The loops of MemorySource: single elements first, since with pieces of one element they are the whole cost.
#include "request/memory_source.hpp"

#include <algorithm>

#include "request/byte_order.hpp"

namespace forebay {
namespace {

void copy_runs(std::span<const Run> runs, const std::byte* memory, std::byte* destination, std::int64_t origin) {
  for (const Run& run : runs) {
    const std::byte* from = memory + run.stream;
    std::byte* to = destination + (run.file - origin);
    if (run.length == 4) {
      store(to, load<std::uint32_t>(from));
    } else if (run.length == 8) {
      store(to, load<std::uint64_t>(from));
    } else {
      copy_bytes(from, to, static_cast<std::size_t>(run.length));
    }
  }
}

// A run that begins or ends inside an element: byte p of the swapped stream is byte p ^ (width - 1) of memory.
template <class Word>
void swap_partial(const Run& run, const std::byte* memory, std::byte* to) {
  constexpr std::int64_t mask = sizeof(Word) - 1;
  std::int64_t at = run.stream;
  const std::int64_t end = run.stream + run.length;
  const std::int64_t head = std::min(end, (at + mask) & ~mask);
  for (; at < head; ++at) *to++ = memory[at ^ mask];
  const std::int64_t whole = (end - at) & ~mask;
  swap_many<Word>(memory + at, to, static_cast<std::size_t>(whole) / sizeof(Word));
  to += whole;
  for (at += whole; at < end; ++at) *to++ = memory[at ^ mask];
}

template <class Word>
void swap_runs(std::span<const Run> runs, const std::byte* memory, std::byte* destination, std::int64_t origin) {
  constexpr std::int64_t width = sizeof(Word);
  for (const Run& run : runs) {
    std::byte* to = destination + (run.file - origin);
    if (((run.stream | run.length) & (width - 1)) != 0) {
      swap_partial<Word>(run, memory, to);
    } else if (run.length == width) {
      swap_one<Word>(memory + run.stream, to);
    } else if (width == 4 && run.length == 8) {
      swap_many<Word>(memory + run.stream, to, 2);
    } else {
      swap_many<Word>(memory + run.stream, to, static_cast<std::size_t>(run.length / width));
    }
  }
}

}  // namespace

void MemorySource::produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) {
  switch (swap_) {
    case Swap::none: return copy_runs(runs, memory_, destination, origin);
    case Swap::two: return swap_runs<std::uint16_t>(runs, memory_, destination, origin);
    case Swap::four: return swap_runs<std::uint32_t>(runs, memory_, destination, origin);
    case Swap::eight: return swap_runs<std::uint64_t>(runs, memory_, destination, origin);
  }
}

}  // namespace forebay
