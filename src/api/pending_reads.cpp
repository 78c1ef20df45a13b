// Collecting addresses, and one read for all of them.
#include "api/pending_reads.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "request/byte_order.hpp"
#include "request/run_cursor.hpp"
#include "request/stream.hpp"

namespace forebay::tcio {
namespace {

/// The stream is the memory of the process.
class AddressSink final : public Sink {
 public:
  void consume(std::span<const Run> runs, const std::byte* window, std::int64_t origin) override {
    for (const Run& run : runs) {
      copy_bytes(window + (run.file - origin),
                 reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(run.stream)),
                 static_cast<std::size_t>(run.length));
    }
  }
};

}  // namespace

void PendingReads::align(std::int64_t offset) {
  runs_.reserve(most_);  // not filled: what is never used is never touched
  begin_ = offset / unit_ * unit_;
}

// As few lists of ascending reads as there can be, since a cursor's runs do not overlap.
std::vector<std::vector<Run>> PendingReads::layers() {
  std::vector<std::vector<Run>> lists;
  if (ascending_) {
    lists.emplace_back(std::move(runs_));
    return lists;
  }
  std::stable_sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.file < b.file; });
  using End = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  for (const Run& run : runs_) {
    std::size_t list = lists.size();
    if (!ends.empty() && ends.top().first <= run.file) {
      list = ends.top().second;
      ends.pop();
    } else {
      lists.emplace_back();
    }
    lists[list].push_back(run);
    ends.emplace(run.file + run.length, list);
  }
  return lists;
}

Status PendingReads::fill(CoreFile& core, bool together) {
  std::vector<std::vector<Run>> lists;
  std::vector<RunCursor<std::vector<Run>>> cursors;
  std::vector<Get> gets;
  AddressSink sink;
  Status status;
  try {
    if (!runs_.empty()) lists = layers();
    cursors.reserve(lists.size());
    gets.reserve(lists.size());
    for (const std::vector<Run>& list : lists) {
      cursors.emplace_back(list);
      gets.push_back({&cursors.back(), &sink});
    }
  } catch (const std::bad_alloc&) {  // in a collective call the others wait
    status = {Code::no_memory, "no memory to read " + core.path()};
    gets.clear();
  }
  if (together) {
    status.update(core.read_all(gets));
  } else if (status.ok() && !gets.empty()) {
    status = core.read(gets);
  }
  // The memory serves the next ones.
  if (lists.size() == 1) runs_ = std::move(lists.front());
  runs_.clear();
  return status;
}

}  // namespace forebay::tcio
