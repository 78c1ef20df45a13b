// Piece lists and their cursors against loops over single elements: encoding, records, rounds, passes and
// sharing.
#include "request/piece_list.hpp"

#include "reference.hpp"
#include "request/list_pieces.hpp"
#include "request/piece_cursor.hpp"
#include "request/round_index.hpp"

namespace forebay::test {
namespace {

struct Piece {
  std::int64_t offset;
  std::int64_t length;
};
using Pieces = std::vector<Piece>;

PieceListPtr build(const Pieces& pieces) {
  PieceListBuilder builder;
  for (const Piece& piece : pieces) builder.add(piece.offset, piece.length);
  return builder.finish();
}

Moves moves_of(const Pieces& pieces, const PieceMapping& map) {
  Moves moves;
  for (const Piece& piece : pieces) {
    for (std::int64_t e = piece.offset; e < piece.offset + piece.length; ++e) {
      const std::int64_t record = map.record_elements == 0 ? 0 : e / map.record_elements;
      const std::int64_t within = map.record_elements == 0 ? e : e % map.record_elements;
      const std::int64_t file = map.base + record * map.record_stride_bytes + within * map.element_bytes;
      for (std::int64_t b = 0; b < map.element_bytes; ++b)
        moves.push_back({file + b, static_cast<std::int64_t>(moves.size())});
    }
  }
  return moves;
}

Pieces random_pieces(Random& random, std::int64_t count, bool ascending) {
  Pieces pieces;
  const bool singles = random.one_in(3);
  const std::int64_t constant = random.one_in(4) ? random(1, 5) : 0;
  const std::int64_t longest = random.one_in(8) ? 200 : 6;
  const std::int64_t gaps = random.one_in(5) ? 100000 : random.one_in(2) ? 3 : 40;  // 100000: beyond 16 bits
  std::int64_t at = random.one_in(5) ? std::int64_t{5} << 32 : random(0, 100);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t length = constant != 0 ? constant : singles ? 1 : random(1, longest);
    at += random(0, gaps);
    if (random.one_in(300)) at += std::int64_t{3} << 31;
    pieces.push_back({at, length});
    at += length;
  }
  if (ascending) return pieces;
  switch (random(0, 3)) {
    case 0:  // any order
      for (std::size_t i = pieces.size(); i-- > 1;)
        std::swap(pieces[i], pieces[static_cast<std::size_t>(random(0, static_cast<std::int64_t>(i)))]);
      break;
    case 1:  // nearly ascending
      for (std::size_t i = 0; i + 1 < pieces.size(); i += 2) std::swap(pieces[i], pieces[i + 1]);
      break;
    case 2:  // backwards
      std::reverse(pieces.begin(), pieces.end());
      break;
    default:  // overlapping
      for (std::size_t i = 1; i < pieces.size(); ++i) {
        if (random.one_in(2))
          pieces[i].offset = std::max<std::int64_t>(0, pieces[i - 1].offset + random(-8, 8));
      }
  }
  return pieces;
}

bool ascends(const Pieces& pieces) {
  std::int64_t end = 0;
  for (const Piece& piece : pieces) {
    if (piece.length == 0) continue;
    if (piece.offset < end) return false;
    end = piece.offset + piece.length;
  }
  return true;
}

PieceMapping random_mapping(Random& random) {
  PieceMapping map;
  map.base = random(0, 300);
  map.element_bytes = random.one_in(4) ? random(1, 9) : std::int64_t{1} << random(0, 3);
  if (random.one_in(2)) {
    map.record_elements = random(1, 100);
    map.record_stride_bytes =
        map.record_elements * map.element_bytes + (random.one_in(4) ? 0 : random(1, 90));
  }
  return map;
}

Walk random_walk(Random& random, const Cursor& cursor, bool ascending) {
  Walk walk;
  const std::int64_t size = std::max<std::int64_t>(1, cursor.hull().size());
  switch (random(0, 3)) {
    case 0:
      walk.round_bytes = random(1, 50);
      break;
    case 1:
      walk.round_bytes = random(1, 2 * size);
      break;
    case 2:
      walk.round_bytes = std::int64_t{1} << random(3, 12);
      break;
    default:
      walk.round_bytes = size / random(1, 300) + 1;
  }
  walk.max_batch = random.one_in(2) ? 3 : 60;
  walk.skip_rounds = random.one_in(2);
  walk.ascending = ascending;
  return walk;
}

TEST(PieceList, AscendingListsLikeElementLoops) {
  Random random(test_seed());
  for (int repeat = 0; repeat < cases(2500) && !HasFatalFailure(); ++repeat) {
    const Pieces pieces = random_pieces(random, random.one_in(10) ? random(0, 2) : random(1, 60), true);
    const PieceMapping map = random_mapping(random);
    const PieceListPtr list = build(pieces);
    ASSERT_TRUE(list->ascending());
    PieceListCursor cursor(list, map);
    const Moves moves = moves_of(pieces, map);
    if (!moves.empty()) {
      EXPECT_EQ(cursor.hull().begin, moves.front().file);
      EXPECT_EQ(cursor.hull().end, moves.back().file + 1);
    }
    check_cursor(cursor, moves, random_walk(random, cursor, true), random);
    check_cursor(cursor, moves, random_walk(random, cursor, true), random);
  }
}

TEST(PieceList, OtherListsLikeElementLoops) {
  Random random(test_seed() + 1);
  for (int repeat = 0; repeat < cases(1500) && !HasFatalFailure(); ++repeat) {
    const Pieces pieces = random_pieces(random, random(2, 80), false);
    const PieceMapping map = random_mapping(random);
    const PieceListPtr list = build(pieces);
    PieceListCursor cursor(list, map, random.one_in(2) ? 1 : PieceListCursor::default_index_bytes);
    const Moves moves = moves_of(pieces, map);
    check_cursor(cursor, moves, random_walk(random, cursor, list->ascending()), random);
    check_cursor(cursor, moves, random_walk(random, cursor, list->ascending()), random);
  }
}

// Long enough for several passes over several windows of cells, and for rounds that do not fit the index at
// all.
TEST(PieceList, ManyPassesStayWithinTheBound) {
  Random random(test_seed() + 2);
  for (int repeat = 0; repeat < cases(20) && !HasFatalFailure(); ++repeat) {
    const Pieces pieces = random_pieces(random, random(1200, 2500), false);
    const PieceMapping map = random_mapping(random);
    const PieceListPtr list = build(pieces);
    const Moves moves = moves_of(pieces, map);
    PieceListCursor cursor(list, map, 4096);
    Walk walk = random_walk(random, cursor, list->ascending());
    walk.max_batch = 200;
    check_cursor(cursor, moves, walk, random);
    if (list->ascending() || map.record_elements != 0) continue;
    RoundIndex<ListPieces> index(cursor.hull(), 4096, *list, map);
    index.start(walk.round_bytes);
    Runs out(100);
    while (index.take(kNoOffset, out) != 0) {
    }
    // A round that does not fit is walked by one block of the list at a time.
    EXPECT_LE(index.peak_bytes(), 4096 + 2 * PieceList::block_pieces * sizeof(forebay::Run));
  }
}

// A round that does not fit the index is walked without one; each kind of pass is certain to occur here.
TEST(PieceList, ARoundLargerThanTheIndex) {
  Random random(test_seed() + 8);
  for (const std::int64_t longest : {1, 5}) {
    Pieces pieces;
    for (std::int64_t i = 5000; i > 0; --i) pieces.push_back({i * 8, longest == 1 ? 1 : random(1, longest)});
    const PieceListPtr list = build(pieces);
    const PieceMapping map{10, 4};
    RoundIndex<ListPieces> index(PieceListCursor(list, map).hull(), 4096, *list, map);
    for (const std::int64_t round_bytes : {1 << 30, 40000, 1000, 7}) {
      PieceListCursor cursor(list, map, 4096);
      Walk walk{round_bytes, false, 300, true};
      check_cursor(cursor, moves_of(pieces, map), walk, random);
      index.start(round_bytes);
      const std::int64_t before = index.scans();
      Runs out(100);
      while (index.take(kNoOffset, out) != 0) {
      }
      if (round_bytes < 40000) {
        EXPECT_GT(index.scans() - before, 10);
        EXPECT_LE(index.peak_bytes(), 4096 + PieceList::block_pieces * 2 * sizeof(forebay::Run));
      }
    }
    EXPECT_GT(index.peak_bytes(), 4096u);
  }
}

TEST(PieceList, AnIndexStaysWithinItsBound) {
  // 200000 single elements in any order, 12 bytes each when indexed, in at most 64 KiB.
  Random random(test_seed() + 3);
  constexpr std::int64_t count = 200000;
  Pieces pieces;
  for (std::int64_t i = 0; i < count; ++i) pieces.push_back({i * 7919 % count * 3, 1});
  const PieceListPtr list = build(pieces);
  ASSERT_FALSE(list->ascending());
  const PieceMapping map{64, 4};
  RoundIndex<ListPieces> index(PieceListCursor(list, map).hull(), 65536, *list, map);
  index.start(1000);
  Runs out(512);
  std::int64_t taken = 0;
  std::int64_t round = 0;
  while (const std::size_t n = index.take(kNoOffset, out)) {
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_GE(out[i].file / 1000, round);
      round = out[i].file / 1000;
      // Element i of the stream lies where the list says; runs may be cut at a round.
      const std::int64_t element = out[i].stream / 4;
      ASSERT_EQ(out[i].file - out[i].stream % 4, 64 + element * 7919 % count * 12);
    }
    taken += static_cast<std::int64_t>(n);
  }
  EXPECT_GE(taken, count);
  EXPECT_LE(index.peak_bytes(), 65536u);
  EXPECT_GE(index.scans(), count * 12 / 65536);
}

