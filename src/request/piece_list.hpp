// An irregular selection as a compact, immutable list of pieces that many requests share: a decomposition is
// kept once, not once a variable.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "request/piece_code.hpp"

namespace forebay {

/// A buffer of words that grows without touching what it has (and, where large, without copying it): page
/// faults would be the better part of the cost of building a list.
class WordBuffer {
 public:
  /// Room for `size` words; throws std::bad_alloc.
  void resize(std::size_t size);
  std::size_t size() const { return size_; }
  std::uint16_t* data() { return words_.get(); }
  const std::uint16_t* data() const { return words_.get(); }

 private:
  struct Free {
    void operator()(std::uint16_t* words) const { std::free(words); }
  };
  std::unique_ptr<std::uint16_t, Free> words_;
  std::size_t size_ = 0;
};

/// Pieces (offset, length) in elements of a variable's linear element space, in list order; the stream
/// follows the list. Pieces that continue their predecessor have been merged with it. A list is encoded
/// relative to offset 0: where different variables or records take the same elements, give each the same
/// offsets and its own Mapping::base, so that they share.
///
/// A piece is a gap from its predecessor's end and a length, 16 bits each; or, where all lengths are equal,
/// only the gap. What does not fit is escaped, see piece_code.hpp.
class PieceList {
 public:
  std::int64_t pieces() const { return pieces_; }
  std::int64_t elements() const { return elements_; }
  /// Least offset and greatest end.
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return end_; }
  /// Each piece begins at or after its predecessor's end.
  bool ascending() const { return ascending_; }
  std::int64_t longest() const { return longest_; }
  /// All offsets and lengths or-ed: a power of two that divides this divides each of them.
  std::int64_t bits() const { return bits_; }
  std::size_t memory_bytes() const;
  bool operator==(const PieceList& other) const;

  // For the code that walks lists (piece_code.hpp):

  /// Where a walk may begin, and what it will meet before the next block.
  struct Block {
    std::int64_t word;      // index into words()
    std::int64_t position;  // end of the piece before
    std::int64_t stream;    // elements before
    std::int64_t begin;     // least offset and greatest end within the block
    std::int64_t end;
  };
  static constexpr std::int64_t block_pieces = 1024;

  const std::uint16_t* words() const { return words_.data(); }
  const std::vector<Block>& blocks() const { return blocks_; }
  /// The length of every piece where the list is encoded as gaps alone; else 0.
  std::int64_t constant_length() const { return constant_length_; }

 private:
  friend class PieceListBuilder;
  PieceList() = default;

  WordBuffer words_;
  std::vector<Block> blocks_;
  std::int64_t pieces_ = 0;
  std::int64_t elements_ = 0;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  std::int64_t longest_ = 0;
  std::int64_t bits_ = 0;
  std::int64_t constant_length_ = 0;
  std::uint64_t hash_ = 0;
  bool ascending_ = true;
};

using PieceListPtr = std::shared_ptr<const PieceList>;

/// Takes pieces one by one and encodes them on the way. A builder may be used again and again.
class PieceListBuilder {
 public:
  /// Appends a piece. Offsets are >= 0; a length <= 0 adds nothing.
  void add(std::int64_t offset, std::int64_t length) {
    if (length <= 0) return;
    if (offset == last_offset_ + last_length_) {
      last_length_ += length;
      return;
    }
    if (last_length_ > 0) encode_last();
    last_offset_ = offset;
    last_length_ = length;
  }

  /// What the list so far is like; a caller may choose a cursor by it.
  bool ascending() const { return ascending_ && (last_length_ == 0 || last_offset_ >= end_); }
  std::int64_t elements() const { return stream_ + last_length_; }

  /// The finished list; the builder is empty again.
  PieceListPtr finish();

 private:
  void encode_last() {
    if (block_left_ == 0) [[unlikely]]
      open_block();
    --block_left_;
    const std::int64_t offset = last_offset_;
    const std::int64_t length = last_length_;
    const std::int64_t gap = offset - position_;
    // The usual spelling here, all else elsewhere. Any piece of a block fits: open_block has seen to that.
    if (length == constant_length_ && static_cast<std::uint64_t>(gap) < piece_code::gap_medium) {
      words_.data()[used_] = static_cast<std::uint16_t>(gap);
      used_ += 1;
    } else if (constant_length_ == 0 &&
               (static_cast<std::uint64_t>(gap) | static_cast<std::uint64_t>(length)) <= 0xFFFF) {
      std::uint16_t* const pair = words_.data() + used_;
      pair[0] = static_cast<std::uint16_t>(gap);
      pair[1] = static_cast<std::uint16_t>(length);
      used_ += 2;
    } else {
      encode_unusual(gap, length);
    }
    position_ = offset + length;
    block_begin_ = std::min(block_begin_, offset);
    block_end_ = std::max(block_end_, position_);
    ascending_ = ascending_ && offset >= end_;
    end_ = std::max(end_, position_);
    longest_ = std::max(longest_, length);
    bits_ |= offset | length;
    stream_ += length;
  }
  void encode_unusual(std::int64_t gap, std::int64_t length);
  void encode_gap(std::int64_t gap);
  void encode_pair(std::int64_t gap, std::int64_t length);
  void respell_as_pairs();
  void open_block();
  void close_block();

  WordBuffer words_;  // used_ words are spelled
  std::size_t used_ = 0;
  std::vector<PieceList::Block> blocks_;
  std::int64_t block_left_ = 0;  // pieces that the newest block can still take
  std::int64_t block_begin_ = 0;
  std::int64_t block_end_ = 0;
  // The newest piece waits here, since the next may continue it.
  std::int64_t last_offset_ = -1;
  std::int64_t last_length_ = 0;
  // Of what has been encoded: end of the newest piece, greatest end, elements, and what PieceList says.
  std::int64_t position_ = 0;
  std::int64_t end_ = 0;
  std::int64_t stream_ = 0;
  std::int64_t longest_ = 0;
  std::int64_t bits_ = 0;
  std::int64_t constant_length_ = -1;  // -1 before the first piece
  bool ascending_ = true;
};

/// Finds equal lists among those still in use, so that requests of one decomposition share one. Not
/// thread-safe.
class PieceListCache {
 public:
  explicit PieceListCache(std::size_t capacity = 32) : capacity_(capacity) {}

  /// `list`, or the equal one that is known already.
  PieceListPtr share(PieceListPtr list);

 private:
  std::size_t capacity_;
  std::vector<std::weak_ptr<const PieceList>> known_;  // most recently used first; they hold no list alive
};

}  // namespace forebay
