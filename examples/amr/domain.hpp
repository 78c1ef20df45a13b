// Where the root cells lie, and whose they are.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace amr {

using Place = std::array<int, 3>;  // of a root cell, in root cells

// Root cells are numbered through all segments, and follow each other along a Morton curve through the
// smallest cube that holds them. A few cells at the curve's end are missing in it.
class Domain {
 public:
  explicit Domain(const std::vector<std::int32_t>& segment_lengths);

  int segments() const { return static_cast<int>(begin_.size()) - 1; }
  int begin(int segment) const { return begin_[static_cast<std::size_t>(segment)]; }  // its first root cell
  int length(int segment) const { return begin(segment + 1) - begin(segment); }
  int roots() const { return begin_.back(); }
  int edge() const { return edge_; }  // of the cube, in root cells
  const Place& place(int root) const { return places_[static_cast<std::size_t>(root)]; }
  int root_at(int x, int y, int z) const;  // -1 where there is none

 private:
  std::vector<int> begin_;
  int edge_ = 1;
  std::vector<Place> places_;
  std::vector<int> roots_;  // [z][y][x]
};

// The segments of one rank, dealt in turn: segment s is that of rank s mod ranks.
class Share {
 public:
  Share(const Domain& domain, int rank, int ranks);

  const std::vector<int>& segments() const { return segments_; }
  int trees() const { return trees_; }

 private:
  std::vector<int> segments_;
  int trees_ = 0;
};

}  // namespace amr
