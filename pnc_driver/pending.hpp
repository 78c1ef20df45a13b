// The nonblocking puts that wait for their wait: numbered as PnetCDF numbers them, found by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "request/memory_source.hpp"
#include "selection.hpp"

namespace forebay::pnc {

/// One iput or bput. Its data are in the variable's type: the program's own buffer where PnetCDF would leave
/// them there, else a copy.
struct PendingPut {
  int id = 0;
  const Variable* variable = nullptr;
  Selection selection;
  const std::byte* data = nullptr;
  Swap swap = Swap::none;  ///< what is left to do on the way to the file
  std::unique_ptr<std::byte[]> owned;
  int slot = -1;       ///< in the attached buffer
  bool taken = false;  ///< by the wait or cancel at work
};

class PendingPuts {
 public:
  /// Numbers start at 0 when nothing is pending, and are even.
  int add(std::unique_ptr<PendingPut> put);

  /// Passes a number over, while something is pending: PnetCDF gives one to a blocking put of a list.
  void skip_number() {
    if (live_ > 0) last_id_ += 2;
  }

  std::size_t size() const { return live_; }
  bool empty() const { return live_ == 0; }

  /// The pending put of that number; null when there is none.
  PendingPut* find(int id);

  /// All, in the order in which they were posted.
  std::vector<PendingPut*> all();

  /// Forgets one; and closes ranks after a series of that.
  void drop(PendingPut& put);
  void tidy();
  void clear();

 private:
  std::vector<std::unique_ptr<PendingPut>> puts_;  // ascending numbers; null where dropped
  std::vector<int> ids_;
  std::size_t live_ = 0;
  int last_id_ = 0;
};

}  // namespace forebay::pnc
