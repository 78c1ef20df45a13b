// Copies and swaps against a byte-by-byte produce.
#include "request/memory_stream.hpp"

#include <array>

#include "reference.hpp"

namespace forebay::test {
namespace {

// What a stream of swapped elements holds at byte `at`.
std::byte swapped_byte(const std::vector<std::byte>& memory, std::int64_t at, std::int64_t width) {
  const std::int64_t element = at / width;
  return memory[static_cast<std::size_t>(element * width + (width - 1 - at % width))];
}

TEST(MemorySource, ProducesAnyRunsByteForByte) {
  Random random(test_seed());
  for (int repeat = 0; repeat < cases(4000) && !HasFatalFailure(); ++repeat) {
    const Swap swap =
        std::array{Swap::none, Swap::two, Swap::four, Swap::eight}[static_cast<std::size_t>(random(0, 3))];
    const std::int64_t width = static_cast<std::int64_t>(swap);
    const std::int64_t elements = random(1, 60);
    const std::int64_t misaligned = random(0, 7);  // user memory need not be aligned
    std::vector<std::byte> memory(static_cast<std::size_t>(elements * width));
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random(0, 255));
    std::vector<std::byte> placed(memory.size() + 8);
    std::copy(memory.begin(), memory.end(), placed.begin() + misaligned);

    const std::int64_t origin = random.one_in(3) ? std::int64_t{7} << 40 : random(0, 100);
    std::vector<std::byte> got(700, std::byte{0xEE}), want = got;
    Runs runs;
    for (std::int64_t i = random(0, 20); i > 0; --i) {
      std::int64_t stream = random(0, elements * width - 1);
      std::int64_t length = random(1, elements * width - stream);
      if (!random.one_in(3)) {  // whole elements, often single ones
        stream = stream / width * width;
        length = random.one_in(2) ? width : std::max(width, length / width * width);
      }
      const std::int64_t file = origin + random(0, 700 - length);
      runs.push_back({file, stream, length});
      for (std::int64_t b = 0; b < length; ++b) {
        want[static_cast<std::size_t>(file - origin + b)] = swapped_byte(memory, stream + b, width);
      }
    }
    MemorySource source(placed.data() + misaligned, swap);
    source.produce(runs, got.data(), origin);
    ASSERT_EQ(got, want) << "width " << width;
    EXPECT_EQ(source.direct(), swap == Swap::none ? placed.data() + misaligned : nullptr);
  }
}

}  // namespace
}  // namespace forebay::test
