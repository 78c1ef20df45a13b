// A stage as it lies on the disk: two pages that say what it is, a table with a place for each unit of the
// file, slots, and the bytes. The processes of a node map all but the bytes, and the next program finds it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "stage/file_stamp.hpp"

namespace forebay {

inline constexpr std::uint32_t kStageVersion = 1;

/// Written once, when the stage is made; `checksum` covers the rest.
struct StageIdentity {
  char magic[8];           ///< "FOREBAYS"
  std::uint32_t version;   ///< kStageVersion
  std::uint32_t bytes_of;  ///< a slot: other builds may differ
  std::uint64_t device, inode;
  std::int64_t size;        ///< of the file, in bytes
  std::int64_t changed_at;  ///< FileStamp
  std::int64_t made_at;     ///< nanoseconds since 1970, by the node's clock
  std::int64_t unit;        ///< bytes that are fetched and kept together
  std::int64_t slots;       ///< of a compact one; 0: bytes lie where they lie in the file
  char boot[40];            ///< the machine's start: what is there after the next one need not be whole
  char host[256];
  char path[3200];  ///< of the file
  std::uint64_t checksum;

  std::uint64_t right_checksum() const;
  /// Whether this library can use it, on this host since it was started.
  bool usable() const;
  FileStamp stamp() const;
  std::int64_t units() const { return (size + unit - 1) / unit; }
};

/// What its processes share.
struct StageState {
  std::atomic<std::int64_t> used;       ///< bytes that are there or come, of an extent stage that is bounded
  std::atomic<std::int64_t> bound;      ///< for these
  std::atomic<std::int64_t> next_slot;  ///< the lowest that was never used
  std::atomic<std::uint64_t> clock;     ///< counts uses, to find what was used least recently
  std::atomic<std::int64_t> opened_at;  ///< when it was opened last, nanoseconds since 1970
  std::atomic<std::uint32_t> said;      ///< somebody has said that it does not work
};

/// A place for a unit in a compact stage.
struct StageSlot {
  std::atomic<std::int64_t> unit;         ///< plus 1; 0: none
  std::atomic<std::uint64_t> used;        ///< StageState::clock, when it was read last
  std::atomic<std::uint64_t> generation;  ///< changes when its bytes do
};

/// Where the unit lies, plus 1; 0: it is not there. A unit that is there is whole.
using StageEntry = std::atomic<std::uint32_t>;
static_assert(StageEntry::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

inline constexpr std::int64_t kStagePage = 4096;
inline constexpr std::int64_t kMostUnits = std::int64_t{1} << 22;  ///< 16 MiB of table

/// Where things lie in the stage's file.
struct StagePlan {
  std::int64_t units, slots;
  std::int64_t table() const { return 2 * kStagePage; }
  std::int64_t slot_table() const {
    return table() + (units * static_cast<std::int64_t>(sizeof(StageEntry)) + 63) / 64 * 64;
  }
  std::int64_t mapped() const { return slot_table() + slots * static_cast<std::int64_t>(sizeof(StageSlot)); }
  std::int64_t data() const { return (mapped() + kStagePage - 1) / kStagePage * kStagePage; }
};

struct StagePage {
  StageIdentity identity;
  alignas(kStagePage) StageState state;
};
static_assert(offsetof(StagePage, state) == kStagePage && sizeof(StagePage) == 2 * kStagePage);

/// Nanoseconds since 1970, by the node's clock.
std::int64_t time_of_day();
/// Whether a change of the file after that time must change its modification time.
bool is_certain(const FileStamp& file, std::int64_t time);
/// What the machine says of its last start; empty: nothing.
std::string boot_of_machine();

/// Units for a file of so many bytes whose stripe is so long.
std::int64_t choose_unit(std::int64_t stripe, std::int64_t size);

}  // namespace forebay
