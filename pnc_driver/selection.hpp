// Which elements of a variable a put names, kept apart from where the variable lies: a put may be posted
// before the definition ends that places it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "abi_1_12.hpp"
#include "request/piece_list.hpp"
#include "variables.hpp"

namespace forebay::pnc {

/// `count` repetitions, this many elements apart.
struct Loop {
  std::int64_t stride;
  std::int64_t count;
};

/// A regular part of a variable: runs of `run` elements within nested loops, slowest first.
struct Block {
  std::int64_t first = 0;  ///< number of the first element
  std::int64_t run = 0;
  std::vector<Loop> loops;
  bool over_records = false;  ///< the first loop goes from record to record
};

/// A part of a selection: a block, or a list of pieces where that is set.
struct Part {
  std::int64_t stream_first = 0;  ///< elements of the request before this part
  Block block;
  PieceListPtr list;
  std::int64_t list_record = 0;  ///< of a record variable: the list's offsets count from this record
};

struct Selection {
  std::vector<Part> parts;  ///< in the order of the buffer; none when nothing is selected
  std::int64_t elements = 0;
  std::int64_t records = 0;       ///< of a record variable: the last record reached, plus one
  std::int64_t last_element = 0;  ///< of a record variable: an element in that last record
};

/// The selection of put_var: start, count and stride (which may be null) per dimension, checked by PnetCDF.
/// NC_EINTOVERFLOW where a record number is beyond any file.
int select_block(const Variable& variable, Index start, Index count, Index stride, Selection& selection);

/// Builds the selections of put_varn; keeps its memory from one to the next, and shares lists that are equal,
/// since programs write many variables with one decomposition.
class ListSelector {
 public:
  /// `counts` or any of its entries may be null: one element.
  int select(const Variable& variable, int pieces, IndexList starts, IndexList counts, Selection& selection);

 private:
  void finish_list(Selection& selection, std::int64_t record);

  PieceListBuilder builder_;
  PieceListCache cache_;
};

}  // namespace forebay::pnc
