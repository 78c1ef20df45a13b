// The cursor over an irregular selection: an encoded list, placed in the file by a mapping.
#pragma once

#include <memory>

#include "request/cursor.hpp"
#include "request/piece_list.hpp"

namespace forebay {

/// Where element e of a variable's linear element space lies in the file:
///   base + (e / record_elements) * record_stride_bytes + (e % record_elements) * element_bytes
/// record_elements is the elements of one record; 0 means no records: base + e * element_bytes.
struct PieceMapping {
  std::int64_t base = 0;
  std::int64_t element_bytes = 1;
  std::int64_t record_elements = 0;
  std::int64_t record_stride_bytes = 0;
};

class ListPieces;
template <class Pieces>
class RoundIndex;

/// The runs of a piece list. An ascending list is walked as it is, and nothing is stored. Any other list is
/// indexed by round, in as many passes as keep the index within `index_bytes`; within a round its runs come
/// in list order.
class PieceListCursor final : public Cursor {
 public:
  static constexpr std::int64_t default_index_bytes = std::int64_t{4} << 20;

  PieceListCursor(PieceListPtr list, const PieceMapping& mapping,
                  std::int64_t index_bytes = default_index_bytes);
  ~PieceListCursor() override;

  Extent hull() const override { return hull_; }
  std::int64_t alignment() const override { return alignment_; }
  void start(std::int64_t round_bytes) override;
  std::int64_t peek() override;
  std::size_t take(std::int64_t limit, std::span<Run> out) override;

  std::int64_t stream_bytes() const override { return list_->elements() * map_.element_bytes; }
  std::unique_ptr<Cursor> copy() const override;
  SharedPart shared() const override { return {list_.get(), list_->memory_bytes()}; }
  void walk(RunFunction f, void* context) override;

 private:
  template <bool gaps_only>
  std::size_t take_ascending(std::int64_t limit, std::span<Run> out);
  bool read_piece();

  PieceListPtr list_;
  PieceMapping map_;
  std::int64_t index_bytes_;
  Extent hull_;
  std::int64_t alignment_ = 1;
  std::unique_ptr<RoundIndex<ListPieces>> index_;  // for a list that does not ascend

  // An ascending walk: the rest of the current piece, and the words after it. file_ is kNoOffset when all are
  // taken.
  const std::uint16_t* at_ = nullptr;
  std::int64_t file_ = kNoOffset;
  std::int64_t stream_ = 0;
  std::int64_t left_ = 0;
  std::int64_t record_begin_ = 0;        // of the record that holds file_
  std::int64_t record_end_ = kNoOffset;  // where its elements end; kNoOffset without records
};

}  // namespace forebay
