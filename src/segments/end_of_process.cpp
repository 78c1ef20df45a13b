// Writing what the node keeps as the process ends, with what a signal handler may do.
#include <chrono>
#include <optional>

#include "base/waiting.hpp"
#include "segments/node_segments.hpp"
#include "storage/emergency_writer.hpp"
#include "storage/file_lock.hpp"

namespace forebay {
namespace {

// A rank that ends waits so long for segments that others have locked.
constexpr auto kMostForSegments = std::chrono::milliseconds(200);

}  // namespace

/// Until when a rank that ends waits for others.
class NodeSegments::Deadline {
 public:
  /// Whether there is time for another try; waits a little.
  bool wait() {
    if (std::chrono::steady_clock::now() >= end_) return false;
    sleep_for(50'000);
    return true;
  }

 private:
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kMostForSegments;
};

// A rank that holds it is copying or writing, and soon done; where it is not, it writes it itself.
bool NodeSegments::lock_in_signal(int segment, Deadline& deadline) {
  do {
    if (locks_.try_lock(segment)) return true;
  } while (deadline.wait());
  return false;
}

bool NodeSegments::write_out_in_signal(int fd) noexcept {
  bool well = true;
  Deadline deadline;
  const auto write_one = [&](int s) {
    if (bytes_.dirty(s) == 0) return;
    // In the middle of a put, or where another thread waits for the other ranks.
    const bool mine = locks_.is_mine(s);
    if (!mine && !lock_in_signal(s, deadline)) return;
    const std::int64_t origin = area_.range_of(s).begin;
    if (mine) bytes_.undo_changing(s, area_.rank);
    std::optional<FileLock> others;
    if (writer_.lock() >= 0)
      others.emplace(writer_.lock(), origin, area_.bytes, [&] { return deadline.wait(); });
    bool all = origin >= 0 && (!others || others->held());
    bytes_.for_each_run(s, [&](std::int64_t begin, std::int64_t length) {
      all = all && pwrite_all(fd, {origin + begin, area_.data_of(s) + begin, length});
    });
    if (all) bytes_.clear(s);
    if (!mine) locks_.unlock(s);
    well = well && all;
  };
  // Its own share first, then what the others have not written by then.
  for (int s = 0; s < area_.count; ++s) {
    if (directory_.index_of(s) % area_.ranks == area_.rank) write_one(s);
  }
  for (int s = 0; s < area_.count; ++s) write_one(s);
  return well;
}

bool NodeSegments::bypass_in_signal(int fd, Piece piece) noexcept {
  // For good: nobody fills holes there any more.
  writer_.begin_bypass();
  Deadline deadline;
  const std::int64_t index = piece.offset / area_.bytes;
  int found = -1;
  for (int s = 0; s < area_.count && found < 0; ++s) {
    if (directory_.index_of(s) == index) found = s;
  }
  const bool mine = found >= 0 && locks_.is_mine(found);
  const bool locked = found >= 0 && !mine && lock_in_signal(found, deadline);
  if (found >= 0 && !mine && !locked) return false;  // somebody may be filling holes there
  std::optional<FileLock> others;
  const std::int64_t origin = index * area_.bytes;
  if (writer_.lock() >= 0)
    others.emplace(writer_.lock(), origin, area_.bytes, [&] { return deadline.wait(); });
  const bool well = (!others || others->held()) && pwrite_all(fd, piece);
  if (well && locked && directory_.index_of(found) == index)
    bytes_.clear(found, piece.offset - origin, piece.offset + piece.length - origin);
  if (locked) locks_.unlock(found);
  return well;
}

}  // namespace forebay
