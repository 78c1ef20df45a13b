// HDF5 dataspaces as runs of bytes: what a selection looks like, and a walk over a pair of them.
#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "request/run.hpp"

namespace forebay::hdf5 {

/// The selected elements of a file's dataspace and those of memory, which HDF5 matches in order.
struct Pair {
  hid_t file_space = H5I_INVALID_HID;
  hid_t memory_space = H5I_INVALID_HID;
  std::int64_t file = 0;     ///< file offset of the file space's first element
  std::int64_t stream = 0;   ///< offset in the stream of the memory space's first element
  std::int64_t element = 1;  ///< bytes of an element, the same on both sides
};

/// What can be told about a selection without walking it.
struct Shape {
  enum class Kind {
    none,
    contiguous,  ///< one run
    box,         ///< all elements of the bounding box
    hyperslab,   ///< something else whose order ascends
    points       ///< in the order of selection, which need not ascend
  };
  Kind kind = Kind::none;
  int rank = 0;
  std::int64_t elements = 0;
  std::array<std::int64_t, H5S_MAX_RANK> low;    ///< corner of the bounding box
  std::array<std::int64_t, H5S_MAX_RANK> size;   ///< of the bounding box
  std::array<std::int64_t, H5S_MAX_RANK> pitch;  ///< elements from one index to the next, in each dimension

  /// Linear index of the bounding box's first and one past its last element.
  std::int64_t begin() const;
  std::int64_t end() const;
};

Status shape_of(hid_t space, Shape& shape);

/// The part of it that most small calls need, with fewer questions.
struct Outline {
  std::int64_t elements = 0;
  std::int64_t begin = 0;  ///< as Shape's
  std::int64_t end = 0;
  bool one_run = false;
};

Status outline_of(hid_t space, Outline& outline);

/// The sequences of one dataspace, fetched from HDF5 many at a time.
class SequenceList {
 public:
  SequenceList() = default;
  ~SequenceList() { close(); }
  SequenceList(const SequenceList&) = delete;
  SequenceList& operator=(const SequenceList&) = delete;

  Status open(hid_t space, std::int64_t element);
  void close();

  /// Makes the next sequence current if the last one is used up; false at the end, or on failure.
  bool ready(Status& failure) { return at_ < count_ || fetch(failure); }
  std::int64_t offset() const { return static_cast<std::int64_t>(offsets_[at_]); }
  std::int64_t length() const { return static_cast<std::int64_t>(lengths_[at_]); }
  /// Uses up the first `bytes` of the current sequence.
  void advance(std::int64_t bytes) {
    offsets_[at_] += static_cast<hsize_t>(bytes);
    lengths_[at_] -= static_cast<std::size_t>(bytes);
    if (lengths_[at_] == 0) ++at_;
  }
  std::size_t left_in_batch() const { return count_ - at_; }
  const hsize_t* offsets() const { return offsets_.data() + at_; }
  const std::size_t* lengths() const { return lengths_.data() + at_; }
  void skip(std::size_t sequences) { at_ += sequences; }

 private:
  static constexpr std::size_t kBatch = 1024;
  bool fetch(Status& failure);

  hid_t iterator_ = H5I_INVALID_HID;
  std::size_t at_ = 0;
  std::size_t count_ = 0;
  std::vector<hsize_t> offsets_;
  std::vector<std::size_t> lengths_;
};

/// Walks a pair in HDF5's order: each run has its place in the file and in the stream.
class PairWalk {
 public:
  Status open(const Pair& pair, const Shape& file, const Shape& memory);
  void close();

  /// Up to out.size() runs that begin below `limit`, cut there. It stops at the first run that does not; for
  /// an ascending file selection nothing below `limit` is then left.
  std::size_t take(std::int64_t limit, std::span<Run> out, Status& failure);
  /// File offset of the next run, kNoOffset at the end.
  std::int64_t peek(Status& failure);

 private:
  std::size_t take_contiguous(std::int64_t limit, std::span<Run> out, Status& failure);

  SequenceList file_;
  SequenceList memory_;
  std::int64_t file_base_ = 0;
  std::int64_t stream_ = 0;  ///< of the next byte where memory is contiguous, else of the memory space
  bool memory_contiguous_ = true;
};

}  // namespace forebay::hdf5
