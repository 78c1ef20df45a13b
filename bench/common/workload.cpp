// Buffers: one allocation, a contiguous part for each variable.
#include "workload.hpp"

#include <utility>

namespace forebay::bench {

Workload::Workload(std::vector<Decomposition> decompositions, std::int64_t records, int rank)
    : rank_(rank), decompositions_(std::move(decompositions)) {
  for (Decomposition& one : decompositions_) one.pieces = ascending(std::move(one.pieces));
  history_ = make_history(decompositions_, records);
  std::size_t total = 0;
  for (const Variable& variable : history_.variables) {
    const std::vector<Piece> held = pieces_of(history_, variable, decompositions_, rank_);
    const Part part{total, element_count(held)};
    const std::size_t size = static_cast<std::size_t>(part.elements) * size_of(variable.type);
    const std::int64_t times = variable.record ? records : 1;
    bytes_ += static_cast<std::int64_t>(size) * times;
    pieces_ += static_cast<std::int64_t>(held.size()) * times;
    total += (size + 7) / 8 * 8;
    parts_.push_back(part);
  }
  memory_.resize(total);
}

void Workload::fill(std::int64_t record) {
  for (std::size_t v = 0; v < history_.variables.size(); ++v) {
    const Variable& variable = history_.variables[v];
    if (!variable.record && record > 0) continue;
    std::byte* to = buffer(v);
    for (const Piece& piece : pieces_of(history_, variable, decompositions_, rank_)) {
      make_values(variable, record, piece.offset, piece.length, to);
      to += static_cast<std::size_t>(piece.length) * size_of(variable.type);
    }
  }
}

}  // namespace forebay::bench
