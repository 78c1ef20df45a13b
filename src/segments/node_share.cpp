#include "segments/node_share.hpp"

#include <algorithm>
#include <cstring>

#include "base/section.hpp"

namespace forebay {

NodeSegments::Share::Share(NodeSegments& of) : of_(of) {
  const auto& dirty = of.directory_.list_dirty(0, kNoOffset);
  segments_.reserve(dirty.size());
  std::uint64_t bits = 4096;
  for (const auto& [index, segment] : dirty) {
    if (index % of.area_.ranks != of.area_.rank) continue;
    of.locks_.lock(segment);
    segments_.push_back(segment);
    dirty_ += of.bytes_.dirty(segment);
    const std::int64_t origin = index * of.area_.bytes;
    of.bytes_.for_each_run(segment, [&](std::int64_t begin, std::int64_t length) {
      if (hull_.empty()) hull_.begin = origin + begin;
      hull_.end = origin + begin + length;
      bits |= static_cast<std::uint64_t>((origin + begin) | (origin + begin + length));
    });
  }
  alignment_ = static_cast<std::int64_t>(bits & -bits);
  // Locked, but nothing changes: the process may end while ranks wait for each other.
  for (std::size_t i = 0; i < segments_.size(); ++i) Section::leave();
}

NodeSegments::Share::~Share() {
  for (const int segment : segments_) {
    Section::enter();
    of_.locks_.unlock(segment);
  }
}

void NodeSegments::Share::forget() {
  const Section section;
  for (const int segment : segments_) of_.bytes_.clear(segment);
}

void NodeSegments::Share::start(std::int64_t) {
  at_ = 0;
  next_ = {};
  look();
}

// Finds the run at or after next_.end.
void NodeSegments::Share::look() {
  for (; at_ < segments_.size(); ++at_, next_ = {}) {
    const std::uint64_t* const map = of_.area_.words(segments_[at_]);
    next_.begin = find_bit(map, next_.end, of_.area_.bytes, true);
    if (next_.begin == of_.area_.bytes) continue;
    next_.end = find_bit(map, next_.begin, of_.area_.bytes, false);
    return;
  }
}

std::int64_t NodeSegments::Share::peek() {
  if (at_ == segments_.size()) return kNoOffset;
  return of_.area_.range_of(segments_[at_]).begin + next_.begin;
}

std::size_t NodeSegments::Share::take(std::int64_t limit, std::span<Run> out) {
  std::size_t taken = 0;
  while (taken < out.size()) {
    const std::int64_t begin = peek();
    if (begin >= limit) break;
    const std::int64_t length = std::min(next_.size(), limit - begin);
    out[taken++] = {begin, of_.area_.place_of(segments_[at_]) + next_.begin, length};
    next_.begin += length;
    if (next_.empty()) look();
  }
  return taken;
}

void NodeSegments::Share::produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) {
  for (const Run& run : runs) {
    std::memcpy(destination + (run.file - origin), of_.area_.slots + run.stream,
                static_cast<std::size_t>(run.length));
  }
}

}  // namespace forebay
