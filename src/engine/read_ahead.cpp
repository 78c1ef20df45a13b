#include "engine/read_ahead.hpp"

#include <new>
#include <utility>
#include <vector>

#include "engine/file_context.hpp"

namespace forebay {
namespace {

// Where less than this part of a range was wanted, the next one's units are not known.
constexpr std::int64_t kSparse = 4;
constexpr std::size_t kMostRanges = 1024;

Extent dense(Extent hull, std::int64_t bytes) {
  return hull.empty() || bytes < hull.size() / kSparse ? Extent{} : hull;
}

}  // namespace

// On one node its ranks share what comes; on several each has what it owns, which it will read for all.
void ReadAhead::note(const FileContext& file, Extent together, std::int64_t bytes, Extent own,
                     std::int64_t own_bytes) {
  const Extent next = together_.next(dense(together, bytes));
  const Extent mine = own_.next(dense(own, own_bytes));
  if (next.empty() && mine.empty()) return;
  const Topology& t = file.nodes->topology();
  try {
    std::vector<Extent> ranges;
    if (!mine.empty()) ranges.push_back(mine);
    if (!next.empty() && t.nodes == 1) {
      const std::int64_t share = next.size() / t.local_ranks + 1;
      const Extent part{next.begin + share * t.local_rank, next.begin + share * (t.local_rank + 1)};
      ranges.push_back({part.begin, std::min(part.end, next.end)});
    } else if (!next.empty() && t.rail >= 0) {
      const std::int64_t block = file.layout.block_bytes();
      for (std::int64_t at = next.begin; at < next.end && ranges.size() < kMostRanges;) {
        const std::int64_t end = std::min(next.end, (at / block + 1) * block);
        if (file.layout.owner(at) == Owner{t.node, t.rail}) ranges.push_back({at, end});
        at = end;
      }
    }
    fetches_->want(ranges);
  } catch (const std::bad_alloc&) {  // as if it could not be told
  }
}

}  // namespace forebay
