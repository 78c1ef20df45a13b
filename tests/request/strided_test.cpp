// Regular selections against loops over single elements.
#include "request/strided.hpp"

#include "reference.hpp"

namespace forebay::test {
namespace {

using Index = std::vector<std::int64_t>;

// Calls f(index) for each element of a box, the last dimension fastest.
template <class F>
void for_each_index(const Index& count, F f) {
  for (std::int64_t n : count) {
    if (n == 0) return;
  }
  Index at(count.size(), 0);
  while (true) {
    f(at);
    std::size_t d = count.size();
    while (d > 0 && ++at[d - 1] == count[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

void add_element(Moves& moves, std::int64_t file, std::int64_t element_bytes) {
  for (std::int64_t b = 0; b < element_bytes; ++b)
    moves.push_back({file + b, static_cast<std::int64_t>(moves.size())});
}

Walk random_walk(Random& random, const Cursor& cursor) {
  Walk walk;
  const std::int64_t size = std::max<std::int64_t>(1, cursor.hull().size());
  walk.round_bytes = random.one_in(3) ? random(1, 64) : random(1, 2 * size);
  walk.round_bytes = std::max(walk.round_bytes, size / 200 + 1);
  walk.max_batch = random.one_in(2) ? 3 : 40;
  walk.skip_rounds = random.one_in(2);
  return walk;
}

// HDF5's regular hyperslab: `count` blocks of `block` elements, their beginnings `stride` elements apart, in
// each dimension of a row-major array. The stream follows the array's rows, and so it meets block after block
// of a row before the next row of a block: the loops are (count, block) of each dimension in turn.
StridedCursor hyperslab(std::int64_t base, std::int64_t element_bytes, const Index& shape, const Index& start,
                        const Index& stride, const Index& count, const Index& block) {
  std::vector<StridedDim> dims(2 * shape.size());
  std::int64_t pitch = element_bytes;
  for (std::size_t d = shape.size(); d-- > 0;) {
    dims[2 * d] = {pitch * stride[d], count[d]};
    dims[2 * d + 1] = {pitch, block[d]};
    base += start[d] * pitch;
    pitch *= shape[d];
  }
  return StridedCursor(base, 0, element_bytes, dims);
}

TEST(Strided, SubarraysLikeElementLoops) {
  Random random(test_seed());
  std::size_t total = 0;
  for (int repeat = 0; repeat < cases(3000) && !HasFatalFailure(); ++repeat) {
    const std::size_t ndims = static_cast<std::size_t>(random(0, 4));
    const bool strided = random.one_in(2);
    const bool record = ndims > 0 && random.one_in(2);
    Index shape, start, count, stride;
    for (std::size_t d = 0; d < ndims; ++d) {
      shape.push_back(random(1, ndims > 2 ? 8 : 30));
      stride.push_back(strided ? random(1, 3) : 1);
      start.push_back(random.one_in(2) ? 0 : random(0, shape[d] - 1));
      const std::int64_t most = (shape[d] - start[d] - 1) / stride[d] + 1;
      count.push_back(random.one_in(3) ? most : random(random.one_in(20) ? 0 : 1, most));
      if (random.one_in(4)) start[d] = 0, count[d] = stride[d] == 1 ? shape[d] : count[d] ? 1 : 0;
    }
    const std::int64_t element = std::int64_t{1} << random(0, 3);
    std::int64_t base = random(0, 1000);
    if (random.one_in(5)) base += std::int64_t{5} << 32;
    Index pitch(ndims, element);
    for (std::size_t d = ndims; d-- > 1;) pitch[d - 1] = pitch[d] * shape[d];
    std::int64_t record_stride = 0;
    if (record) {
      record_stride = pitch[0] + (random.one_in(3) ? 0 : random(1, 500));
      if (random.one_in(10)) record_stride += std::int64_t{3} << 30;
      pitch[0] = record_stride;
      shape[0] = 0;  // must not matter
    }
    Moves moves;
    for_each_index(count, [&](const Index& at) {
      std::int64_t file = base;
      for (std::size_t d = 0; d < ndims; ++d) file += (start[d] + at[d] * stride[d]) * pitch[d];
      add_element(moves, file, element);
    });
    StridedCursor cursor = StridedCursor::subarray(base, element, shape, start, count,
                                                   strided ? stride : Index{}, record_stride);
    total += moves.size();
    EXPECT_EQ(cursor.bytes(), static_cast<std::int64_t>(moves.size()));
    if (!moves.empty()) {
      EXPECT_EQ(cursor.hull().begin, moves.front().file);
      EXPECT_EQ(cursor.hull().end, moves.back().file + 1);
    }
    check_cursor(cursor, moves, random_walk(random, cursor), random);
    check_cursor(cursor, moves, random_walk(random, cursor), random);  // start() begins again
  }
  EXPECT_GT(total, static_cast<std::size_t>(cases(100000)));  // the cases are not mostly empty
}

TEST(Strided, HyperslabsLikeElementLoops) {
  Random random(test_seed() + 1);
  for (int repeat = 0; repeat < cases(1200) && !HasFatalFailure(); ++repeat) {
    const std::size_t ndims = static_cast<std::size_t>(random(1, 3));
    Index shape, start, stride, count, block;
    for (std::size_t d = 0; d < ndims; ++d) {
      block.push_back(random(1, 4));
      stride.push_back(block[d] + (random.one_in(3) ? 0 : random(0, 3)));
      count.push_back(random(1, 4));
      start.push_back(random(0, 3));
      shape.push_back(start[d] + (count[d] - 1) * stride[d] + block[d] + random(0, 3));
      if (random.one_in(4)) start[d] = 0, count[d] = 1, block[d] = stride[d] = shape[d];
    }
    const std::int64_t element = random(1, 9);
    const std::int64_t base = random(0, 100);
    Index box(ndims);
    for (std::size_t d = 0; d < ndims; ++d) box[d] = count[d] * block[d];
    Moves moves;
    for_each_index(box, [&](const Index& at) {
      std::int64_t linear = 0;
      for (std::size_t d = 0; d < ndims; ++d) {
        linear = linear * shape[d] + start[d] + at[d] / block[d] * stride[d] + at[d] % block[d];
      }
      add_element(moves, base + linear * element, element);
    });
    StridedCursor cursor = hyperslab(base, element, shape, start, stride, count, block);
    check_cursor(cursor, moves, random_walk(random, cursor), random);
  }
}

TEST(Strided, AStreamStrideOfItsOwn) {
  Random random(test_seed() + 2);
  for (int repeat = 0; repeat < cases(500) && !HasFatalFailure(); ++repeat) {
    // A transposed or padded stream: any stream stride goes.
    const StridedDim dims[] = {{random(200, 300), random(1, 4), random(-50, 50)},
                               {random(20, 40), random(1, 5), random(-50, 50)},
                               {4, random(1, 5), random.one_in(2) ? kCompactStream : random(-9, 9)}};
    Moves moves;
    for (std::int64_t i = 0; i < dims[0].count; ++i) {
      for (std::int64_t j = 0; j < dims[1].count; ++j) {
        for (std::int64_t k = 0; k < dims[2].count; ++k) {
          const std::int64_t inner = dims[2].stream_stride == kCompactStream ? 4 : dims[2].stream_stride;
          for (std::int64_t b = 0; b < 4; ++b) {
            moves.push_back({17 + i * dims[0].file_stride + j * dims[1].file_stride + k * 4 + b,
                             1000 + i * dims[0].stream_stride + j * dims[1].stream_stride + k * inner + b});
          }
        }
      }
    }
    StridedCursor cursor(17, 1000, 4, dims);
    check_cursor(cursor, moves, random_walk(random, cursor), random);
  }
}

// How many runs it has, of which no limit cuts any.
std::int64_t pieces(StridedCursor cursor) {
  Runs out(100);
  return static_cast<std::int64_t>(cursor.take(kNoOffset, out));
}

TEST(Strided, MergesWhatIsContiguous) {
  const Index shape{4, 6, 8};
  const StridedCursor all = StridedCursor::subarray(100, 4, shape, Index{0, 0, 0}, shape);
  EXPECT_EQ(pieces(all), 1);
  EXPECT_EQ(all.bytes(), 4 * 6 * 8 * 4);
  EXPECT_EQ(pieces(StridedCursor::subarray(0, 4, shape, Index{1, 2, 0}, Index{2, 3, 8})), 2);
  EXPECT_EQ(pieces(StridedCursor::subarray(0, 4, shape, Index{1, 0, 3}, Index{2, 6, 1})), 12);
  EXPECT_EQ(pieces(hyperslab(0, 4, shape, Index{0, 0, 0}, Index{4, 3, 8}, Index{1, 2, 1}, Index{4, 3, 8})),
            1);
  // A record variable alone in its file is one run, two of them are one run a record.
  EXPECT_EQ(pieces(StridedCursor::subarray(0, 4, Index{0, 10}, Index{0, 0}, Index{5, 10}, {}, 40)), 1);
  EXPECT_EQ(pieces(StridedCursor::subarray(0, 4, Index{0, 10}, Index{0, 0}, Index{5, 10}, {}, 80)), 5);
}

TEST(Strided, Alignment) {
  const Index shape{16, 1024};
  EXPECT_EQ(StridedCursor::subarray(4096, 4, shape, Index{0, 0}, Index{16, 1024}).alignment(), 4096);
  EXPECT_EQ(StridedCursor::subarray(4096, 4, shape, Index{1, 2}, Index{3, 6}).alignment(), 8);
  EXPECT_EQ(StridedCursor::subarray(4098, 4, shape, Index{0, 0}, Index{16, 1024}).alignment(), 2);
  EXPECT_EQ(StridedCursor::subarray(3, 1, shape, Index{0, 0}, Index{1, 2}).alignment(), 1);
}

TEST(Strided, KnowsWhatItCannotDo) {
  const StridedDim overlapping[] = {{10, 2}, {4, 4}};
  const StridedDim touching[] = {{16, 2}, {4, 4}};
  const StridedDim backwards[] = {{-16, 2}};
  const StridedDim once[] = {{-16, 1}};
  EXPECT_FALSE(StridedCursor::is_ascending(4, overlapping));
  EXPECT_TRUE(StridedCursor::is_ascending(4, touching));
  EXPECT_FALSE(StridedCursor::is_ascending(5, touching));
  EXPECT_FALSE(StridedCursor::is_ascending(4, backwards));
  EXPECT_TRUE(StridedCursor::is_ascending(4, once));
}

TEST(Strided, HugeSelectionsStoreNothing) {
  // 2^40 elements, every other one: only the first rounds are walked.
  StridedCursor cursor = StridedCursor::subarray(0, 8, Index{std::int64_t{1} << 41}, Index{1},
                                                 Index{std::int64_t{1} << 40}, Index{2});
  EXPECT_EQ(cursor.bytes(), std::int64_t{8} << 40);
  cursor.start(1 << 20);
  Runs out(512);
  std::size_t n = 0;
  while (const std::size_t taken = cursor.take(1 << 20, out)) n += taken;
  EXPECT_EQ(n, (std::size_t{1} << 20) / 16);
  EXPECT_EQ(cursor.peek(), (1 << 20) + 8);
  // A limit far ahead: sequential, but by whole batches.
  EXPECT_EQ(cursor.take(kNoOffset, out), 512u);
}

}  // namespace
}  // namespace forebay::test
