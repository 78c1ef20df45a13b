// A decomposition's pieces as PnetCDF's varn calls take them.
#pragma once

#include <pnetcdf.h>

#include <vector>

#include "decomposition.hpp"

namespace forebay::bench {

// Each box with a leading record index, which variables without one skip.
class VarnLists {
 public:
  explicit VarnLists(const Decomposition& over) : rank_(over.shape.size()) {
    for (const Piece& piece : over.pieces) {
      for_each_box(over.shape, piece,
                   [&](std::span<const std::int64_t> start, std::span<const std::int64_t> count) {
                     starts_.push_back(0);
                     counts_.push_back(1);
                     starts_.insert(starts_.end(), start.begin(), start.end());
                     counts_.insert(counts_.end(), count.begin(), count.end());
                   });
    }
    starts_.shrink_to_fit();
    counts_.shrink_to_fit();
    for (std::size_t at = 0; at < starts_.size(); at += rank_ + 1) {
      record_starts_.push_back(&starts_[at]);
      record_counts_.push_back(&counts_[at]);
      fixed_starts_.push_back(&starts_[at + 1]);
      fixed_counts_.push_back(&counts_[at + 1]);
    }
  }

  void aim(std::int64_t record) {
    for (MPI_Offset* start : record_starts_) *start = record;
  }

  int size() const { return static_cast<int>(record_starts_.size()); }
  MPI_Offset* const* starts(bool record) const { return (record ? record_starts_ : fixed_starts_).data(); }
  MPI_Offset* const* counts(bool record) const { return (record ? record_counts_ : fixed_counts_).data(); }

 private:
  std::size_t rank_;
  std::vector<MPI_Offset> starts_, counts_;
  std::vector<MPI_Offset*> record_starts_, record_counts_, fixed_starts_, fixed_counts_;
};

}  // namespace forebay::bench
