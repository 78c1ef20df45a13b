// The cursors over HDF5 selections against the walk they stand for: every byte once, in its round, in list
// order there.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include "pair_cursor.hpp"
#include "request.hpp"

namespace forebay::hdf5 {
namespace {

using Rng = std::mt19937_64;

std::int64_t pick(Rng& rng, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(rng);
}

struct Space {
  explicit Space(const std::vector<hsize_t>& dims)
      : id(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr)) {}
  ~Space() { H5Sclose(id); }
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;
  hid_t id;
};

/// Runs in steps of `step` bytes, so that merging and cutting make no difference.
std::vector<Run> steps(std::span<const Run> runs, std::int64_t step) {
  std::vector<Run> out;
  for (const Run& run : runs) {
    EXPECT_EQ(run.length % step, 0);
    for (std::int64_t at = 0; at < run.length; at += step)
      out.push_back({run.file + at, run.stream + at, step});
  }
  return out;
}

std::vector<Run> walked(const Pair& pair, std::int64_t step) {
  Shape file;
  Shape memory;
  EXPECT_TRUE(shape_of(pair.file_space, file).ok());
  EXPECT_TRUE(shape_of(pair.memory_space, memory).ok());
  PairWalk walk;
  EXPECT_TRUE(walk.open(pair, file, memory).ok());
  std::vector<Run> all;
  std::array<Run, 37> batch;
  Status failure;
  while (const std::size_t n = walk.take(kNoOffset, batch, failure))
    all.insert(all.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(n));
  EXPECT_TRUE(failure.ok());
  return steps(all, step);
}

/// Takes everything round by round, some rounds in several helpings, with peek in between or not.
std::vector<Run> taken(Cursor& cursor, std::int64_t round, Rng& rng) {
  std::vector<Run> all;
  if (pick(rng, 0, 2) == 0) {  // a walk that is broken off leaves nothing behind
    cursor.start(pick(rng, 0, 1) == 0 ? round : std::int64_t{1} << 40);
    std::array<Run, 2> first;
    cursor.take(kNoOffset, first);
  }
  cursor.start(round);
  std::vector<Run> batch(static_cast<std::size_t>(pick(rng, 1, 300)));
  for (;;) {
    const std::int64_t next = cursor.peek();
    if (next == kNoOffset) break;
    const std::int64_t limit = (next / round + 1 + pick(rng, 0, 2)) * round;
    std::vector<Run> here;
    while (const std::size_t n = cursor.take(limit, batch)) {
      here.insert(here.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(n));
      if (pick(rng, 0, 3) == 0) (void)cursor.peek();
    }
    EXPECT_FALSE(here.empty());
    if (here.empty()) break;
    for (const Run& run : here) {
      EXPECT_LE(run.file + run.length, limit);
      EXPECT_GE(run.file, next);
      EXPECT_GT(run.length, 0);
    }
    all.insert(all.end(), here.begin(), here.end());
  }
  EXPECT_EQ(cursor.take(kNoOffset, batch), 0U);
  return all;
}

bool equal(const Run& a, const Run& b) {
  return a.file == b.file && a.stream == b.stream;
}

void compare(const Pair& pair, std::int64_t round, Rng& rng) {
  Shape file;
  Shape memory;
  ASSERT_TRUE(shape_of(pair.file_space, file).ok());
  ASSERT_TRUE(shape_of(pair.memory_space, memory).ok());
  WalkFailure failure;
  const auto cursor = make_cursor(pair, file, memory, Order::by_round, failure);
  // Rounds cut where they will, within elements too.
  const std::int64_t step = std::gcd(std::gcd(pair.element, round), pair.file);
  const std::vector<Run> reference = walked(pair, step);
  const Extent hull = cursor->hull();
  const std::int64_t alignment = cursor->alignment();
  for (const Run& run : reference) {
    ASSERT_GE(run.file, hull.begin);
    ASSERT_LE(run.file + run.length, hull.end);
  }
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<Run> got = steps(taken(*cursor, round, rng), step);
    ASSERT_EQ(got.size(), reference.size());
    // Within a round the order is the list's; over rounds it ascends.
    std::vector<Run> expected = reference;
    std::stable_sort(expected.begin(), expected.end(),
                     [&](const Run& a, const Run& b) { return a.file / round < b.file / round; });
    std::vector<Run> ordered = got;
    std::stable_sort(ordered.begin(), ordered.end(),
                     [&](const Run& a, const Run& b) { return a.file / round < b.file / round; });
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), ordered.begin(), equal));
  }
  // All at once is list order.
  cursor->start(round);
  std::vector<Run> all(reference.size() + 1);  // at least a run each
  std::size_t n = 0;
  while (const std::size_t more =
             cursor->take(kNoOffset, std::span(all).subspan(n, std::min<std::size_t>(100, all.size() - n))))
    n += more;
  all.resize(n);
  for (const Run& run : all) ASSERT_EQ((run.file | run.length) & (alignment - 1), 0);
  const std::vector<Run> got = steps(all, step);
  ASSERT_TRUE(std::equal(reference.begin(), reference.end(), got.begin(), got.end(), equal));
  // A reader may take them in any order, but all of them.
  const auto reader = make_cursor(pair, file, memory, Order::free, failure);
  {
    // Round by round, as where a node keeps bytes, in any order within one.
    std::vector<Run> by_round = steps(taken(*reader, round, rng), step);
    ASSERT_EQ(by_round.size(), reference.size());
    const auto first = [](const Run& a, const Run& b) {
      return std::pair(a.file, a.stream) < std::pair(b.file, b.stream);
    };
    std::vector<Run> all_of_it = reference;
    std::sort(by_round.begin(), by_round.end(), first);
    std::sort(all_of_it.begin(), all_of_it.end(), first);
    ASSERT_TRUE(std::equal(all_of_it.begin(), all_of_it.end(), by_round.begin(), equal));
  }
  std::vector<Run> read = steps(taken(*reader, std::int64_t{1} << 40, rng), step);
  std::vector<Run> expected = reference;
  const auto before = [](const Run& a, const Run& b) {
    return a.file != b.file ? a.file < b.file : a.stream < b.stream;
  };
  std::sort(read.begin(), read.end(), before);
  std::sort(expected.begin(), expected.end(), before);
  ASSERT_TRUE(std::equal(expected.begin(), expected.end(), read.begin(), read.end(), equal));
  ASSERT_TRUE(failure.status.ok());
}

