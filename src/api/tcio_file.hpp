// One open TCIO file: a file pointer, level 1 of its writes and the reads that are pending, over the core's
// file, which is level 2 and the way to the disk.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "api/early_reads.hpp"
#include "api/pending_reads.hpp"
#include "base/section.hpp"
#include "base/status.hpp"
#include "engine/core_file.hpp"
#include "engine/termination.hpp"
#include "segments/level1.hpp"

namespace forebay::tcio {

/// The far end of what files are asked for: segments that begin before it can be counted beyond it.
inline constexpr std::int64_t kMostOffset = std::int64_t{1} << 62;

struct Access {
  bool reads = false;
  bool writes = false;
};

/// Collective: whether all ranks want this size, and `mine` is ok on all.
Status agree_on_size(CoreFile& core, std::int64_t bytes, Status mine);

/// Functions that say so are collective; the others are independent. Arguments have been checked: lengths and
/// offsets are not negative, and end at kMostOffset.
class File final : public Holder {
 public:
  /// Over a core file that was opened for this. `buffering`: whether there is a level 1.
  File(std::unique_ptr<CoreFile> core, Access access, bool buffering);
  ~File() override;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  Access access() const { return access_; }
  const std::string& path() const { return core_->path(); }

  Status write_at(std::int64_t offset, const void* data, std::int64_t bytes);
  Status read_at(std::int64_t offset, void* data, std::int64_t bytes);
  /// The same for what most calls are, a piece where the one before was; false: it is something else.
  bool write_piece(std::int64_t offset, const void* data, std::int64_t bytes) {
    const Extent segment = level1_.segment();
    if (offset < segment.begin || bytes > segment.end - offset || bytes >= most_piece_ || bytes == 0 ||
        !level1_.room() || until_look_ <= 0 || !reads_.empty() || !early_.empty())
      return false;
    const Section section;
    --until_look_;
    level1_.copy(offset, data, bytes);
    if (offset + bytes > end_) end_ = offset + bytes;
    return offset + bytes < segment.end || !level1_.full() || moved_on();
  }
  bool read_piece(std::int64_t offset, void* data, std::int64_t bytes) {
    const Extent segment = reads_.segment();
    if (reads_.empty() || offset < segment.begin || bytes > segment.end - offset || bytes >= past_bytes_ ||
        bytes == 0 || !reads_.room())
      return false;
    reads_.add(offset, data, bytes);
    return true;
  }
  std::int64_t position() const { return position_; }
  void move_to(std::int64_t position) { position_ = position; }
  Status size(std::int64_t& bytes);

  Status fetch() {
    Status status = fill();
    early_.clear();
    return status;
  }
  /// Collective, and the four below as well.
  Status fetch_all();
  Status flush() { return hand_on("tcio_flush", &CoreFile::flush); }
  Status sync() { return hand_on("tcio_sync", &CoreFile::sync); }
  /// `mine`: whether this rank could be asked for that.
  Status set_size(std::int64_t bytes, Status mine);
  Status close();

  void write_out(Ending ending) noexcept override;

 private:
  Status begin_writing(Extent range);
  Status look();
  Status fill();
  Status fill_early();
  void remember(const Run& run);
  Status write_within(std::int64_t offset, const void* data, std::int64_t bytes);
  Status write_past(std::int64_t offset, const void* data, std::int64_t bytes);
  Status put_level1();
  Status move_on();
  /// Where level 1 has something there.
  Status move_on_within(Extent range);
  bool moved_on();
  /// Fills and moves on: what a collective call has each rank do first.
  Status settle();
  /// Settles, and has the core go on.
  Status hand_on(const char* function, Status (CoreFile::*next)());

  std::unique_ptr<CoreFile> core_;
  Access access_;
  Level1 level1_;
  PendingReads reads_;
  EarlyReads early_;
  bool remembers_;               // other ranks may write what was read early
  bool wrote_ = false;           // since all met
  std::int64_t past_bytes_;      // reads of at least so many bytes, and writes, gain nothing from level 1
  std::int64_t most_piece_ = 0;  // the same for writes; 0 where there is no level 1 now
  std::int64_t position_ = 0;
  std::int64_t end_ = 0;  // of what this rank wrote since the last flush
  bool watching_ = false;
  std::int64_t until_look_ = 0;  // so many more writes
};

}  // namespace forebay::tcio
