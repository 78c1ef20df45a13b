// Level 1 of write-behind: one rank's puts, kept beyond the calls that made them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "request/arena.hpp"
#include "request/memory_stream.hpp"
#include "request/request.hpp"

namespace forebay {

/// Copies of puts: each one's bytes as they go to the file, and a cursor over its runs. Data are taken in two
/// steps, since whether a call's puts are kept is decided by all its ranks: stage() copies, then keep() or
/// forget_staged().
///
/// A signal handler may walk what is kept at any moment: entries are published one by one and never move.
class Pool {
 public:
  /// At most `bytes` for data, cursors and the lists behind them.
  explicit Pool(std::int64_t bytes) : bound_(bytes) {}
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Copies the puts' bytes. False, and nothing is staged, where they are more than `most`, where they do not
  /// fit beside what is kept, where a cursor cannot be copied, or where memory lacks.
  bool stage(std::span<const Put> puts, std::int64_t most = std::numeric_limits<std::int64_t>::max());
  void keep();
  void forget_staged();
  /// Forgets everything. The memory stays for the next puts, and for other pools when this one goes.
  void clear();

  bool empty() const { return kept_.load(std::memory_order_relaxed) == 0; }
  /// Bytes that count against the bound, of what is kept.
  std::int64_t bytes() const { return kept_mark_.bytes; }
  std::int64_t peak_bytes() const { return peak_bytes_; }
  /// A range that holds all that is kept, and the alignment of its runs, as of a cursor (4096 when empty).
  Extent hull() const { return kept_mark_.entries == 0 ? Extent{} : kept_mark_.hull; }
  std::int64_t alignment() const { return kept_mark_.alignment; }

  /// Appends what is kept, in the order in which it came. The puts live until clear(). Throws std::bad_alloc.
  void append_to(std::vector<Put>& puts);

  /// Calls f for each put that is kept, in order; takes no memory.
  template <class F>
  void for_each(F&& f) {
    std::size_t left = kept_.load(std::memory_order_acquire);
    for (Chunk* chunk = first_.get(); left > 0; chunk = chunk->next.get()) {
      for (std::size_t i = 0; i < kChunk && left > 0; ++i, --left) {
        Entry& entry = chunk->entries[i];
        f(Put{entry.cursor.get(), &entry.source});
      }
    }
  }

 private:
  static constexpr std::size_t kChunk = 64;
  struct Entry {
    std::unique_ptr<Cursor> cursor;
    MemorySource source{nullptr};
  };
  struct Chunk {
    Entry entries[kChunk];
    std::unique_ptr<Chunk> next;
  };
  // Where the next bytes and the next entry go.
  struct Mark {
    std::size_t used = 0;  // of the arena
    std::size_t entries = 0;
    Chunk* chunk = nullptr;  // holds the last entry
    const void* shared = nullptr;
    std::int64_t bytes = 0;
    Extent hull{kNoOffset, 0};
    std::int64_t alignment = 4096;
  };

  bool stage_one(const Put& put);
  Entry& entry();
  void release_entries(const Mark& from, std::size_t until);

  std::int64_t bound_;
  std::optional<Arena> arena_;  // as large as the bound: puts are never turned away for where their bytes lie
  std::unique_ptr<Chunk> first_;
  Mark staged_;     // behind what is staged
  Mark kept_mark_;  // behind what is kept
  std::atomic<std::size_t> kept_{0};
  std::int64_t peak_bytes_ = 0;
};

}  // namespace forebay
