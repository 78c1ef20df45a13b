#include "engine/own_flush.hpp"

#include <array>
#include <deque>
#include <new>
#include <utility>
#include <vector>

#include "engine/collective.hpp"
#include "engine/file_context.hpp"
#include "engine/indispensable.hpp"
#include "layout/own_parts.hpp"
#include "request/clipped_cursor.hpp"

namespace forebay {
namespace {

/// The lowest offset put by a node that is not in its part.
std::int64_t first_outside(const Extent& hull, const Extent& own) {
  if (hull.empty()) return kNoOffset;
  if (own.empty() || hull.begin < own.begin) return hull.begin;
  return own.end < hull.end ? own.end : kNoOffset;
}

}  // namespace

std::optional<OwnPart> find_own_parts(FileContext& file, Window& window, Extent mine) {
  NodeWindow& node = *window.view;
  std::array<std::int64_t, 2> ends{mine.empty() ? kNoOffset : mine.begin, mine.empty() ? 0 : -mine.end};
  {
    const StageTimer timer(file.counters, Stage::node_wait);
    node.agree(ends);
  }
  ++window.sequence;
  if (file.nodes->topology().rail == 0) {
    indispensable([&] {
      const StageTimer timer(file.counters, Stage::agree);
      const Topology& t = file.nodes->topology();
      const Extent here{ends[0], -ends[1]};
      std::vector<Extent> hulls(static_cast<std::size_t>(t.nodes));
      t.rail_comm->gather(&here, sizeof here, hulls.data(), -1);
      const auto parts = own_parts(hulls, file.layout.stripe_bytes());
      NodeWindow::Course told{kNoOffset, 0, {}};
      for (std::size_t n = 0; parts && n < hulls.size(); ++n)
        told.next = std::min(told.next, first_outside(hulls[n], (*parts)[n]));
      if (parts) {
        told.end = 1;
        told.own = (*parts)[static_cast<std::size_t>(t.node)];
      }
      node.announce(window.sequence, told);
    });
  }
  const NodeWindow::Course told = node.await(window.sequence);
  if (told.end == 0) return std::nullopt;
  return OwnPart{told.own, told.next};
}

// What several nodes have goes first, as ever. No block which its owner completes reaches into a node's own
// part: two nodes share one range, and where there are more there are several owners, whose parts end at
// stripes.
Status flush_own_parts(FileContext& file, Window& window, std::span<const Put> puts, const OwnPart& part,
                       int shift) {
  Status status;
  std::deque<ClippedCursor> cursors;
  std::vector<Put> inside, outside;
  try {
    for (const Put& put : puts) {
      const Extent hull = put.cursor->hull();
      if (part.here.begin <= hull.begin && hull.end <= part.here.end) {
        inside.push_back(put);
        continue;
      }
      for (const auto side : {ClippedCursor::Side::inside, ClippedCursor::Side::outside}) {
        const ClippedCursor& clipped = cursors.emplace_back(*put.cursor, part.here, side);
        if (clipped.hull().empty()) continue;
        (side == ClippedCursor::Side::inside ? inside : outside).push_back({&cursors.back(), put.source});
      }
    }
  } catch (const std::bad_alloc&) {
    status = file.no_memory("for a collective write to ");
    inside.clear();
    outside.clear();
  }
  if (part.first != kNoOffset)
    status.update(flush_shared(file, window, outside, {part.first, kNoOffset}, shift));
  if (part.here.empty()) return status;
  // As if there were no other node.
  const FileDomains& layout = file.layout;
  const FileDomains alone(layout.striping(), layout.round_bytes(), {1, file.nodes->topology().aggregators});
  const Flush flush = file.flush_alone(window, alone);
  status.update(FlushRun(flush, inside).run(part.here.begin, shift));
  return status;
}

}  // namespace forebay
