// Reads: each rank for itself, or all together.
#include <vector>

#include "engine/agreement.hpp"
#include "engine/file_state.hpp"

namespace forebay {

Status CoreFile::State::write_kept(Extent range) {
  if (behind) return write_pool_alone();
  return on_node ? on_node->segments.drain(range) : Status{};
}

Status CoreFile::read_at(std::int64_t offset, void* data, std::int64_t length) {
  State& s = *state_;
  const StageTimer timer(s.counters, Stage::read);
  if (Status status = s.write_kept({offset, offset + length}); !status.ok()) return status;
  ++s.counters.reads;
  s.counters.read_bytes += length;
  return s.storage->read(offset, static_cast<std::byte*>(data), length);
}

Status CoreFile::read(std::span<const Get> gets) {
  State& s = *state_;
  const StageTimer timer(s.counters, Stage::read);
  Status status;
  for (const Get& get : gets) {
    if (!status.ok()) break;
    status = s.write_kept(get.cursor->hull());
    if (status.ok()) status = s.bypass.read(get, *s.storage, s.counters);
  }
  return status;
}

Status CoreFile::read_all(std::span<const Get> gets) {
  meet();
  return agree_outcome(state_->comm.get(), read(gets));
}

}  // namespace forebay
