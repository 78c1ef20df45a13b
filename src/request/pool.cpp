// Keeping pending requests in order and counting what they hold.
#include "request/pool.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace forebay {

Pool::Id Pool::add(PooledRequest request) {
  assert(request.cursor && request.source);
  own_bytes_ += request.own_bytes;
  user_bytes_ += request.user_bytes;
  entries_.push_back({next_id_, std::move(request)});
  return next_id_++;
}

std::size_t Pool::index_of(Id id) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), id,
                                      [](const Entry& entry, Id wanted) { return entry.id < wanted; });
  const bool there = found != entries_.end() && found->id == id && found->request.cursor;
  return there ? static_cast<std::size_t>(found - entries_.begin()) : entries_.size();
}

PooledRequest* Pool::find(Id id) {
  const std::size_t index = index_of(id);
  return index < entries_.size() ? &entries_[index].request : nullptr;
}

std::vector<Put> Pool::puts() const {
  std::vector<Put> puts;
  puts.reserve(size());
  for (const Entry& entry : entries_) {
    if (entry.request.cursor) puts.push_back({entry.request.cursor.get(), entry.request.source.get()});
  }
  return puts;
}

std::vector<Put> Pool::puts(std::span<const Id> ids) const {
  std::vector<Id> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<Put> puts;
  puts.reserve(sorted.size());
  for (const Id id : sorted) {
    const std::size_t index = index_of(id);
    if (index == entries_.size()) continue;
    const PooledRequest& request = entries_[index].request;
    puts.push_back({request.cursor.get(), request.source.get()});
  }
  return puts;
}

std::size_t Pool::remove(std::span<const Id> ids) {
  std::size_t removed = 0;
  for (const Id id : ids) {
    PooledRequest* request = find(id);
    if (request == nullptr) continue;
    own_bytes_ -= request->own_bytes;
    user_bytes_ -= request->user_bytes;
    *request = {};
    ++gone_;
    ++removed;
  }
  // Closing the gaps only when they are the larger part keeps the cost of a removal constant.
  if (2 * gone_ > entries_.size()) {
    std::erase_if(entries_, [](const Entry& entry) { return !entry.request.cursor; });
    gone_ = 0;
  }
  return removed;
}

void Pool::clear() {
  entries_.clear();
  gone_ = 0;
  own_bytes_ = 0;
  user_bytes_ = 0;
}

}  // namespace forebay
