// Visiting requests by round against asking every one of them.
#include "request/active_set.hpp"

#include <array>
#include <memory>

#include "reference.hpp"
#include "request/strided.hpp"

namespace forebay::test {
namespace {

// Two-dimensional selections: hulls that nest, touch and overlap in every way.
std::vector<std::unique_ptr<StridedCursor>> random_cursors(Random& random, std::int64_t count,
                                                           std::int64_t span) {
  std::vector<std::unique_ptr<StridedCursor>> cursors;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t stride = random(8, 1 + span / 4);
    const StridedDim dims[] = {{stride, random(random.one_in(10) ? 0 : 1, 4)}, {3, random(1, 2)}};
    cursors.push_back(std::make_unique<StridedCursor>(random(0, span), 0, random(1, 2), dims));
  }
  return cursors;
}

TEST(ActiveSet, VisitsExactlyThoseBelowTheLimitInProgramOrder) {
  Random random(test_seed());
  for (int repeat = 0; repeat < cases(400) && !HasFatalFailure(); ++repeat) {
    const std::int64_t count = random.one_in(4) ? random(0, 3) : random(0, 600);
    const std::int64_t span = random(50, 5000);
    const auto cursors = random_cursors(random, count, span);
    const auto naive = [&] {
      std::vector<std::unique_ptr<StridedCursor>> copy;
      for (const auto& cursor : cursors) copy.push_back(std::make_unique<StridedCursor>(*cursor));
      return copy;
    }();
    std::vector<Put> puts;
    for (const auto& cursor : cursors) puts.push_back({cursor.get(), nullptr});
    ActiveSet active(puts);
    for (int again = 0; again < 2; ++again) {
      const std::int64_t round_bytes = random(1, span);
      active.start(round_bytes);
      for (const auto& cursor : naive) cursor->start(round_bytes);
      std::int64_t limit = 0;
      while (true) {
        std::int64_t least = kNoOffset;
        for (const auto& cursor : naive) least = std::min(least, cursor->peek());
        ASSERT_EQ(active.next(), least);
        if (least == kNoOffset) break;
        if (again == 0 && random.one_in(100)) break;  // and start in the middle
        limit = (least / round_bytes + random(0, 2)) * round_bytes;
        std::vector<Cursor*> visited, expected;
        Runs out(2);
        // Not everybody takes all of it at once.
        const bool all = random.one_in(2);
        for (std::size_t i = 0; i < naive.size(); ++i) {
          if (naive[i]->peek() >= limit) continue;
          expected.push_back(cursors[i].get());
          while (naive[i]->take(limit, out) != 0 && all) {
          }
        }
        active.visit(limit, [&](Put& put) {
          visited.push_back(put.cursor);
          while (put.cursor->take(limit, out) != 0 && all) {
          }
        });
        ASSERT_EQ(visited, expected);
      }
    }
  }
}

// Counts what it is asked, to see that requests out of reach are left alone.
class Watched final : public Cursor {
 public:
  explicit Watched(std::int64_t at) : at_(at) {}
  Extent hull() const override { return {at_, at_ + 1}; }
  std::int64_t alignment() const override { return 1; }
  void start(std::int64_t) override { ++calls, taken_ = false; }
  std::int64_t peek() override { return ++calls, taken_ ? kNoOffset : at_; }
  std::size_t take(std::int64_t limit, std::span<Run> out) override {
    ++calls;
    if (taken_ || at_ >= limit) return 0;
    taken_ = true;
    out[0] = {at_, 0, 1};
    return 1;
  }
  static inline std::int64_t calls = 0;

 private:
  std::int64_t at_;
  bool taken_ = false;
};

TEST(ActiveSet, AHundredThousandRequestsCostWhatTheyMove) {
  constexpr std::int64_t count = 100000;
  Random random(test_seed() + 1);
  std::vector<std::unique_ptr<Watched>> cursors;
  std::vector<Put> puts;
  for (std::int64_t i = 0; i < count; ++i) {
    cursors.push_back(std::make_unique<Watched>(random(0, 700 * 1000 - 1)));
    puts.push_back({cursors.back().get(), nullptr});
  }
  ActiveSet active(puts);
  Watched::calls = 0;
  active.start(1000);
  EXPECT_EQ(Watched::calls, 0);
  std::int64_t visited = 0;
  for (std::int64_t round = 1; round <= 700; ++round) {
    active.visit(round * 1000, [&](Put& put) {
      std::array<forebay::Run, 4> out;
      visited += static_cast<std::int64_t>(put.cursor->take(round * 1000, out));
    });
  }
  EXPECT_EQ(visited, count);
  EXPECT_EQ(active.next(), kNoOffset);
  EXPECT_LE(Watched::calls, 5 * count);  // not 700 a request
}

}  // namespace
}  // namespace forebay::test