void select_at_random(hid_t space, const std::vector<hsize_t>& dims, Rng& rng) {
  const std::size_t rank = dims.size();
  std::vector<hsize_t> start(rank), stride(rank), count(rank), block(rank);
  const auto regular = [&](H5S_seloper_t op) {
    for (std::size_t d = 0; d < rank; ++d) {
      block[d] = static_cast<hsize_t>(
          pick(rng, 1, std::max<std::int64_t>(1, static_cast<std::int64_t>(dims[d]) / 4)));
      stride[d] = block[d] + static_cast<hsize_t>(pick(rng, 0, 3));
      start[d] = static_cast<hsize_t>(pick(rng, 0, static_cast<std::int64_t>(dims[d] - block[d])));
      const hsize_t most = (dims[d] - start[d] - block[d]) / stride[d] + 1;
      count[d] = static_cast<hsize_t>(pick(rng, 1, static_cast<std::int64_t>(most)));
    }
    ASSERT_GE(H5Sselect_hyperslab(space, op, start.data(), stride.data(), count.data(), block.data()), 0);
  };
  switch (pick(rng, 0, 4)) {
    case 0:
      H5Sselect_all(space);
      break;
    case 1:
      regular(H5S_SELECT_SET);
      break;
    case 2:
      regular(H5S_SELECT_SET);
      for (std::int64_t k = pick(rng, 1, 6); k > 0; --k)
        regular(pick(rng, 0, 3) == 0 ? H5S_SELECT_XOR : H5S_SELECT_OR);
      break;
    case 3: {  // a box that may touch both ends
      for (std::size_t d = 0; d < rank; ++d) {
        start[d] = pick(rng, 0, 1) == 0
                       ? 0
                       : static_cast<hsize_t>(pick(rng, 0, static_cast<std::int64_t>(dims[d]) - 1));
        count[d] = pick(rng, 0, 1) == 0
                       ? dims[d] - start[d]
                       : static_cast<hsize_t>(pick(rng, 1, static_cast<std::int64_t>(dims[d] - start[d])));
      }
      ASSERT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), 0);
      break;
    }
    default: {
      const std::int64_t points = pick(rng, 1, 400);
      const bool ascending = pick(rng, 0, 2) == 0;
      std::vector<std::uint64_t> linear;
      std::uint64_t total = 1;
      for (const hsize_t d : dims) total *= d;
      for (std::int64_t i = 0; i < points; ++i) {
        // Also neighbours, which HDF5 and the cursors merge, and the same point twice.
        linear.push_back(i > 0 && pick(rng, 0, 3) == 0 ? std::min(linear.back() + 1, total - 1)
                                                       : static_cast<std::uint64_t>(pick(
                                                             rng, 0, static_cast<std::int64_t>(total) - 1)));
      }
      if (ascending) {
        std::sort(linear.begin(), linear.end());
        linear.erase(std::unique(linear.begin(), linear.end()), linear.end());
      }
      std::vector<hsize_t> coordinates;
      for (std::uint64_t index : linear) {
        std::vector<hsize_t> at(rank);
        for (std::size_t d = rank; d-- > 0;) {
          at[d] = index % dims[d];
          index /= dims[d];
        }
        coordinates.insert(coordinates.end(), at.begin(), at.end());
      }
      ASSERT_GE(H5Sselect_elements(space, H5S_SELECT_SET, linear.size(), coordinates.data()), 0);
    }
  }
}

