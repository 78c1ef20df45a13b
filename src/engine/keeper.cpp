#include "engine/keeper.hpp"

#include <algorithm>

#include "base/memory_account.hpp"
#include "engine/file_context.hpp"
#include "segments/node_segments.hpp"
#include "storage/emergency_writer.hpp"

namespace forebay {

Status Keeper::read_at(std::int64_t offset, std::byte* data, std::int64_t length) {
  file_.counters.count_read(length);
  return file_.storage->read(offset, data, length);
}

Status Keeper::read(std::span<const Get> gets) {
  Status status;
  for (const Get& get : gets) {
    if (!status.ok()) break;
    status = file_.bypass.read(get, *file_.storage, file_.counters);
  }
  return status;
}

Status Keeper::barrier_around_read() {
  file_.barrier();
  return {};
}

std::int64_t Keeper::segment_bytes() const {
  return choose_segment_bytes(file_.settings, file_.layout, file_.nodes->topology().local_ranks);
}

bool Keeper::write_in_signal(const Piece& piece) noexcept {
  return pwrite_all(file_.file.descriptor(), piece);
}

std::int64_t most_of_small_call(const Settings& settings) {
  constexpr std::int64_t small = 256 << 10;
  return std::max(small, pool_bound(settings) / 16);
}

std::int64_t choose_segment_bytes(const Settings& settings, const FileDomains& layout, int ranks) {
  constexpr std::int64_t most = 1 << 30;
  const std::int64_t bytes =
      settings.segment_bytes > 0
          ? (settings.segment_bytes + 63) / 64 * 64
          : NodeSegments::choose_segment_bytes(layout.stripe_bytes(), pool_bound(settings) * ranks, ranks);
  return std::min(bytes, most);
}

}  // namespace forebay
