// The outbox where memory lacks: a rank that cannot list its bytes leaves none that it did not put, and what
// others wait for takes none.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "exchange/outbox.hpp"
#include "exchange/packing.hpp"
#include "request/memory_stream.hpp"

namespace {
std::atomic<long> allocations{0};
}

// Out of line, or the compiler takes what is freed here for new's.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const at = std::malloc(bytes)) return at;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* at) noexcept {
  std::free(at);
}
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept {
  std::free(at);
}

namespace forebay {
namespace {

constexpr WideRounds kRounds{1, 65536, 65536, 1, 65536, 65536};

struct Memory {
  Memory()
      : bytes(Outbox::bytes_needed(kRounds, 1)), at(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)) {
    std::memset(at, 0, bytes);
  }
  Memory(const Memory&) = delete;
  ~Memory() { std::free(at); }
  std::size_t bytes;
  void* at;
};

/// Has no memory from a place of its stream on.
class LackingSource final : public Source {
 public:
  LackingSource(const std::byte* stream, std::int64_t until) : below_(stream), until_(until) {}
  void produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) override {
    if (runs.back().stream >= until_) throw std::bad_alloc();
    below_.produce(runs, destination, origin);
  }

 private:
  MemorySource below_;
  std::int64_t until_;
};

std::vector<Run> runs_of_four(int count) {
  std::vector<Run> runs;
  for (std::int64_t i = 0; i < count; ++i) runs.push_back({8 * i, 4 * i, 4});
  return runs;
}

TEST(Outbox, ListsNothingOfWhatASourceCouldNotProduce) {
  const Memory memory;
  Outbox outbox(memory.at, kRounds, 1, 0);
  const std::vector<forebay::Run> runs = runs_of_four(2000);
  const std::vector<std::byte> data(8000, std::byte{7});
  // The second batch lacks: what the first one listed goes on, the rest is as it was.
  LackingSource source(data.data(), 2100);
  EXPECT_THROW((void)outbox.list(0, 0, runs, &source), std::bad_alloc);
  outbox.begin_merging();
  const Outbox::Merged merged = outbox.merge(0, 1, 2);
  EXPECT_EQ(merged.bytes, 512 * 4);
  std::vector<std::byte> image(65536);
  std::vector<std::uint64_t> marks(65536 / 64);
  ASSERT_TRUE(outbox.unpack(outbox.message(0), {image.data(), marks.data()}, 0, 2));
  for (std::int64_t i = 0; i < 2000; ++i)
    EXPECT_EQ(image[static_cast<std::size_t>(8 * i)], i < 512 ? std::byte{7} : std::byte{0}) << i;
  // Also where it would have made the run before longer.
  outbox.drop_all();
  LackingSource none(data.data(), 4);
  const std::vector<forebay::Run> one{{100, 0, 4}}, next{{104, 4, 4}};
  EXPECT_EQ(outbox.list(0, 0, one, &none), 1U);
  EXPECT_THROW((void)outbox.list(0, 0, next, &none), std::bad_alloc);
  outbox.begin_merging();
  EXPECT_EQ(outbox.merge(0, 1, 2).bytes, 4);
}

TEST(Outbox, SharesOutWithoutMemory) {
  const Memory memory;
  Outbox outbox(memory.at, kRounds, 1, 0);
  const std::vector<forebay::Run> runs = runs_of_four(100);
  ASSERT_EQ(outbox.list(0, 0, runs, nullptr), runs.size());
  outbox.begin_merging();
  outbox.merge_requests(0, 1, 2);
  const auto answer = outbox.place_answer(0, 400);
  std::memset(answer.data(), 9, answer.size());
  outbox.begin_sharing();
  const long before = allocations;
  const bool well = outbox.share_out(0, 1, 2);
  const long after = allocations;
  EXPECT_TRUE(well);
  EXPECT_EQ(after, before);
  const auto listed = outbox.listed_bytes(1);
  ASSERT_EQ(listed.size(), 400U);
  EXPECT_EQ(listed[399], std::byte{9});
}

}  // namespace
}  // namespace forebay
