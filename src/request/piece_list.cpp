// Encoding, comparing and sharing piece lists.
#include "request/piece_list.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "request/piece_code.hpp"

namespace forebay {
namespace {

bool fits_int32(std::int64_t value) {
  return value == static_cast<std::int32_t>(value);
}

template <class Int>
void write(std::uint16_t* to, Int value) {
  std::memcpy(to, &value, sizeof value);
}

std::uint64_t hash_words(const WordBuffer& words, std::uint64_t seed) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
  std::uint64_t hash = seed * odd;
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * odd;
    hash ^= hash >> 29;
  };
  std::size_t i = 0;
  for (; i + 4 <= words.size(); i += 4) mix(piece_code::read<std::uint64_t>(words.data() + i));
  for (; i < words.size(); ++i) mix(words.data()[i]);
  return hash;
}

}  // namespace

void WordBuffer::resize(std::size_t size) {
  void* grown = std::realloc(words_.get(), std::max<std::size_t>(size, 1) * sizeof *words_);
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(words_.release());
  words_.reset(static_cast<std::uint16_t*>(grown));
  size_ = size;
}

std::size_t PieceList::memory_bytes() const {
  return sizeof *this + words_.size() * sizeof(std::uint16_t) + blocks_.capacity() * sizeof(Block);
}

bool PieceList::operator==(const PieceList& other) const {
  return hash_ == other.hash_ && pieces_ == other.pieces_ && elements_ == other.elements_ &&
         constant_length_ == other.constant_length_ && words_.size() == other.words_.size() &&
         std::memcmp(words_.data(), other.words_.data(), words_.size() * sizeof(std::uint16_t)) == 0;
}

void PieceListBuilder::encode_gap(std::int64_t gap) {
  std::uint16_t* to = words_.data() + used_;
  if (gap >= 0 && gap < piece_code::gap_medium) {
    to[0] = static_cast<std::uint16_t>(gap);
    used_ += 1;
  } else if (fits_int32(gap)) {
    to[0] = piece_code::gap_medium;
    write(to + 1, static_cast<std::int32_t>(gap));
    used_ += 3;
  } else {
    to[0] = piece_code::gap_far;
    write(to + 1, gap);
    used_ += 5;
  }
}

void PieceListBuilder::encode_pair(std::int64_t gap, std::int64_t length) {
  std::uint16_t* to = words_.data() + used_;
  if (gap >= 0 && gap <= 0xFFFF && length <= 0xFFFF) {
    to[0] = static_cast<std::uint16_t>(gap);
    to[1] = static_cast<std::uint16_t>(length);
    used_ += 2;
  } else if (fits_int32(gap) && length < piece_code::pair_far) {
    to[0] = static_cast<std::uint16_t>(length);
    to[1] = 0;
    write(to + 2, static_cast<std::int32_t>(gap));
    used_ += 4;
  } else {
    to[0] = piece_code::pair_far;
    to[1] = 0;
    write(to + 2, gap);
    write(to + 6, length);
    used_ += 10;
  }
}

void PieceListBuilder::encode_unusual(std::int64_t gap, std::int64_t length) {
  if (constant_length_ < 0) constant_length_ = length;
  if (constant_length_ != 0 && length != constant_length_) respell_as_pairs();
  if (constant_length_ != 0) {
    encode_gap(gap);
  } else {
    encode_pair(gap, length);
  }
}

// The first length that differs: what was spelled as gaps alone is spelled anew.
void PieceListBuilder::respell_as_pairs() {
  words_.data()[used_] = piece_code::gap_end;
  WordBuffer gaps;
  gaps.resize(blocks_.size() * static_cast<std::size_t>(PieceList::block_pieces) * piece_code::longest + 16);
  std::swap(gaps, words_);
  used_ = 0;
  const std::uint16_t* at = gaps.data();
  std::int64_t gap = 0;
  std::int64_t length = constant_length_;
  for (std::size_t piece = 0; piece_code::next<true>(at, gap, length); ++piece) {
    if (piece % PieceList::block_pieces == 0) {
      blocks_[piece / PieceList::block_pieces].word = static_cast<std::int64_t>(used_);
    }
    encode_pair(gap, length);
  }
  constant_length_ = 0;
}

void PieceListBuilder::open_block() {
  close_block();
  const std::size_t most = static_cast<std::size_t>(PieceList::block_pieces) * piece_code::longest + 16;
  if (used_ + most > words_.size()) words_.resize(2 * (used_ + most));
  blocks_.push_back({static_cast<std::int64_t>(used_), position_, stream_, 0, 0});
  block_left_ = PieceList::block_pieces;
  block_begin_ = last_offset_;
  block_end_ = 0;
}

void PieceListBuilder::close_block() {
  if (blocks_.empty()) return;
  blocks_.back().begin = block_begin_;
  blocks_.back().end = block_end_;
}

PieceListPtr PieceListBuilder::finish() {
  if (last_length_ > 0) encode_last();
  close_block();
  std::shared_ptr<PieceList> list(new PieceList);
  if (blocks_.empty()) words_.resize(2);
  if (constant_length_ > 0) {
    words_.data()[used_++] = piece_code::gap_end;
  } else {
    words_.data()[used_++] = piece_code::pair_end;
    words_.data()[used_++] = 0;
  }
  words_.resize(used_);
  if (!blocks_.empty()) list->begin_ = std::ranges::min(blocks_, {}, &PieceList::Block::begin).begin;
  list->pieces_ = static_cast<std::int64_t>(blocks_.size()) * PieceList::block_pieces - block_left_;
  blocks_.shrink_to_fit();
  list->words_ = std::move(words_);
  list->blocks_ = std::move(blocks_);
  list->elements_ = stream_;
  list->end_ = end_;
  list->longest_ = longest_;
  list->bits_ = bits_;
  list->constant_length_ = std::max<std::int64_t>(constant_length_, 0);
  list->ascending_ = ascending_;
  list->hash_ = hash_words(list->words_, static_cast<std::uint64_t>(list->constant_length_));
  *this = PieceListBuilder();
  return list;
}

PieceListPtr PieceListCache::share(PieceListPtr list) {
  std::erase_if(known_, [](const auto& known) { return known.expired(); });
  for (auto known = known_.begin(); known != known_.end(); ++known) {
    PieceListPtr same = known->lock();
    if (same && (same == list || *same == *list)) {
      std::rotate(known_.begin(), known, known + 1);
      return same;
    }
  }
  if (known_.size() >= capacity_) known_.pop_back();
  known_.insert(known_.begin(), list);
  return list;
}

}  // namespace forebay
