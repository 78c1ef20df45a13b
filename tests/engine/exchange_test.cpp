// Marks, runs of marks, and packed messages, each against bit-by-bit references.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "exchange/dirty_map.hpp"
#include "exchange/node_window.hpp"
#include "exchange/outbox.hpp"
#include "exchange/packing.hpp"

namespace forebay {
namespace {

/// Whether the shares of all ranks are all of the memory, and no two of them have the same page.
template <class Share>
void expect_covered(int ranks, std::size_t bytes, Share&& share_of) {
  std::vector<int> owner((bytes + 4095) / 4096, -1);
  for (int r = 0; r < ranks; ++r) {
    for (const Extent& range : share_of(r)) {
      if (range.empty()) continue;
      for (std::int64_t page = range.begin / 4096; page * 4096 < range.end; ++page) {
        int& of = owner[static_cast<std::size_t>(page)];
        // Only where no page boundary parts two slots may a page be of both.
        ASSERT_TRUE(of == -1 || range.begin % 4096 != 0 || range.end % 4096 != 0) << "page " << page;
        of = r;
      }
    }
  }
  for (std::size_t page = 0; page < owner.size(); ++page) ASSERT_GE(owner[page], 0) << "page " << page;
}

TEST(Shares, OfAWindowAreAllOfIt) {
  for (const int ranks : {1, 2, 3, 7, 16, 33}) {
    for (const std::int64_t round : {4096, 5 * 4096, 1 << 20}) {
      expect_covered(ranks, NodeWindow::bytes_needed(ranks, round),
                     [&](int r) { return NodeWindow::share_of(r, ranks, round); });
    }
  }
}

TEST(Shares, OfAnOutboxAreAllOfIt) {
  for (const int ranks : {1, 2, 3, 7, 16, 33}) {
    for (const int rails : {1, 2, 4}) {
      if (rails > ranks) continue;
      WideRounds rounds;
      rounds.rails = rails;
      rounds.range = 3 * 2 * rails * (256 << 10);
      rounds.block = 256 << 10;
      rounds.cell = 64 << 10;
      rounds.slots = 2;
      rounds.listed = 100 << 10;
      expect_covered(ranks, Outbox::bytes_needed(rounds, ranks),
                     [&](int r) { return Outbox::share_of(r, r < rails ? r : -1, rounds, ranks); });
    }
  }
}

TEST(DirtyMap, MarksAndFindsWhatABitVectorHolds) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 500; ++trial) {
    constexpr std::int64_t kBits = 20000;
    const int shift = static_cast<int>(random() % 4);
    const std::int64_t origin = std::int64_t{1} << (20 + random() % 15);
    std::vector<std::uint64_t> words(kBits / 64 + 1, 0);
    std::vector<std::uint8_t> summary(words.size() / kSummaryWords + 1, 0);
    std::vector<bool> plain(kBits, false);
    std::vector<forebay::Run> runs;
    for (std::int64_t at = static_cast<std::int64_t>(random() % 100); at < kBits;) {
      const std::int64_t length = std::min<std::int64_t>(
          kBits - at, random() % 5 == 0 ? static_cast<std::int64_t>(random() % 3000) : 1);
      runs.push_back({origin + (at << shift), 0, length << shift});
      for (std::int64_t i = 0; i < length; ++i) plain[static_cast<std::size_t>(at + i)] = true;
      at += length + static_cast<std::int64_t>(random() % (random() % 4 == 0 ? 2000 : 3));
    }
    mark_runs(words.data(), summary.data(), runs, origin, shift);
    for (std::int64_t i = 0; i < kBits; ++i) {
      ASSERT_EQ((words[static_cast<std::size_t>(i / 64)] >> (i % 64) & 1) != 0,
                plain[static_cast<std::size_t>(i)]);
    }
    for (std::size_t w = 0; w < words.size(); ++w) {
      if (words[w] != 0) {
        ASSERT_EQ(summary[w / kSummaryWords], 1) << "a touched word without its summary is lost";
      }
    }
    const auto begin = static_cast<std::int64_t>(random() % kBits);
    const std::int64_t end =
        begin + static_cast<std::int64_t>(random() % static_cast<unsigned>(kBits - begin + 1));
    std::vector<bool> found(kBits, false);
    std::int64_t last_end = -1;
    for_each_bit_run(words.data(), begin, end, [&](std::int64_t at, std::int64_t bits) {
      ASSERT_GT(bits, 0);
      ASSERT_GT(at, last_end) << "runs are maximal";
      last_end = at + bits;
      for (std::int64_t i = 0; i < bits; ++i) found[static_cast<std::size_t>(at + i)] = true;
    });
    for (std::int64_t i = 0; i < kBits; ++i) {
      const auto k = static_cast<std::size_t>(i);
      ASSERT_EQ(found[k], plain[k] && i >= begin && i < end) << i;
    }
  }
}

