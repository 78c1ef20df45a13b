// A node's log of one file as it lies on the disk: a page that says what it is, slots of fixed size, and a
// ring of bytes. What a crash leaves of it is read by the next program, so nothing here depends on a process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/robust_lock.hpp"
#include "storage/descriptors.hpp"

namespace forebay {

inline constexpr std::uint32_t kLogVersion = 2;

/// Written once, when the log is made; `checksum` covers the rest.
struct LogIdentity {
  char magic[8];           ///< "FOREBAYL"
  std::uint32_t version;   ///< kLogVersion
  std::uint32_t bytes_of;  ///< a slot: other builds may differ
  std::uint64_t device, inode;
  std::int64_t generation;    ///< of the file's opening: the same in the logs of all its nodes
  std::int64_t slots;         ///< how many there are
  std::int64_t capacity;      ///< bytes of the ring
  std::int64_t stripe_bytes;  ///< how the file is written
  std::int32_t node, nodes;   ///< of the file's ranks
  std::int64_t fills, mark;   ///< NodeLog::Wish
  std::int64_t level1;        ///< bytes of a segment of TCIO's level 1; 0: there is none
  std::int64_t ranks;         ///< of the node
  std::uint64_t boot;         ///< of the machine: what its next boot finds of level 1 may be torn
  char host[256];
  char path[1024];  ///< the file, from the root folder
  std::uint64_t checksum;

  std::uint64_t right_checksum() const;
  bool valid() const;
};

/// The state of what the ranks of the node share. Positions are bytes ever appended: a position lies at
/// `position % capacity` of the ring.
struct LogState {
  RobustLock lock;                     ///< of what appends change
  RobustLock drain;                    ///< who writes to the file
  std::atomic<std::int64_t> next;      ///< number of the next slot
  std::atomic<std::int64_t> tail;      ///< position of the next bytes
  std::atomic<std::int64_t> first;     ///< the oldest slot that is not in the file yet
  std::atomic<std::int64_t> head;      ///< its position
  std::atomic<std::int64_t> pending;   ///< bytes put, not in the file yet
  std::atomic<std::uint32_t> drained;  ///< changes with `first`: to wait for
  std::atomic<std::uint32_t> sleepers;
  std::atomic<std::int64_t> sealed_slot;  ///< before it are the appends of collective calls up to the next
  std::atomic<std::int64_t> sealed_call;
  std::atomic<std::int64_t> told_call;   ///< up to which the mark says that they are in the file
  std::atomic<std::int64_t> mark_at;     ///< where it says so; 0: it does not
  std::atomic<std::uint32_t> off;        ///< nothing is appended any more
  std::atomic<std::uint32_t> closing;    ///< its ranks have closed the file, and wait for nothing
  std::atomic<std::int64_t> drained_at;  ///< nanoseconds of the steady clock, for people
};

enum class SlotState : std::uint32_t { free, reserved, whole, nothing };

/// One append. Its data lie in the ring: the table of extents where there are several, then their bytes.
struct LogSlot {
  std::atomic<SlotState> state;
  std::int32_t rank;  ///< of the node, whose append it is
  std::int64_t number;
  std::int64_t position;    ///< of its data
  std::int64_t data;        ///< bytes in the ring
  std::int64_t begin, end;  ///< hull of its extents in the file
  std::int64_t extents;     ///< 1: the hull is the extent
  std::int64_t bytes;       ///< of the file
  std::uint64_t data_checksum;
  std::uint64_t checksum;  ///< of the numbers above but the state

  std::uint64_t right_checksum() const;
};
static_assert(std::atomic<SlotState>::is_always_lock_free);

struct LogExtent {
  std::int64_t offset, length;
};

inline constexpr std::int64_t kLogPage = 4096;

/// Where things lie in the log's file: the page, the slots, for each rank the state of its level 1, and the
/// memory for that, then the ring.
struct LogPlan {
  explicit LogPlan(const LogIdentity& identity);
  static std::int64_t pages(std::int64_t bytes) { return (bytes + kLogPage - 1) / kLogPage * kLogPage; }

  std::int64_t states;   ///< of level 1
  std::int64_t level1s;  ///< of rank 0; before it all has its room from the start
  std::int64_t level1;   ///< bytes of one
  std::int64_t ring;     ///< up to here the file is mapped
};

struct LogPage {
  LogIdentity identity;
  alignas(64) LogState state;
};
static_assert(sizeof(LogPage) <= kLogPage);

}  // namespace forebay
