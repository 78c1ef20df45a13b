// The locks that keep ranks which complete blocks from each other, and the others from them.
#include "engine/sieve.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/waiting.hpp"
#include "storage/file_lock.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kBlock = 512 << 10;
constexpr std::size_t kMostRuns = 8192;
// A write call against the copies of what lies between two runs, there and back.
constexpr std::int64_t kMostGap = 4096;
constexpr std::int64_t kMostStep = 4096;
constexpr std::size_t kLook = 16;
constexpr std::size_t kLeastRuns = 3;
constexpr int kLetsOthersGo = 3;
// Who passes is in the middle of a write, and no more of them come in.
constexpr int kYields = 100;
constexpr int kMostTries = 10'000;  // a second
// Behind any end.
constexpr std::int64_t kGate = (std::int64_t{1} << 62) - 1;

bool ascend(std::span<const Run> runs) {
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].file < runs[i - 1].file + runs[i - 1].length) return false;
  }
  return true;
}

// A program may hold a lock of its own for as long as it likes.
auto in_time() {
  return [i = 0]() mutable {
    if (i < kYields)
      yield();
    else
      sleep_for(100'000);
    return ++i < kMostTries;
  };
}

std::int64_t end_of(const Run& run) {
  return run.file + run.length;
}

}  // namespace

bool Sieve::worth(Cursor& cursor) {
  if (cursor.hull().size() < static_cast<std::int64_t>(kLook)) return false;
  std::array<Run, kLook> first;
  cursor.start((cursor.hull().size() / 4096 + 2) * 4096);
  const std::size_t n = cursor.take(kNoOffset, first);
  return n == kLook && ascend(first) &&
         end_of(first.back()) - first.front().file <= static_cast<std::int64_t>(kLook) * kMostStep;
}

// Not for a time: a block may be on its way to a slow disk. Who fills and dies lets the lock go.
void Sieve::wait_for_blocks(NodeWindow& sync_point, int descriptor) {
  const auto while_filling = [&] {
    sleep_for(50'000);
    return sync_point.filling();
  };
  for (int i = 0; i < kLetsOthersGo; ++i) {
    sync_point.end_bypass();
    {
      const FileLock after(descriptor, kGate, 1, while_filling);
    }
    if (!sync_point.begin_bypass()) return;
  }
  const FileLock after(descriptor, kGate, 1, while_filling);
}

struct Sieve::Ways {
  int descriptor;
  NodeWindow& sync_point;
  const OpenMark* mark;
  Storage& storage;
  std::int64_t stripe;
  Counters& counters;

  Status write(const Piece& piece) const {
    counters.count_write(piece.offset, piece.length, stripe);
    return storage.write({&piece, 1});
  }
};

bool Sieve::write(const Put& put, int descriptor, NodeWindow& sync_point, const OpenMark* mark,
                  Storage& storage, std::int64_t stripe, Counters& counters, Status& status) {
  if (block_ == nullptr) block_ = std::make_unique_for_overwrite<std::byte[]>(kBlock);
  runs_.resize(kMostRuns);
  struct Filling {
    explicit Filling(NodeWindow& m) : sync_point(m) { sync_point.begin_filling(); }
    ~Filling() { sync_point.end_filling(); }
    NodeWindow& sync_point;
  } const filling(sync_point);
  const FileLock gate(descriptor, kGate, 1, in_time(), FileLock::Kind::shared);
  // Who holds it now holds the whole file, and nobody fills.
  if (!gate.held()) return false;
  const Ways ways{descriptor, sync_point, mark, storage, stripe, counters};
  put.cursor->start(kBlock);
  for (std::int64_t next = put.cursor->peek(); next != kNoOffset && status.ok(); next = put.cursor->peek()) {
    const std::int64_t limit = (next / kBlock + 1) * kBlock;
    while (const std::size_t n = put.cursor->take(limit, runs_)) {
      const std::span<const Run> runs(runs_.data(), n);
      counters.pieces += static_cast<std::int64_t>(n);
      for (const Run& run : runs) counters.bytes += run.length;
      // Runs of which later ones may lie over earlier ones keep their order within one group.
      const bool sorted = ascend(runs);
      for (std::size_t first = 0; first < n && status.ok();) {
        std::size_t last = sorted ? first + 1 : n;
        while (last < n && runs[last].file - end_of(runs[last - 1]) <= kMostGap) ++last;
        status = write_group(runs.subspan(first, last - first), *put.source, ways);
        first = last;
      }
      if (!status.ok()) break;
    }
  }
  return true;
}

Status Sieve::write_group(std::span<const Run> runs, Source& source, const Ways& ways) {
  std::int64_t begin = runs.front().file, end = end_of(runs.front()), bytes = 0;
  for (const Run& run : runs) {
    begin = std::min(begin, run.file);
    end = std::max(end, end_of(run));
    bytes += run.length;
  }
  const FileLock range(ways.descriptor, begin, end - begin);
  // What has no holes needs neither to be read nor to be certain.
  const bool whole = bytes == end - begin && ascend(runs);
  std::optional<OpenMark::Alone> alone;
  bool fills = !whole && range.held() && runs.size() >= kLeastRuns;
  for (int i = 0; fills && ways.sync_point.others_bypass(); ++i) {
    if (i == kYields) fills = false;
    yield();
  }
  if (fills && ways.mark != nullptr) fills = alone.emplace(*ways.mark).certain();
  std::byte* const block = block_.get();
  if (fills) {
    ways.counters.count_read(end - begin);
    ++ways.counters.rmw_blocks;
    if (Status status = ways.storage.read(begin, block, end - begin); !status.ok()) return status;
  }
  if (fills || whole) {
    source.produce(runs, block, begin);
    return ways.write({begin, block, end - begin});
  }
  for (const Run& run : runs) {
    source.produce({&run, 1}, block, run.file);
    if (Status status = ways.write({run.file, block, run.length}); !status.ok()) return status;
  }
  return {};
}

}  // namespace forebay