// So far apart that their rounds cannot be counted one by one: a walk to count them and one to sort them.
TEST(PieceList, FewPiecesInVeryManyRounds) {
  Random random(test_seed() + 9);
  Pieces pieces;
  for (std::int64_t i = 40; i > 0; --i) {
    pieces.push_back({i << 33, random(1, 30)});
    pieces.push_back({(i << 33) + random(-3, 3), random(1, 4)});  // some overlap
  }
  const PieceListPtr list = build(pieces);
  const PieceMapping map{7, 3};
  PieceListCursor cursor(list, map, 4096);
  check_cursor(cursor, moves_of(pieces, map), {50, false, 5, true}, random);
  RoundIndex<ListPieces> index(cursor.hull(), 4096, *list, map);
  index.start(500);
  Runs out(100);
  while (index.take(kNoOffset, out) != 0) {
  }
  EXPECT_LE(index.scans(), 4);
  EXPECT_LE(index.peak_bytes(), 4096u);
}

TEST(PieceList, EscapesAndLengths) {
  constexpr std::int64_t far = std::int64_t{1} << 40;
  const std::vector<Pieces> cases = {
      {{0, 1}, {0xFFFC + 1, 1}, {2 * 0xFFFD + 2, 1}, {3 * 0xFFFE + 9, 1}, {far, 1}, {2 * far, 1}},
      {{0, 65534}, {70000, 65535}, {140000, 65536}, {far, far}, {3 * far, 1}},
      {{5, 1}, {5 + 0xFFFF + 1, 2}, {5 + 2 * 0xFFFF + 99, 0xFFFF}, {far, 0xFFFE}, {far + 0x1FFFD, 0xFFFF}},
      {{far, 3}, {0, 3}, {far - 100, 3}, {17, 3}},
      {{far, 3}, {0, 4}, {far - 100, 3}, {17, 70000}},
      {{std::int64_t{1} << 31, 2}, {0, 2}, {std::int64_t{1} << 32, 2}, {0, 2}},
      {{0, 7}},
      {{0, 70000}, {70001, 70000}, {140009, 70000}, {far, 1}},
  };
  for (const Pieces& pieces : cases) {
    const PieceListPtr list = build(pieces);
    EXPECT_EQ(list->pieces(), static_cast<std::int64_t>(pieces.size()));
    EXPECT_EQ(list->ascending(), ascends(pieces));
    PieceListCursor cursor(list, {});
    cursor.start(std::int64_t{1} << 60);
    Runs out(20);
    ASSERT_EQ(cursor.take(kNoOffset, out), pieces.size());
    std::int64_t stream = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_EQ(out[i].file, pieces[i].offset);
      EXPECT_EQ(out[i].length, pieces[i].length);
      EXPECT_EQ(out[i].stream, stream);
      stream += pieces[i].length;
    }
    EXPECT_EQ(cursor.peek(), kNoOffset);
    EXPECT_EQ(list->elements(), stream);
  }
}

