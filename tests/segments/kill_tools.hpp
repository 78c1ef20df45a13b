// What tests of killed ranks have in common: ranks put elements that overlap what they put before, and each
// element is found as one of the values that it may have.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "../dice.hpp"
#include "../engine/run_list_cursor.hpp"
#include "segments/node_segments.hpp"

namespace forebay::test {

constexpr int kRanks = 3;
constexpr int kCalls = 150;
constexpr std::int64_t kElements = 1500;
constexpr std::int64_t kFirst = 3;  // the byte at which the first element lies: edges cut some
constexpr std::int64_t kSegment = 448;

struct Element {
  std::int64_t number;
  std::uint64_t value;
};

/// What a rank puts in its call, the same whoever asks: elements whose number is its own modulo the ranks.
inline std::vector<Element> elements_of(std::uint64_t seed, int rank, int call) {
  ::test::Dice dice((seed * kRanks + static_cast<unsigned>(rank)) * kCalls + static_cast<unsigned>(call));
  std::vector<Element> elements;
  const std::int64_t begin = dice.below(kElements), end = std::min(kElements, begin + dice.between(1, 300));
  for (std::int64_t e = begin; e < end; ++e) {
    if (e % kRanks == rank) elements.push_back({e, dice.next()});
  }
  return elements;
}

/// Copies each element in two steps, with time between for a kill.
class SlowSource final : public Source {
 public:
  explicit SlowSource(const std::uint64_t* values) : memory_(reinterpret_cast<const std::byte*>(values)) {}
  void produce(std::span<const forebay::Run> runs, std::byte* destination, std::int64_t origin) override {
    for (const forebay::Run& run : runs) {
      const auto length = static_cast<std::size_t>(run.length);
      std::byte* const to = destination + (run.file - origin);
      std::memcpy(to, memory_ + run.stream, length / 2);
      if (run.stream / 8 % 32 == 0) ::usleep(1);
      std::memcpy(to + length / 2, memory_ + run.stream + length / 2, length - length / 2);
    }
  }

 private:
  const std::byte* memory_;
};

/// In memory that all processes share.
struct Progress {
  std::array<std::atomic<int>, kRanks> begun, done;
};

/// A rank's part; returns when all calls were made.
inline void put_elements(NodeSegments& segments, std::uint64_t seed, int rank, Progress& progress) {
  for (int call = 0; call < kCalls; ++call) {
    const auto r = static_cast<std::size_t>(rank);
    progress.begun[r] = call + 1;
    const std::vector<Element> elements = elements_of(seed, rank, call);
    std::vector<forebay::Run> runs;
    std::vector<std::uint64_t> values;
    for (const Element& e : elements) {
      runs.push_back({kFirst + 8 * e.number, static_cast<std::int64_t>(8 * values.size()), 8});
      values.push_back(e.value);
    }
    RunListCursor cursor(runs);
    SlowSource source(values.data());
    if (!segments.put({&cursor, &source}).ok()) ::_exit(1);
    progress.done[r] = call + 1;
    if (call % 16 == 7 && !segments.drain_share().ok()) ::_exit(1);
  }
}

inline void check_elements(Storage& storage, std::uint64_t seed, const Progress& progress) {
  std::vector<std::vector<std::uint64_t>> allowed(static_cast<std::size_t>(kElements), {0});
  for (std::size_t r = 0; r < kRanks; ++r) {
    const int begun = progress.begun[r], done = progress.done[r];
    for (int call = 0; call < begun; ++call) {
      for (const Element& e : elements_of(seed, static_cast<int>(r), call)) {
        auto& values = allowed[static_cast<std::size_t>(e.number)];
        if (call < done) values.clear();
        values.push_back(e.value);
      }
    }
  }
  for (std::int64_t e = 0; e < kElements; ++e) {
    std::uint64_t found = 0;
    ASSERT_TRUE(storage.read(kFirst + 8 * e, reinterpret_cast<std::byte*>(&found), 8).ok());
    // Of an element that an edge cuts and that was being put, each part counts by itself: the first one is
    // not waited with where the second has to wait for a segment.
    const auto& values = allowed[static_cast<std::size_t>(e)];
    const std::int64_t edge = std::min<std::int64_t>(8, kSegment - (kFirst + 8 * e) % kSegment);
    const std::uint64_t first =
        edge == 8 || values.size() == 1 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * edge) - 1;
    for (const std::uint64_t part : {first, ~first})
      ASSERT_TRUE(std::any_of(values.begin(), values.end(),
                              [&](std::uint64_t v) { return ((v ^ found) & part) == 0; }))
          << "element " << e;
  }
}

}  // namespace forebay::test
