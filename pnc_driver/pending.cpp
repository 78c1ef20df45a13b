// A list in posting order in which dropped entries stay as holes until they are the half, so that waiting for
// 10^5 requests one by one does not move the rest each time.
#include "pending.hpp"

#include <algorithm>

namespace forebay::pnc {

template <class Entry>
int Pending<Entry>::add(std::unique_ptr<Entry> entry) {
  if (live_ == 0) {
    clear();
    last_id_ = Entry::first_id;
  } else {
    last_id_ += 2;
  }
  entry->id = last_id_;
  // Room first, so that nothing is half done where memory lacks; and twice the room, since one by one
  // every request would copy the list.
  if (ids_.size() == ids_.capacity()) ids_.reserve(2 * ids_.size() + 16);
  entries_.push_back(std::move(entry));
  ids_.push_back(last_id_);
  ++live_;
  return last_id_;
}

template <class Entry>
Entry* Pending<Entry>::find(int id) {
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (at == ids_.end() || *at != id) return nullptr;
  return entries_[static_cast<std::size_t>(at - ids_.begin())].get();
}

template <class Entry>
std::vector<Entry*> Pending<Entry>::all() {
  std::vector<Entry*> list;
  list.reserve(live_);
  for (const auto& entry : entries_) {
    if (entry != nullptr) list.push_back(entry.get());
  }
  return list;
}

template <class Entry>
void Pending<Entry>::drop(Entry& entry) {
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), entry.id);
  entries_[static_cast<std::size_t>(at - ids_.begin())].reset();
  --live_;
}

template <class Entry>
void Pending<Entry>::tidy() {
  if (live_ == 0) return clear();
  if (live_ * 2 > entries_.size()) return;
  std::size_t to = 0;
  for (std::size_t from = 0; from < entries_.size(); ++from) {
    if (entries_[from] == nullptr) continue;
    ids_[to] = ids_[from];
    entries_[to++] = std::move(entries_[from]);
  }
  entries_.resize(to);
  ids_.resize(to);
}

template <class Entry>
void Pending<Entry>::clear() {
  entries_.clear();
  ids_.clear();
  live_ = 0;
}

template class Pending<PendingPut>;
template class Pending<PendingGet>;

}  // namespace forebay::pnc
