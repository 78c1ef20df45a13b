// The memory of the buffered puts (bput): the program says how much, and what is free follows PnetCDF's own
// bookkeeping, since programs see it through NC_EINSUFFBUF and ncmpi_inq_buffer_usage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace forebay::pnc {

class AttachedBuffer {
 public:
  /// Throws std::bad_alloc.
  explicit AttachedBuffer(std::int64_t bytes);

  std::int64_t size() const { return size_; }
  std::int64_t used() const { return used_; }

  /// Takes `bytes` behind what is taken and returns the slot, to be given back later; -1 when they do not
  /// fit.
  int take(std::int64_t bytes);
  std::byte* memory(int slot) { return memory_.get() + slots_[static_cast<std::size_t>(slot)].begin; }

  /// Marks a slot free. Its space is usable only once every slot behind it is free too: see reclaim().
  void give_back(int slot) { slots_[static_cast<std::size_t>(slot)].busy = false; }
  /// Shortens what is taken by the free slots at its end.
  void reclaim();
  /// Forgets all slots.
  void clear();

 private:
  struct Slot {
    std::int64_t begin;
    std::int64_t bytes;
    bool busy;
  };
  std::unique_ptr<std::byte[]> memory_;
  std::int64_t size_;
  std::int64_t used_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace forebay::pnc
