// What happens to a file's bytes between a call and the file: nothing is kept, or a rank or its node keeps
// some of them for a while. CoreFile has one keeper and never asks which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "engine/core_file.hpp"
#include "layout/file_domains.hpp"
#include "request/request.hpp"
#include "storage/storage.hpp"

namespace forebay {

struct FileContext;
struct SegmentMemory;

/// CoreFile's functions of the same names say what these do; what is defined here is right where the file
/// holds everything that was put.
class Keeper {
 public:
  explicit Keeper(FileContext& file) : file_(file) {}
  virtual ~Keeper() = default;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Collective. `puts` have something to write; `mine`: how this rank stands so far.
  virtual Status write_all(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max,
                           When when) = 0;
  virtual Status write(std::span<const Put> puts, When when) = 0;
  virtual Status write_at(const Piece& piece) = 0;
  virtual bool completes(std::span<const Put> /*puts*/) const { return false; }
  virtual Status flush() { return {}; }
  /// Collective: as far as that is needed.
  virtual Status flush_for(FlushFor /*why*/) { return flush(); }
  /// Whether a sync has done all with that.
  virtual bool syncs_in_log() const { return false; }
  /// Whether flush() leaves on no rank before all have entered, and have written.
  virtual bool flush_waits() const { return false; }
  virtual Status flush_independent() { return {}; }

  virtual Status read_at(std::int64_t offset, std::byte* data, std::int64_t length);
  virtual Status read(std::span<const Get> gets);
  /// Collective read: before its first reduction, of which `kept` is to become a maximum, and, where that is
  /// not 0, a flush after it.
  virtual Status before_collective_read(std::int64_t& kept) {
    kept = 0;
    return {};
  }
  virtual Status flush_kept() { return {}; }
  /// Collective: CoreFile::barrier_around_read.
  virtual Status barrier_around_read();

  /// CoreFile::begin_direct_writes, where `collective` after flush().
  virtual Status begin_direct_writes(bool collective) = 0;
  virtual void end_direct_writes() {}
  virtual void handle_given_away() {}
  virtual void space_freed() {}
  virtual void space_taken() {}
  virtual void begin_independent() {}
  /// After flush().
  virtual void end_independent() {}

  virtual bool commits() const { return true; }
  virtual bool holds() const { return false; }
  virtual bool survives() const { return false; }
  virtual std::int64_t segment_bytes() const;
  /// The end of the highest byte kept; 0: nothing is.
  virtual std::int64_t end_of_kept() const { return 0; }

  virtual void count_at_exit(std::int64_t /*offset*/, int /*width*/, std::int64_t /*collective*/,
                             std::int64_t /*independent*/) {}
  virtual Level1Use level1(Level1Memory& /*shared*/) { return Level1Use::own; }
  virtual bool write_in_signal(const Piece& piece) noexcept;

  /// Before the file closes, after flush(): memory for the next file, null where there is none.
  virtual std::shared_ptr<SegmentMemory> close() { return nullptr; }

 protected:
  FileContext& file_;
};

/// How much of what a rank may keep (pool_bound) a collective call may have from a rank to be kept: more pays
/// for a flush of its own, since one copy more of its bytes costs what merging it would save (measured on one
/// node).
std::int64_t most_of_small_call(const Settings& settings);

/// Of a segment, in which a node with so many ranks keeps bytes, or would.
std::int64_t choose_segment_bytes(const Settings& settings, const FileDomains& layout, int ranks);

/// Collective, in commit mode: puts what the caller, the settings and the memory allow in the place of
/// `keeper`. Where nothing can be kept, the mode becomes strict, with a warning. Fails on all ranks
/// or on none.
Status start_keeping(FileContext& file, std::unique_ptr<Keeper>& keeper);

}  // namespace forebay
