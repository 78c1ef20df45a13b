// What commit mode keeps of one file on this rank, and what becomes of it when the process ends.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/counters.hpp"
#include "base/memory_account.hpp"
#include "base/settings.hpp"
#include "engine/end_counts.hpp"
#include "engine/node_memory.hpp"
#include "engine/termination.hpp"
#include "request/extent_set.hpp"
#include "request/pool.hpp"
#include "storage/bypass.hpp"
#include "storage/stored_file.hpp"

namespace forebay {

/// How much of what a rank may keep (pool_bound) a collective call may have from a rank to be kept: more pays
/// for a flush of its own, since one copy more of its bytes costs what merging it would save (measured on one
/// node).
std::int64_t most_of_small_call(const Settings& settings);

/// A number in the file that counts what is kept: big-endian, `width` bytes; 0: there is none.
struct CountAtExit {
  std::int64_t offset = 0;
  int width = 0;
  std::int64_t value = 0;
};

class WriteBehind final : public Holder {
 public:
  /// File, storage and counters outlive this. The file has a descriptor. `between_nodes`: of the file's
  /// ranks, where these share no memory; else null.
  WriteBehind(const Settings& settings, const StoredFile& file, const std::string& path, Storage& storage,
              Counters& counters, NodeMemory end_counts, const Topology& topology, const Communicator* between_nodes);
  ~WriteBehind() override;

  /// Keeps what was staged.
  void keep();
  /// Room for one more extent in `together`; false where memory lacks.
  bool make_room() noexcept;
  /// After everything was written.
  void clear();
  /// After what this rank keeps was written.
  void clear_pool();
  /// While this lives, requests of the pool are walked, and meetings waited for.
  class InUse;
  /// Whether the oldest bytes have been kept for too long.
  bool overdue() const;

  void write_out(Ending ending) noexcept override;
  /// As the process ends: what the node kept is in the file.
  void written_by_node(Ending ending) noexcept;
  void begin_meeting() noexcept override;
  void end_meeting() noexcept override;

  Pool pool;
  /// Where the collective calls whose puts are kept put something, on any rank: the same on all ranks.
  ExtentSet together;
  bool alone = false;  ///< independent puts of this rank are among what is kept
  int calls = 0;       ///< collective calls that are kept
  int rest = 0;        ///< so many collective calls more are not kept; the same on all ranks
  int patience = 1;    ///< how many that will be after the next conflict
  CountAtExit count;   ///< but for its value
  EndCounts counts;    ///< which is made of these

 private:
  Status write_all(Storage& storage);
  bool raise_count(std::int64_t whole) noexcept;

  NodeMemory shared_;  // behind counts
  MemoryClaim claim_;
  std::string path_;
  const StoredFile& file_;
  Storage& storage_;
  Counters& counters_;
  Bypass bypass_;
  std::chrono::steady_clock::duration most_age_;
  std::chrono::steady_clock::time_point since_;
  const Communicator* between_nodes_;
  std::unique_ptr<Communicator::Started> meeting_;
  std::array<std::int64_t, 3> met_{};
  std::atomic<bool> in_use_{false};
  bool written_out_ = false;  // by the end of the process, which may be a while after
};

}  // namespace forebay