TEST(PieceList, AChangeOfLengthLateInALongList) {
  for (const std::int64_t length : {1, 70000}) {
    Pieces pieces;
    for (std::int64_t i = 0; i < 5000; ++i) pieces.push_back({i * (length + 1 + i % 2 * 70000), length});
    std::sort(pieces.begin(), pieces.end(),
              [](const Piece& a, const Piece& b) { return a.offset < b.offset; });
    for (std::size_t i = 1; i < pieces.size(); ++i)
      pieces[i].offset = std::max(pieces[i].offset, pieces[i - 1].offset + length + 1);
    pieces.push_back({pieces.back().offset + length + 5, length + 1});
    const PieceListPtr list = build(pieces);
    ASSERT_EQ(list->pieces(), 5001);
    PieceListCursor cursor(list, {});
    Runs out(6000);
    ASSERT_EQ(cursor.take(kNoOffset, out), pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      ASSERT_EQ(out[i].file, pieces[i].offset);
      ASSERT_EQ(out[i].length, pieces[i].length);
    }
  }
}

TEST(PieceList, NeighboursMergeAndListsAreSmall) {
  PieceListBuilder builder;
  for (std::int64_t i = 0; i < 1000; ++i) builder.add(i, 1);
  EXPECT_EQ(builder.finish()->pieces(), 1);
  EXPECT_EQ(builder.elements(), 0);
  for (std::int64_t i = 0; i < 100000; ++i) builder.add(i * 300, 1);
  const PieceListPtr gaps = builder.finish();
  EXPECT_LE(gaps->memory_bytes(), 100000u * 2 + 100000 / 1024 * 40 + 1000);
  for (std::int64_t i = 0; i < 100000; ++i) builder.add(i * 300, i % 3 + 1);
  const PieceListPtr pairs = builder.finish();
  EXPECT_LE(pairs->memory_bytes(), 100000u * 4 + 100000 / 1024 * 40 + 1000);
  builder.add(3, 0);
  builder.add(3, -1);
  EXPECT_EQ(builder.finish()->pieces(), 0);
  PieceListCursor empty(build({}), {100, 4});
  EXPECT_TRUE(empty.hull().empty());
  empty.start(10);
  EXPECT_EQ(empty.peek(), kNoOffset);
  Runs out(3);
  EXPECT_EQ(empty.take(kNoOffset, out), 0u);
}