TEST(PairCursor, EveryKindOfSelectionOnBothSides) {
  Rng rng(20240611);
  for (int trial = 0; trial < 600; ++trial) {
    SCOPED_TRACE(trial);
    const auto rank = static_cast<std::size_t>(pick(rng, 1, 4));
    std::vector<hsize_t> dims(rank);
    for (hsize_t& d : dims) d = static_cast<hsize_t>(pick(rng, 1, rank == 1 ? 3000 : rank < 4 ? 16 : 7));
    const Space file(dims);
    select_at_random(file.id, dims, rng);
    const auto n = static_cast<hsize_t>(H5Sget_select_npoints(file.id));
    if (n == 0) continue;
    Pair pair;
    pair.file_space = file.id;
    pair.file = pick(rng, 0, 50) * pick(rng, 1, 64);
    pair.element = std::array<std::int64_t, 5>{1, 4, 8, 12, 40}[static_cast<std::size_t>(pick(rng, 0, 4))];
    pair.stream = pick(rng, 0, 9);
    const std::int64_t round = std::array<std::int64_t, 5>{40 * 12, 4096 * 15, 120, 1 << 20,
                                                           1200}[static_cast<std::size_t>(pick(rng, 0, 4))];

    const std::int64_t kind = pick(rng, 0, 4);
    if (kind == 0) {  // part of a one-dimensional buffer
      const Space memory({n + 7});
      const hsize_t start = static_cast<hsize_t>(pick(rng, 0, 7));
      ASSERT_GE(H5Sselect_hyperslab(memory.id, H5S_SELECT_SET, &start, nullptr, &n, nullptr), 0);
      pair.memory_space = memory.id;
      ASSERT_NO_FATAL_FAILURE(compare(pair, round, rng));
    } else if (kind == 1) {  // strided
      const Space memory({n * 3});
      const hsize_t start = 1;
      const hsize_t stride = 3;
      ASSERT_GE(H5Sselect_hyperslab(memory.id, H5S_SELECT_SET, &start, &stride, &n, nullptr), 0);
      pair.memory_space = memory.id;
      ASSERT_NO_FATAL_FAILURE(compare(pair, round, rng));
    } else if (kind == 2) {  // shuffled points
      std::vector<hsize_t> points(n);
      for (hsize_t i = 0; i < n; ++i) points[i] = i;
      std::shuffle(points.begin(), points.end(), rng);
      const Space memory({n});
      ASSERT_GE(H5Sselect_elements(memory.id, H5S_SELECT_SET, n, points.data()), 0);
      pair.memory_space = memory.id;
      ASSERT_NO_FATAL_FAILURE(compare(pair, round, rng));
    } else if (kind == 3) {  // the same selection in a larger array of memory: ghost cells
      std::vector<hsize_t> larger = dims;
      for (hsize_t& d : larger) d += static_cast<hsize_t>(pick(rng, 0, 2));
      const Space memory(larger);
      if (H5Sget_select_type(file.id) == H5S_SEL_ALL) {
        const std::vector<hsize_t> zero(rank, 0);
        H5Sselect_hyperslab(memory.id, H5S_SELECT_SET, zero.data(), nullptr, dims.data(), nullptr);
      } else {
        H5Sselect_copy(memory.id, file.id);
      }
      pair.memory_space = memory.id;
      ASSERT_NO_FATAL_FAILURE(compare(pair, round, rng));
    } else {
      const Space memory({n});
      pair.memory_space = memory.id;
      ASSERT_NO_FATAL_FAILURE(compare(pair, round, rng));
    }
  }
}

