// The loops of MemorySource: single elements first, since with pieces of one element they are the whole cost.
#include "request/memory_source.hpp"

#include <algorithm>

#include "request/byte_order.hpp"

namespace forebay {
namespace {

// Moves a run of 1 to 4 whole words without a branch on how many: words 1 and 2 move again what word 3, the
// last, moves where the run is shorter. Piece lengths of real decompositions are small and unpredictable.
template <class Word, bool swap>
inline void move_few(const std::byte* from, std::byte* to, std::int64_t length) {
  constexpr std::int64_t width = sizeof(Word);
  const std::int64_t last = length - width;
  const std::int64_t at[] = {0, std::min(width, last), std::min(2 * width, last), last};
  for (const std::int64_t offset : at) {
    if constexpr (swap) {
      swap_one<Word>(from + offset, to + offset);
    } else {
      store(to + offset, load<Word>(from + offset));
    }
  }
}

// A run that begins or ends inside an element: byte p of the swapped stream is byte p ^ (width - 1) of
// memory.
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

// `single`: all runs of the batch are one word long, and begin at one.
template <class Word, bool swap>
void move_runs(std::span<const Run> runs, bool single, const std::byte* memory, std::byte* destination,
               std::int64_t origin) {
  constexpr std::int64_t width = sizeof(Word);
  if (single) {
    for (const Run& run : runs) {
      const std::byte* from = memory + run.stream;
      std::byte* to = destination + (run.file - origin);
      if constexpr (swap) {
        swap_one<Word>(from, to);
      } else {
        store(to, load<Word>(from));
      }
    }
    return;
  }
  for (const Run& run : runs) {
    const std::byte* from = memory + run.stream;
    std::byte* to = destination + (run.file - origin);
    if (swap && ((run.stream | run.length) & (width - 1)) != 0) {
      swap_partial<Word>(run, memory, to);
    } else if (run.length <= 4 * width) {
      move_few<Word, swap>(from, to, run.length);
    } else if constexpr (swap) {
      swap_many<Word>(from, to, static_cast<std::size_t>(run.length / width));
    } else {
      std::memcpy(to, from, static_cast<std::size_t>(run.length));
    }
  }
}

// What the lengths and stream positions of a batch have in common.
struct Common {
  std::int64_t lengths_or = 0;
  std::int64_t lengths_and = -1;
  std::int64_t streams_or = 0;
  explicit Common(std::span<const Run> runs) {
    for (const Run& run : runs) {
      lengths_or |= run.length;
      lengths_and &= run.length;
      streams_or |= run.stream;
    }
  }
  bool all_of(std::int64_t length) const { return lengths_or == length && lengths_and == length; }
};

template <class Word>
void swap_runs(std::span<const Run> runs, const Common& common, const std::byte* memory,
               std::byte* destination, std::int64_t origin) {
  constexpr std::int64_t width = sizeof(Word);
  const bool single = common.all_of(width) && (common.streams_or & (width - 1)) == 0;
  move_runs<Word, true>(runs, single, memory, destination, origin);
}

void copy_runs(std::span<const Run> runs, const Common& common, const std::byte* memory,
               std::byte* destination, std::int64_t origin) {
  if ((common.lengths_or & 7) == 0) {
    move_runs<std::uint64_t, false>(runs, common.all_of(8), memory, destination, origin);
  } else if ((common.lengths_or & 3) == 0) {
    move_runs<std::uint32_t, false>(runs, common.all_of(4), memory, destination, origin);
  } else {
    for (const Run& run : runs) {
      copy_bytes(memory + run.stream, destination + (run.file - origin),
                 static_cast<std::size_t>(run.length));
    }
  }
}

}  // namespace

void MemorySource::produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) {
  const Common common(runs);
  switch (swap_) {
    case Swap::none:
      return copy_runs(runs, common, memory_, destination, origin);
    case Swap::two:
      return swap_runs<std::uint16_t>(runs, common, memory_, destination, origin);
    case Swap::four:
      return swap_runs<std::uint32_t>(runs, common, memory_, destination, origin);
    case Swap::eight:
      return swap_runs<std::uint64_t>(runs, common, memory_, destination, origin);
  }
}

}  // namespace forebay