// kind: 0 random bits, 1 regular, 2 long runs, 3 a few bits far apart
std::vector<bool> pattern(std::mt19937& random, std::int64_t bits, int kind) {
  std::vector<bool> out(static_cast<std::size_t>(bits), false);
  if (kind == 3) {
    for (std::size_t i = random() % 300; i < out.size(); i += 100 + random() % 300) out[i] = true;
  } else if (kind == 1) {
    const std::size_t step = 2 + random() % 50;
    for (std::size_t i = random() % step; i < out.size(); i += step) out[i] = true;
  } else {
    for (std::size_t i = 0; i < out.size();) {
      const std::size_t length = kind == 0 ? 1 : 200 + random() % 500;
      const bool on = random() % 2 == 0;
      for (std::size_t k = 0; k < length && i < out.size(); ++k) out[i++] = on;
    }
  }
  return out;
}

TEST(Packing, WhatIsPackedIsUnpackedAndNothingElse) {
  std::mt19937 random(11);
  std::array<int, 4> headers{};
  for (int trial = 0; trial < 500; ++trial) {
    const int shift = static_cast<int>(random() % 4);
    const std::int64_t round = 65536;
    const std::int64_t base = round * static_cast<std::int64_t>(random() % 1000000);
    const std::vector<bool> bits = pattern(random, round >> shift, static_cast<int>(random() % 4));
    std::vector<std::uint64_t> merged(static_cast<std::size_t>(round >> shift) / 64 + 1, 0);
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if (bits[i]) merged[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    std::vector<DomainPart> parts;
    for (std::int64_t at = 0; at < round;) {
      const std::int64_t next =
          std::min<std::int64_t>(round, at + 8 * (1 + static_cast<std::int64_t>(random() % 2000)));
      if (random() % 2 == 0) parts.push_back({base + at, base + next, {}});
      at = next;
    }
    std::vector<std::byte> window(static_cast<std::size_t>(round));
    for (auto& byte : window) byte = static_cast<std::byte>(random());

    const PackPlan plan = plan_message(parts, base, shift, merged.data());
    if (plan.runs == 0) continue;
    ++headers[static_cast<std::size_t>(plan.header)];
    std::vector<std::byte> message(static_cast<std::size_t>(plan.total()));
    pack_message(plan, parts, base, shift, merged.data(), window.data(), message.data());

    std::vector<std::byte> target(window.size(), std::byte{0});
    std::vector<std::uint64_t> marks(merged.size(), 0);
    ASSERT_TRUE(unpack_message(message, parts, base, shift, target.data(), marks.data()));
    std::int64_t marked = 0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const std::int64_t at = base + (static_cast<std::int64_t>(i) << shift);
      bool inside = false;
      for (const DomainPart& s : parts) inside = inside || (at >= s.begin && at < s.end);
      const bool put = bits[i] && inside;
      ASSERT_EQ((marks[i / 64] >> (i % 64) & 1) != 0, put);
      marked += put ? 1 : 0;
      for (std::size_t b = i << shift; b < (i + 1) << shift; ++b)
        ASSERT_EQ(target[b], put ? window[b] : std::byte{0});
    }
    ASSERT_EQ(marked << shift, plan.data_bytes);
    // Cut messages are noticed, not read past.
    for (const std::size_t cut : {message.size() - 1, message.size() / 2, std::size_t{5}, std::size_t{0}}) {
      EXPECT_FALSE(unpack_message({message.data(), cut}, parts, base, shift, target.data(), marks.data()));
    }
  }
  EXPECT_GT(headers[1], 10);
  EXPECT_GT(headers[2], 10);
  EXPECT_GT(headers[3], 10);
}

