// One cell of the matrix: which call of which library meets which fault, where, on which rank.
#pragma once

#include <string>

namespace faults {

struct Cell {
  std::string key;    ///< the fields below, from library to rank, with '/' between
  std::string hints;  ///< of the mode
  std::string library, mode, nodes, op, kept, place, call, fault, number, again, rank;
  int error = 0;  ///< errno; 0: the call falls short or takes long

  /// "KEY HINTS"; false: it is not well-formed.
  bool read(const std::string& line);
  /// Whether a program is to hear of it.
  bool is_error() const;
};

}  // namespace faults
