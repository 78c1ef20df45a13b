// The history file of a climate model, as the demo and the benchmark write it: its dimensions, its variables,
// and the value of every element, which any rank can work out for itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "decomposition.hpp"

namespace forebay::bench {

enum class Type { Float, Double, Int, Text };

std::size_t size_of(Type type);

struct Dimension {
  std::string name;
  std::int64_t length = 0;
};

struct Variable {
  std::string name, units, long_name;
  Type type = Type::Float;
  int decomposition = -1;       // -1: not partitioned, rank 0 writes the whole of it
  bool record = false;          // one more dimension, time, before the others
  std::vector<int> dimensions;  // into History::dimensions, without time
  std::uint64_t id = 0;         // what its values are made from
};

struct History {
  std::string title;
  std::int64_t records = 1;
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables;

  Shape shape(const Variable& variable) const;  // without time
};

// The variables that belong to the decompositions: three are E3SM's F case (atmosphere), six its G case
// (ocean), any other number gets some variables of each type over each of them.
History make_history(std::span<const Decomposition> decompositions, std::int64_t records);

// The bytes of elements [first, first + count) of one variable in one record, native byte order.
void make_values(const Variable& variable, std::int64_t record, std::int64_t first, std::int64_t count,
                 std::byte* values);

// What one rank writes of `variable`: its pieces, or on rank 0 the whole of what is not partitioned, or
// nothing.
std::vector<Piece> pieces_of(const History& history, const Variable& variable,
                             std::span<const Decomposition> decompositions, int rank);

}  // namespace forebay::bench
