// Walking piece lists and callers' arrays that ascend.
#include "request/piece_cursor.hpp"

#include <algorithm>
#include <cassert>

#include "request/list_pieces.hpp"
#include "request/piece_code.hpp"
#include "request/round_index.hpp"

namespace forebay {
namespace {

// A mapping whose records follow each other without a gap is a linear one.
PieceMapping simplified(PieceMapping map) {
  assert(map.element_bytes > 0);
  assert(map.record_elements == 0 || map.record_stride_bytes >= map.record_elements * map.element_bytes);
  if (map.record_stride_bytes == map.record_elements * map.element_bytes) map.record_elements = 0;
  return map;
}

std::int64_t file_of(const PieceMapping& map, std::int64_t element) {
  if (map.record_elements == 0) return map.base + element * map.element_bytes;
  return map.base + element / map.record_elements * map.record_stride_bytes +
         element % map.record_elements * map.element_bytes;
}

// `bits`: all element offsets and lengths, or-ed.
std::int64_t alignment_of(const PieceMapping& map, std::int64_t bits) {
  // The lowest bit of a product is the product of the lowest bits.
  std::int64_t all = (bits & -bits) * (map.element_bytes & -map.element_bytes) | map.base | 4096;
  if (map.record_elements != 0) all |= map.record_elements * map.element_bytes | map.record_stride_bytes;
  return all & -all;
}

}  // namespace

PieceListCursor::PieceListCursor(PieceListPtr list, const PieceMapping& mapping, std::int64_t index_bytes)
    : list_(std::move(list)),
      map_(simplified(mapping)),
      index_bytes_(index_bytes),
      hull_{mapping.base, mapping.base} {
  if (list_->pieces() == 0) return;
  hull_ = {file_of(map_, list_->begin()), file_of(map_, list_->end() - 1) + map_.element_bytes};
  alignment_ = alignment_of(map_, list_->bits());
  if (!list_->ascending())
    index_ = std::make_unique<RoundIndex<ListPieces>>(hull_, index_bytes, *list_, map_);
  start(1);
}

PieceListCursor::~PieceListCursor() = default;

std::unique_ptr<Cursor> PieceListCursor::copy() const {
  return std::make_unique<PieceListCursor>(list_, map_, index_bytes_);
}

// In list order, which is the order in which pieces of one list win; that takes no index.
void PieceListCursor::walk(RunFunction f, void* context) {
  if (hull_.empty()) return;
  const std::uint16_t* at = list_->words();
  std::int64_t element = 0, gap = 0, stream = 0;
  std::int64_t length = list_->constant_length();
  const bool gaps_only = length != 0;
  while (gaps_only ? piece_code::next<true>(at, gap, length) : piece_code::next<false>(at, gap, length)) {
    element += gap;
    for (std::int64_t left = length; left > 0;) {
      std::int64_t part = left;
      if (map_.record_elements != 0)
        part = std::min(part, map_.record_elements - element % map_.record_elements);
      f(context, {file_of(map_, element), stream, part * map_.element_bytes});
      stream += part * map_.element_bytes;
      element += part;
      left -= part;
    }
  }
}

bool PieceListCursor::read_piece() {
  std::int64_t gap = 0;
  std::int64_t length = list_->constant_length();
  const bool more =
      length != 0 ? piece_code::next<true>(at_, gap, length) : piece_code::next<false>(at_, gap, length);
  file_ += gap * map_.element_bytes;
  left_ = length * map_.element_bytes;
  return more;
}

void PieceListCursor::start(std::int64_t round_bytes) {
  file_ = kNoOffset;
  if (hull_.empty()) return;
  if (index_) return index_->start(round_bytes);
  at_ = list_->words();
  file_ = map_.base;
  stream_ = 0;
  read_piece();
  record_begin_ = map_.base;
  record_end_ = kNoOffset;
  if (map_.record_elements != 0) {
    record_begin_ += list_->begin() / map_.record_elements * map_.record_stride_bytes;
    record_end_ = record_begin_ + map_.record_elements * map_.element_bytes;
    file_ = hull_.begin;
  }
}

std::int64_t PieceListCursor::peek() {
  return index_ ? index_->peek() : file_;
}

std::size_t PieceListCursor::take(std::int64_t limit, std::span<Run> out) {
  if (index_) return index_->take(limit, out);
  return list_->constant_length() != 0 ? take_ascending<true>(limit, out) : take_ascending<false>(limit, out);
}

template <bool gaps_only>
std::size_t PieceListCursor::take_ascending(std::int64_t limit, std::span<Run> out) {
  if (out.empty() || file_ >= limit) return 0;
  const std::int64_t element_bytes = map_.element_bytes;
  const std::int64_t constant_length = gaps_only ? list_->constant_length() : 0;
  Run* to = out.data();
  Run* const to_end = to + out.size();
  const std::uint16_t* at = at_;
  std::int64_t file = file_;
  std::int64_t stream = stream_;
  std::int64_t left = left_;

  // One comparison a piece tells all that may happen to it: within a record, offsets go on in file order as
  // they do in the list, so that a piece beyond the record shows as one beyond `bound` as well as a piece
  // beyond the limit does.
  std::int64_t bound = std::min(limit, record_end_);
  const auto enter_record = [&] {  // brings `file`, reckoned on from record_begin_, to its place
    const std::int64_t record_bytes = map_.record_elements * element_bytes;
    const std::int64_t over = file - record_begin_;
    record_begin_ += over / record_bytes * map_.record_stride_bytes;
    record_end_ = record_begin_ + record_bytes;
    file = record_begin_ + over % record_bytes;
    bound = std::min(limit, record_end_);
  };
  // Steps to the next piece; false when there is none.
  const auto advance = [&] {
    std::int64_t gap = 0;
    std::int64_t length = constant_length;
    if (!piece_code::next<gaps_only>(at, gap, length)) {
      file = kNoOffset;
      return false;
    }
    file += gap * element_bytes;
    left = length * element_bytes;
    return true;
  };

  while (to != to_end) {
    if (left <= bound - file) [[likely]] {
      *to++ = {file, stream, left};
      file += left;
      stream += left;
      if (!advance()) break;
      continue;
    }
    if (file >= limit) break;
    if (file >= record_end_) {
      enter_record();
      continue;
    }
    const std::int64_t length = bound - file;  // the record's end or the limit cuts the piece
    *to++ = {file, stream, length};
    file += length;
    stream += length;
    left -= length;
  }
  if (file != kNoOffset && file >= record_end_) enter_record();
  at_ = at;
  file_ = file;
  stream_ = stream;
  left_ = left;
  return static_cast<std::size_t>(to - out.data());
}

}  // namespace forebay
