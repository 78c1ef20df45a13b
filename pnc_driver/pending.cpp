// A list in posting order in which dropped entries stay as holes until they are the half, so that waiting for
// 10^5 puts one by one does not move the rest each time.
#include "pending.hpp"

#include <algorithm>

namespace forebay::pnc {

int PendingPuts::add(std::unique_ptr<PendingPut> put) {
  if (live_ == 0) {
    clear();
    last_id_ = 0;
  } else {
    last_id_ += 2;
  }
  put->id = last_id_;
  // Room first, so that nothing is half done where memory lacks; and twice the room, since one by one every
  // put would copy the list.
  if (ids_.size() == ids_.capacity()) ids_.reserve(2 * ids_.size() + 16);
  puts_.push_back(std::move(put));
  ids_.push_back(last_id_);
  ++live_;
  return last_id_;
}

PendingPut* PendingPuts::find(int id) {
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (at == ids_.end() || *at != id) return nullptr;
  return puts_[static_cast<std::size_t>(at - ids_.begin())].get();
}

std::vector<PendingPut*> PendingPuts::all() {
  std::vector<PendingPut*> list;
  list.reserve(live_);
  for (const auto& put : puts_) {
    if (put != nullptr) list.push_back(put.get());
  }
  return list;
}

void PendingPuts::drop(PendingPut& put) {
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), put.id);
  puts_[static_cast<std::size_t>(at - ids_.begin())].reset();
  --live_;
}

void PendingPuts::tidy() {
  if (live_ == 0) return clear();
  if (live_ * 2 > puts_.size()) return;
  std::size_t to = 0;
  for (std::size_t from = 0; from < puts_.size(); ++from) {
    if (puts_[from] == nullptr) continue;
    ids_[to] = ids_[from];
    puts_[to++] = std::move(puts_[from]);
  }
  puts_.resize(to);
  ids_.resize(to);
}

void PendingPuts::clear() {
  puts_.clear();
  ids_.clear();
  live_ = 0;
}

}  // namespace forebay::pnc