// Scattered 4-byte pieces: what tells where they go costs at most half of what they are, on any number of
// nodes.
TEST(Packing, HeadersOfScatteredPiecesAreSmall) {
  std::mt19937 random(17);
  for (const std::int64_t nodes : {2, 8, 32, 64, 128, 512, 1000, 4000}) {
    constexpr std::int64_t kPart = 64 << 20;
    std::vector<std::uint64_t> merged((kPart >> 2) / 64, 0);
    std::uniform_int_distribution<std::int64_t> chance(0, nodes - 1);
    for (std::size_t bit = 0; bit < kPart >> 2; ++bit) {
      if (chance(random) == 0) merged[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
    const std::vector<DomainPart> parts{{0, kPart, {}}};
    const PackPlan plan = plan_message(parts, 0, 2, merged.data());
    EXPECT_LE(plan.header_bytes, plan.data_bytes / 2) << nodes;
  }
}

// The bound that is told beforehand: never too low, and not far from what scattered pieces take.
TEST(Packing, HeadersAreAtMostWhatWasTold) {
  std::mt19937_64 random(19);
  std::int64_t taken = 0, told = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const auto length = static_cast<std::int64_t>(trial % 3 == 0 ? 1 : 1 + random() % 300);
    const std::int64_t part = 64 * (1 + static_cast<std::int64_t>(random() % 2000));
    const auto skipped = static_cast<std::int64_t>(random() % 10000);
    const auto every = static_cast<std::int64_t>(1 + random() % 1000);
    std::vector<std::uint64_t> merged(static_cast<std::size_t>((skipped + part) / 64 + 1), 0);
    // The first may begin before the part, and the last end behind it.
    for (std::int64_t at = skipped - static_cast<std::int64_t>(random() % static_cast<unsigned>(length));
         at < skipped + part;
         at += length + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * every))) {
      for (std::int64_t i = std::max(at, skipped); i < std::min(at + length, skipped + part); ++i)
        merged[static_cast<std::size_t>(i / 64)] |= std::uint64_t{1} << (i % 64);
    }
    const std::vector<DomainPart> parts{{skipped, skipped + part, {}}};
    const PackPlan plan = plan_message(parts, 0, 0, merged.data());
    const std::int64_t most = most_header_bytes(plan.runs, length, skipped + part, part);
    ASSERT_LE(plan.header_bytes, most) << trial << ": " << plan.runs << " runs of " << length;
    if (plan.header != Header::strided) taken += plan.header_bytes, told += most;
  }
  EXPECT_LT(told, 1.6 * static_cast<double>(taken));
  EXPECT_EQ(most_header_bytes(0, 1, 100, 128), 0);
}

TEST(NodeWindow, MergeCountsTheUnionOfAllRanks) {
  std::mt19937 random(13);
  constexpr std::int64_t kRound = 65536;
  constexpr int kRanks = 3;
  std::vector<std::byte> memory(NodeWindow::bytes_needed(kRanks, kRound) + 4096);
  auto* aligned = memory.data() + (4096 - reinterpret_cast<std::uintptr_t>(memory.data()) % 4096);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<bool> plain(kRound / 4, false);
    std::vector<NodeWindow> windows;
    for (int r = 0; r < kRanks; ++r) {
      windows.emplace_back(aligned, kRanks, r, kRound);
      windows.back().begin(2);
      windows.back().clear(trial % 2);
      std::vector<forebay::Run> runs;
      for (int i = 0; i < 200; ++i) {
        const std::int64_t at = static_cast<std::int64_t>(random() % (kRound / 4));
        runs.push_back({4 * at, 0, 4});
        plain[static_cast<std::size_t>(at)] = true;
      }
      windows.back().mark(trial % 2, runs, 0);
    }
    const std::int64_t begin = 4 * static_cast<std::int64_t>(random() % (kRound / 4));
    const std::int64_t end =
        begin + 4 * static_cast<std::int64_t>(random() % static_cast<unsigned>((kRound - begin) / 4 + 1));
    std::vector<std::uint64_t> merged(kRound / 4 / 64 + 1);
    std::int64_t expected = 0;
    for (std::int64_t i = begin / 4; i < end / 4; ++i) expected += plain[static_cast<std::size_t>(i)] ? 4 : 0;
    EXPECT_EQ(windows[0].merge(trial % 2, begin, end, merged.data()), expected);
    for (NodeWindow& w : windows) w.clear(trial % 2);
    EXPECT_EQ(windows[0].merge(trial % 2, 0, kRound, merged.data()), 0) << "clear forgets everything";
  }
}

}  // namespace
}  // namespace forebay
