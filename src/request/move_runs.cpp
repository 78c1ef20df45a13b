// The loops that move runs between a stream in memory and the file's bytes in a window: single elements
// first, since with pieces of one element they are the whole cost.
#include "request/move_runs.hpp"

#include <algorithm>
#include <utility>

#include "request/byte_order.hpp"
#include "request/work.hpp"

namespace forebay {
namespace {

enum class Way { to_file, to_memory };

template <Way way>
std::pair<const std::byte*, std::byte*> ends(const Run& run, std::byte* memory, std::byte* window,
                                             std::int64_t origin) {
  std::byte* const stream = memory + run.stream;
  std::byte* const file = window + (run.file - origin);
  if constexpr (way == Way::to_file) {
    return {stream, file};
  } else {
    return {file, stream};
  }
}

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
template <class Word, Way way>
void swap_partial(const Run& run, std::byte* memory, std::byte* file) {
  constexpr std::int64_t mask = sizeof(Word) - 1;
  std::int64_t at = run.stream;
  const std::int64_t end = run.stream + run.length;
  const auto bytes_until = [&](std::int64_t stop) {
    for (; at < stop; ++at, ++file) {
      if constexpr (way == Way::to_file) {
        *file = memory[at ^ mask];
      } else {
        memory[at ^ mask] = *file;
      }
    }
  };
  bytes_until(std::min(end, (at + mask) & ~mask));
  const std::int64_t whole = (end - at) & ~mask;
  const auto words = static_cast<std::size_t>(whole) / sizeof(Word);
  if constexpr (way == Way::to_file) {
    swap_many<Word>(memory + at, file, words);
  } else {
    swap_many<Word>(file, memory + at, words);
  }
  file += whole;
  at += whole;
  bytes_until(end);
}

// `single`: all runs of the batch are one word long, and begin at one.
template <class Word, bool swap, Way way>
void move_words(std::span<const Run> runs, bool single, std::byte* memory, std::byte* window,
                std::int64_t origin) {
  constexpr std::int64_t width = sizeof(Word);
  if (single) {
    for (const Run& run : runs) {
      const auto [from, to] = ends<way>(run, memory, window, origin);
      if constexpr (swap) {
        swap_one<Word>(from, to);
      } else {
        store(to, load<Word>(from));
      }
    }
    return;
  }
  for (const Run& run : runs) {
    const auto [from, to] = ends<way>(run, memory, window, origin);
    if (swap && ((run.stream | run.length) & (width - 1)) != 0) {
      swap_partial<Word, way>(run, memory, window + (run.file - origin));
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

template <class Word, Way way>
void swap_runs(std::span<const Run> runs, const Common& common, std::byte* memory, std::byte* window,
               std::int64_t origin) {
  constexpr std::int64_t width = sizeof(Word);
  const bool single = common.all_of(width) && (common.streams_or & (width - 1)) == 0;
  move_words<Word, true, way>(runs, single, memory, window, origin);
}

template <Way way>
void copy_runs(std::span<const Run> runs, const Common& common, std::byte* memory, std::byte* window,
               std::int64_t origin) {
  if ((common.lengths_or & 7) == 0) {
    move_words<std::uint64_t, false, way>(runs, common.all_of(8), memory, window, origin);
  } else if ((common.lengths_or & 3) == 0) {
    move_words<std::uint32_t, false, way>(runs, common.all_of(4), memory, window, origin);
  } else {
    for (const Run& run : runs) {
      const auto [from, to] = ends<way>(run, memory, window, origin);
      copy_bytes(from, to, static_cast<std::size_t>(run.length));
    }
  }
}

template <Way way>
void move(std::span<const Run> runs, Swap swap, std::byte* memory, std::byte* window, std::int64_t origin) {
  const Common common(runs);
  switch (swap) {
    case Swap::none:
      return copy_runs<way>(runs, common, memory, window, origin);
    case Swap::two:
      return swap_runs<std::uint16_t, way>(runs, common, memory, window, origin);
    case Swap::four:
      return swap_runs<std::uint32_t, way>(runs, common, memory, window, origin);
    case Swap::eight:
      return swap_runs<std::uint64_t, way>(runs, common, memory, window, origin);
  }
}

}  // namespace

void scatter_runs(std::span<const Run> runs, Swap swap, const std::byte* memory, std::byte* window,
                  std::int64_t origin) {
  move<Way::to_file>(runs, swap, const_cast<std::byte*>(memory), window, origin);
  copied(runs);
}

void pick_runs(std::span<const Run> runs, Swap swap, const std::byte* window, std::int64_t origin,
               std::byte* memory) {
  move<Way::to_memory>(runs, swap, memory, const_cast<std::byte*>(window), origin);
  copied(runs);
}

}  // namespace forebay