TEST(PieceList, EqualListsAreShared) {
  Random random(test_seed() + 4);
  PieceListCache cache(3);
  const Pieces a = random_pieces(random, 3000, true);
  Pieces b = a;
  b.back().length += 1;
  const PieceListPtr first = cache.share(build(a));
  EXPECT_EQ(cache.share(build(a)), first);
  EXPECT_EQ(cache.share(first), first);
  const PieceListPtr second = cache.share(build(b));
  EXPECT_NE(second, first);
  EXPECT_FALSE(*second == *first);
  EXPECT_EQ(cache.share(build(b)), second);
  // Nothing is kept alive, and the least recently used goes first.
  const std::weak_ptr<const PieceList> unused = cache.share(build({{1, 1}}));
  EXPECT_TRUE(unused.expired());
  const PieceListPtr third = cache.share(build({{1, 2}}));
  EXPECT_EQ(cache.share(build(a)), first);
  const PieceListPtr fourth = cache.share(build({{1, 3}}));
  EXPECT_EQ(cache.share(build(a)), first);
  EXPECT_NE(cache.share(build(b)), second);
  // Lists that differ in their constant length alone are different.
  EXPECT_FALSE(*build({{0, 1}, {5, 1}}) == *build({{0, 2}, {6, 2}}));
}

TEST(FastDivide, LikeDivision) {
  Random random(test_seed() + 7);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (int repeat = 0; repeat < cases(100000); ++repeat) {
    const std::int64_t divisor = random(1, most) >> random(0, 62);
    if (divisor == 0) continue;
    const FastDivide divide(divisor);
    for (const std::int64_t value :
         {random(0, most) >> random(0, 62), divisor, divisor - 1, most, most / divisor * divisor,
          most / divisor * divisor - 1, std::int64_t{0}}) {
      ASSERT_EQ(divide(value), value / divisor) << value << " / " << divisor;
    }
  }
}

}  // namespace
}  // namespace forebay::test