TEST(PairCursor, MorePointsThanOneIndexHolds) {
  Rng rng(5);
  const hsize_t total = 560'000;
  const hsize_t points = 270'000;
  std::vector<hsize_t> linear(total);
  for (hsize_t i = 0; i < total; ++i) linear[i] = i;
  std::shuffle(linear.begin(), linear.end(), rng);
  linear.resize(points);
  const Space file({total});
  ASSERT_GE(H5Sselect_elements(file.id, H5S_SELECT_SET, points, linear.data()), 0);
  const Space memory({points});
  Pair pair;
  pair.file_space = file.id;
  pair.memory_space = memory.id;
  pair.file = 1234;
  pair.element = 2;
  ASSERT_NO_FATAL_FAILURE(compare(pair, 40'000, rng));
  // More rounds than are counted one by one.
  ASSERT_NO_FATAL_FAILURE(compare(pair, 4, rng));
}

TEST(PairCursor, MorePointsInARoundThanOneIndexHolds) {
  Rng rng(7);
  const hsize_t points = 560'000;
  std::vector<hsize_t> linear(points);
  for (hsize_t i = 0; i < points; ++i) linear[i] = i;
  std::shuffle(linear.begin(), linear.end(), rng);
  const Space file({points});
  ASSERT_GE(H5Sselect_elements(file.id, H5S_SELECT_SET, points, linear.data()), 0);
  const Space memory({points});
  Pair pair;
  pair.file_space = file.id;
  pair.memory_space = memory.id;
  pair.file = 1234;
  pair.stream = -5;
  pair.element = 2;
  ASSERT_NO_FATAL_FAILURE(compare(pair, 600'000, rng));
}

TEST(PairCursor, PointsFarApart) {
  Rng rng(8);
  const hsize_t total = hsize_t{1} << 37;
  std::vector<hsize_t> linear(3000);
  for (hsize_t& at : linear) at = static_cast<hsize_t>(pick(rng, 0, static_cast<std::int64_t>(total) - 1));
  for (std::size_t i = 1; i < linear.size(); i += 3) linear[i] = linear[i - 1] ^ 3;  // some in one round
  const Space file({total});
  ASSERT_GE(H5Sselect_elements(file.id, H5S_SELECT_SET, linear.size(), linear.data()), 0);
  const Space memory({linear.size()});
  Pair pair;
  pair.file_space = file.id;
  pair.memory_space = memory.id;
  pair.element = 4;
  ASSERT_NO_FATAL_FAILURE(compare(pair, 4096, rng));
}

TEST(PairCursor, SelectionsMovedByAnOffset) {
  Rng rng(6);
  const Space file({30, 40});
  const hsize_t start[] = {0, 1};
  const hsize_t stride[] = {3, 5};
  const hsize_t count[] = {6, 5};
  const hsize_t block[] = {2, 3};
  ASSERT_GE(H5Sselect_hyperslab(file.id, H5S_SELECT_SET, start, stride, count, block), 0);
  const hssize_t move[] = {9, 11};
  ASSERT_GE(H5Soffset_simple(file.id, move), 0);
  const Space memory({static_cast<hsize_t>(H5Sget_select_npoints(file.id))});
  Pair pair;
  pair.file_space = file.id;
  pair.memory_space = memory.id;
  pair.element = 4;
  ASSERT_NO_FATAL_FAILURE(compare(pair, 512, rng));
}

/// All puts of a request, as (file, address) of each byte in the order in which they are applied.
std::vector<std::pair<std::int64_t, const std::byte*>> applied(Request& request) {
  std::vector<std::pair<std::int64_t, const std::byte*>> out;
  std::array<Run, 16> batch;
  for (const Put& put : request.puts()) {
    put.cursor->start(1 << 20);
    while (const std::size_t n = put.cursor->take(kNoOffset, batch)) {
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_EQ(put.source->direct(), request.memory());
        for (std::int64_t k = 0; k < batch[i].length; ++k)
          out.emplace_back(batch[i].file + k, request.memory() + batch[i].stream + k);
      }
    }
  }
  return out;
}

TEST(Request, VectorsInAnyOrderWithSizesLeftOut) {
  std::array<char, 4096> memory{};
  const std::vector<haddr_t> addrs{900, 100, 500, 104, 2000, 508};
  const std::vector<std::size_t> sizes{8, 4, 8, 0, 0, 0};  // from the fourth on as the third
  std::vector<const void*> buffers;
  for (std::size_t i = 0; i < addrs.size(); ++i) buffers.push_back(memory.data() + 1000 - 100 * i);
  Request request(Order::by_round);
  ASSERT_TRUE(request.add_vector(addrs.size(), addrs.data(), sizes.data(), buffers.data()).ok());
  const auto got = applied(request);
  ASSERT_EQ(got.size(), 8U + 4 + 4 * 8);
  std::vector<char> file(4096, 0);
  for (const auto& [at, from] : got)
    file[static_cast<std::size_t>(at)] =
        static_cast<char>(1 + (reinterpret_cast<const char*>(from) - memory.data()) / 100);
  const auto holds = [&](std::size_t at, std::size_t n, int place) {
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(file[at + i], 1 + place) << at + i;
  };
  holds(900, 8, 10);
  holds(100, 4, 9);
  holds(104, 8, 7);
  holds(500, 8, 8);
  holds(508, 8, 5);
  holds(2000, 8, 6);
  EXPECT_EQ(request.puts().size(), 0U);  // nothing twice
}

TEST(Request, OverlappingEntriesKeepTheOrderOfTheList) {
  std::array<char, 64> memory{};
  const std::vector<haddr_t> addrs{20, 10, 15, 0, 12};
  const std::vector<std::size_t> sizes{10, 10, 10, 30, 2};
  std::vector<const void*> buffers(5);
  for (std::size_t i = 0; i < 5; ++i) buffers[i] = memory.data() + i;
  Request request(Order::by_round);
  ASSERT_TRUE(request.add_vector(5, addrs.data(), sizes.data(), buffers.data()).ok());
  std::vector<const std::byte*> file(40, nullptr);
  for (const auto& [at, from] : applied(request)) file[static_cast<std::size_t>(at)] = from;
  std::vector<const std::byte*> expected(40, nullptr);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t k = 0; k < sizes[i]; ++k)
      expected[addrs[i] + k] = reinterpret_cast<const std::byte*>(memory.data() + i + k);
  }
  EXPECT_EQ(file, expected);
}

TEST(Request, ManySmallPiecesShareAPutAndLongOnesHaveTheirOwn) {
  std::vector<char> memory(3 << 20);
  Request request(Order::by_round);
  for (int i = 0; i < 10'000; ++i)
    ASSERT_TRUE(request.add_bytes(static_cast<haddr_t>(i) * 100, 50, memory.data() + i).ok());
  ASSERT_TRUE(request.add_bytes(haddr_t{2} << 20, 1 << 20, memory.data()).ok());
  ASSERT_TRUE(request.add_bytes(haddr_t{8} << 20, 10, memory.data()).ok());
  const auto puts = request.puts();
  ASSERT_EQ(puts.size(), 2U);
  EXPECT_EQ(puts[0].cursor->hull().size(), 1 << 20);
  EXPECT_EQ(puts[0].cursor->alignment(), 4096);
  EXPECT_EQ(puts[1].cursor->hull().begin, 0);
  EXPECT_EQ(puts[1].cursor->hull().end, (8 << 20) + 10);
}

TEST(Request, WhatCannotBeAddressedIsRefused) {
  char byte = 0;
  Request request(Order::by_round);
  EXPECT_EQ(request.add_bytes(HADDR_UNDEF, 1, &byte).code(), Code::bad_argument);
  EXPECT_EQ(request.add_bytes(0, 1, nullptr).code(), Code::bad_argument);
  EXPECT_TRUE(request.add_bytes(0, 0, nullptr).ok());
  EXPECT_TRUE(request.puts().empty());
  const Space three({3});
  const Space four({4});
  const hid_t file[] = {three.id};
  const hid_t memory[] = {four.id};
  const haddr_t offset[] = {0};
  const std::size_t element[] = {4};
  const void* buffer[] = {&byte};
  EXPECT_EQ(request.add_selections(1, memory, file, offset, element, buffer).code(), Code::bad_argument);
}

}  // namespace
}  // namespace forebay::hdf5
