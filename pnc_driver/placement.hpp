// Where selections lie in the file: cursors made from them, now that it is known where variables begin.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "open_file.hpp"
#include "request/piece_cursor.hpp"
#include "request/strided.hpp"

namespace forebay::pnc {

class Placement {
 public:
  explicit Placement(OpenFile& file) : file_(file) {}

  /// Calls f(Cursor*, first) for each part of the selection, `first` being the number of elements before it.
  /// The selection must stay; the cursors live as long as this object, or until clear().
  template <class F>
  int place(const Variable& variable, const Selection& selection, F&& f) {
    if (selection.elements == 0) return NC_NOERR;
    if (int err = find(variable)) return err;
    for (const Part& part : selection.parts) f(cursor_of(variable, part), part.stream_first);
    return NC_NOERR;
  }

  void clear() {
    strided_.clear();
    lists_.clear();
  }

 private:
  int find(const Variable& variable);
  Cursor* cursor_of(const Variable& variable, const Part& part);

  OpenFile& file_;
  std::int64_t begin_ = 0;  // of the variable at hand
  std::int64_t record_stride_ = 0;
  std::deque<StridedCursor> strided_;
  std::deque<PieceListCursor> lists_;
  std::vector<StridedDim> loops_;
};

}  // namespace forebay::pnc
