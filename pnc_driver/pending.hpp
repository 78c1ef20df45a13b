// The nonblocking requests that wait for their wait: numbered as PnetCDF numbers them, found by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "arguments.hpp"
#include "mpi/handles.hpp"
#include "request/memory_stream.hpp"
#include "selection.hpp"

namespace forebay::pnc {

/// One iput or bput. Its data are in the variable's type: the program's own buffer where PnetCDF would leave
/// them there, else a copy.
struct PendingPut {
  static constexpr int first_id = 0;  ///< puts have even numbers
  int id = 0;
  const Variable* variable = nullptr;
  Selection selection;
  const std::byte* data = nullptr;
  Swap swap = Swap::none;  ///< what is left to do on the way to the file
  std::unique_ptr<std::byte[]> owned;
  int slot = -1;       ///< in the attached buffer
  bool taken = false;  ///< by the wait or cancel at work
};

/// One iget. Where the program's buffer has gaps, its datatype is ours, since the program may free its own.
struct PendingGet {
  static constexpr int first_id = 1;  ///< gets have odd numbers
  int id = 0;
  Request request;
  GetBuffer buffer;
  mpi::Datatype type;
  bool taken = false;  ///< by the wait or cancel at work
};

/// Instantiated for the two above.
template <class Entry>
class Pending {
 public:
  /// Numbers start at the first when nothing is pending, and go up by two.
  int add(std::unique_ptr<Entry> entry);

  /// Passes a number over, while something is pending: PnetCDF gives one to a blocking call with a list.
  void skip_number() {
    if (live_ > 0) last_id_ += 2;
  }

  std::size_t size() const { return live_; }
  bool empty() const { return live_ == 0; }

  /// The pending request of that number; null when there is none.
  Entry* find(int id);

  /// All, in the order in which they were posted.
  std::vector<Entry*> all();

  /// Forgets one; and closes ranks after a series of that.
  void drop(Entry& entry);
  void tidy();
  void clear();

 private:
  std::vector<std::unique_ptr<Entry>> entries_;  // ascending numbers; null where dropped
  std::vector<int> ids_;
  std::size_t live_ = 0;
  int last_id_ = 0;
};

}  // namespace forebay::pnc
