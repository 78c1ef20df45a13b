// Runs near each other are one write where their holes may be filled.
#include "segments/segment_writer.hpp"

#include <cerrno>
#include <new>
#include <optional>
#include <utility>

#include "request/byte_order.hpp"
#include "storage/file_lock.hpp"

namespace forebay {
namespace {

constexpr std::size_t kMostPieces = 1024;
// Holes up to this are cheaper read and written with what lies around them than by a write each.
constexpr std::int64_t kHole = 4096;
// Runs so far apart on average have their holes read one by one.
constexpr std::int64_t kApart = 16 << 10;
constexpr int kLeastRuns = 3;  // fewer are written as they are

/// Calls f(part, runs) for the parts of a segment whose runs lie near each other.
template <class F>
void for_each_group(const SegmentBytes& bytes, int segment, F&& f) {
  Extent group;
  int runs = 0;
  bytes.for_each_run(segment, [&](std::int64_t begin, std::int64_t length) {
    if (runs > 0 && begin - group.end > kHole) {
      f(group, runs);
      runs = 0;
    }
    if (runs++ == 0) group.begin = begin;
    group.end = begin + length;
  });
  if (runs > 0) f(group, runs);
}

}  // namespace

void SegmentWriter::attach(Storage& storage, Counters& counters, bool fills_holes, int lock,
                           const OpenMark* mark) {
  storage_ = &storage;
  counters_ = &counters;
  fills_holes_ = fills_holes;
  lock_ = lock;
  mark_ = mark;
  pieces_.reserve(kMostPieces);
}

std::byte* SegmentWriter::block() {
  if (block_ == nullptr)
    block_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(area_.bytes));
  return block_.get();
}

// A rank that bypasses may be writing bytes that are holes here. Both sides change the number, so that one
// comes first: either it is seen here, or whoever comes later sees there that this segment is dirty, and
// waits for its lock.
bool SegmentWriter::may_fill() const {
  return fills_holes_ && area_.header->bypassing.fetch_add(0, std::memory_order_seq_cst) == 0;
}

void SegmentWriter::begin_bypass() {
  if (!std::exchange(bypassing_, true)) area_.header->bypassing.fetch_add(1, std::memory_order_seq_cst);
}

void SegmentWriter::end_bypass() {
  if (std::exchange(bypassing_, false)) area_.header->bypassing.fetch_sub(1, std::memory_order_release);
}

// What is not marked has no meaning in memory: there the file's bytes come in. False: it cannot be read.
bool SegmentWriter::fill_holes(int segment, Extent part, int runs) {
  const std::int64_t origin = area_.range_of(segment).begin;
  std::byte* const data = area_.data_of(segment);
  // A read costs as much as copying some kilobytes.
  const bool one_by_one = part.size() / runs >= kApart;
  std::byte* const from = one_by_one ? nullptr : block();
  if (!one_by_one) {
    if (!storage_->read(origin + part.begin, from, part.size()).ok()) return false;
    counters_->count_read(part.size());
  }
  std::int64_t hole = part.begin;
  bool well = true;
  bytes_.for_each_run(segment, part.begin, part.end, [&](std::int64_t begin, std::int64_t length) {
    if (begin > hole && one_by_one) {
      well = well && storage_->read(origin + hole, data + hole, begin - hole).ok();
      counters_->count_read(begin - hole);
    } else if (begin > hole) {
      copy_bytes(from + (hole - part.begin), data + hole, static_cast<std::size_t>(begin - hole));
    }
    hole = begin + length;
  });
  if (well) ++counters_->rmw_blocks;
  return well;
}

Status SegmentWriter::write(int segment) {
  if (bytes_.dirty(segment) == 0) return {};
  const StageTimer timer(*counters_, Stage::write);
  const std::int64_t origin = area_.range_of(segment).begin;
  // Of what is full no other node keeps anything.
  const bool full = bytes_.full(segment);
  std::optional<FileLock> others;
  if (lock_ >= 0 && !full) others.emplace(lock_, origin, area_.bytes);
  if (others && !others->held()) return from_errno(errno, "cannot lock a range of the file before a write");
  Status status;
  const auto flush = [&] {
    if (status.ok() && !pieces_.empty()) status = storage_->write(pieces_);
    pieces_.clear();
  };
  try {
    const auto add = [&](std::int64_t begin, std::int64_t length) {
      pieces_.push_back({origin + begin, area_.data_of(segment) + begin, length});
      counters_->count_write(origin + begin, length, area_.bytes);
      if (pieces_.size() == kMostPieces) flush();
    };
    std::optional<OpenMark::Alone> alone;
    if (mark_ != nullptr && !full && may_fill()) alone.emplace(*mark_);
    if (!full && may_fill() && (!alone || alone->certain())) {
      for_each_group(bytes_, segment, [&](Extent part, int runs) {
        if (runs < kLeastRuns || !fill_holes(segment, part, runs))
          bytes_.for_each_run(segment, part.begin, part.end, add);
        else
          add(part.begin, part.size());
      });
    } else {
      bytes_.for_each_run(segment, add);
    }
    flush();
  } catch (const std::bad_alloc&) {  // of a message
    pieces_.clear();
    status = {Code::no_memory, "no memory"};
  }
  if (status.ok()) bytes_.clear(segment);
  return status;
}

}  // namespace forebay
