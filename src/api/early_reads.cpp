// What was written is put in order when it has doubled.
#include "api/early_reads.hpp"

#include <algorithm>
#include <new>

#include "api/pending_reads.hpp"

namespace forebay::tcio {
namespace {

constexpr std::size_t kFewWritten = 64;

}  // namespace

void EarlyReads::add(const Run& run) {
  hull_ = empty() ? Extent{run.file, run.file + run.length}
                  : Extent{std::min(hull_.begin, run.file), std::max(hull_.end, run.file + run.length)};
  reads_.add(run);
}

void EarlyReads::written(Extent range) {
  if (!written_.empty()) {
    Extent& last = written_.back();
    if (range.begin <= last.end && range.end >= last.begin && written_.size() > merged_) {
      last = {std::min(last.begin, range.begin), std::max(last.end, range.end)};
      return;
    }
  }
  written_.push_back(range);
  if (written_.size() >= std::max(2 * merged_, kFewWritten)) merge_written();
}

void EarlyReads::merge_written() {
  merged_ = merge_ranges(std::span(written_));
  written_.resize(merged_);
}

Status EarlyReads::read_again(CoreFile& core, std::int64_t unit) {
  merge_written();
  PendingReads list(unit);
  Status status;
  const auto read = [&](std::int64_t file, std::int64_t address, std::int64_t length) {
    if (length <= 0 || !status.ok()) return;
    if (!list.room()) status = list.fill(core, false);
    list.add(file, reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), length);
  };
  try {
    reads_.for_each([&](const Run& run) {
      std::int64_t at = run.file;
      const std::int64_t end = run.file + run.length;
      const std::int64_t address = run.stream - run.file;
      auto own = std::ranges::upper_bound(written_, at, {}, &Extent::end);
      for (; own != written_.end() && own->begin < end; ++own) {
        read(at, address + at, own->begin - at);
        at = std::max(at, own->end);
      }
      read(at, address + at, end - at);
    });
    if (status.ok()) status = list.fill(core, false);
  } catch (const std::bad_alloc&) {
    status = {Code::no_memory, "no memory to read " + core.path()};
  }
  return status;
}

}  // namespace forebay::tcio
