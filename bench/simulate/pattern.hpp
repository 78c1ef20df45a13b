// What the ranks of a simulated machine write: the patterns of models, as large as the machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "request/cursor.hpp"

namespace forebay::simulate {

/// The same on all ranks. Pieces of different ranks do not overlap; offsets and lengths are multiples of 4.
class Pattern {
 public:
  virtual ~Pattern() = default;
  /// What that rank puts: a cursor a request, each over a stream of its own from 0 on.
  virtual std::vector<std::unique_ptr<Cursor>> requests(int rank) const = 0;
  virtual std::int64_t file_bytes() const = 0;
};

struct PatternWish {
  int ranks = 1;
  std::int64_t bytes_a_rank = 64 << 10;  ///< about
  std::string maps;                      ///< a folder with recorded decompositions; others are generated
  bool together = false;  ///< the ranks of a node hold what lies together, where the pattern has a choice
};

/// Names: pattern_names(). Throws std::invalid_argument for another one, and what reading a map throws.
std::unique_ptr<Pattern> make_pattern(const std::string& name, const PatternWish& wish);
std::vector<std::string> pattern_names();

// What makes them:
std::unique_ptr<Pattern> make_e3sm(char which, const PatternWish& wish);  ///< 'f', 'g' or 'i'
std::unique_ptr<Pattern> make_btio(const PatternWish& wish);
std::unique_ptr<Pattern> make_tiny(const PatternWish& wish);
std::unique_ptr<Pattern> make_amr(const PatternWish& wish);
std::unique_ptr<Pattern> make_sparse(const PatternWish& wish);

}  // namespace forebay::simulate
