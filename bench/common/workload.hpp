// What one rank has to write, ready in memory: the variables, its pieces of them, and one record's buffers.
#pragma once

#include <cstddef>
#include <vector>

#include "history.hpp"

namespace forebay::bench {

class Workload {
 public:
  // Pieces are sorted by file offset and joined first, as SCORPIO and the E3SM-IO benchmark do with theirs.
  Workload(std::vector<Decomposition> decompositions, std::int64_t records, int rank);

  const History& history() const { return history_; }
  const std::vector<Decomposition>& decompositions() const { return decompositions_; }
  int rank() const { return rank_; }

  // What this rank holds of a variable, in elements, and where; contiguous.
  std::int64_t elements(std::size_t variable) const { return parts_[variable].elements; }
  std::byte* buffer(std::size_t variable) { return memory_.data() + parts_[variable].begin; }

  void fill(std::int64_t record);

  // Over all records: what this rank writes.
  std::int64_t bytes() const { return bytes_; }
  std::int64_t pieces() const { return pieces_; }

 private:
  struct Part {
    std::size_t begin = 0;
    std::int64_t elements = 0;
  };

  int rank_;
  std::vector<Decomposition> decompositions_;
  History history_;
  std::vector<Part> parts_;
  std::vector<std::byte> memory_;
  std::int64_t bytes_ = 0;
  std::int64_t pieces_ = 0;
};

}  // namespace forebay::bench
