#include "engine/own_flush.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <new>
#include <utility>
#include <vector>

#include "engine/collective.hpp"
#include "engine/fetch.hpp"
#include "engine/file_context.hpp"
#include "engine/indispensable.hpp"
#include "layout/own_parts.hpp"
#include "request/clipped_cursor.hpp"

namespace forebay {
namespace {

// Of a node, or its own parts. With more they are hardly worth the messages and the walks.
constexpr std::size_t kMostExtents = 512;
constexpr std::int64_t kNoList = -1;

// A list as words: their number, or kNoList, then the extents.
void write_list(std::span<std::int64_t> out, std::span<const Extent> extents) {
  out[0] = static_cast<std::int64_t>(extents.size());
  for (std::size_t i = 0; i < extents.size(); ++i) {
    out[2 * i + 1] = extents[i].begin;
    out[2 * i + 2] = extents[i].end;
  }
}
/// Takes the list that `words` begin with, false: there is none.
bool read_list(std::span<const std::int64_t>& words, std::vector<Extent>& extents) {
  const std::int64_t count = words[0];
  words = words.subspan(1);
  if (count == kNoList) return false;
  for (std::int64_t i = 0; i < count; ++i, words = words.subspan(2)) extents.push_back({words[0], words[1]});
  return true;
}

// What this rank touches, for the others of its node.
template <class Request>
void say_touched(const FileContext& file, const NodeWindow& node, std::span<const Request> requests) {
  const std::span<std::int64_t> desk = node.desk(node.rank());
  if (desk.empty()) return;
  desk[0] = kNoList;
  if (desk.size() < 3 || node.whole_desk().size() < 2 * kMostExtents + 1) return;
  try {
    std::vector<Extent> hulls;
    for (const Request& request : requests) hulls.push_back(request.cursor->hull());
    write_list(desk,
               stripes_of(hulls, file.layout.stripe_bytes(), std::min((desk.size() - 1) / 2, kMostExtents)));
  } catch (const std::bad_alloc&) {  // then there are no own parts
  }
}

// The node's, as it tells the others.
std::vector<std::int64_t> touched_of_node(const NodeWindow& node) {
  std::vector<Extent> all;
  bool known = true;
  for (int r = 0; r < node.ranks(); ++r) {
    std::span<const std::int64_t> desk = node.desk(r);
    known = known && !desk.empty() && read_list(desk, all);
  }
  if (!known) return {kNoList};
  all = joined(std::move(all), kMostExtents);
  std::vector<std::int64_t> words(2 * all.size() + 1);
  write_list(words, all);
  return words;
}

std::optional<OwnParts> parts_of_nodes(std::span<const std::int64_t> words, int nodes, std::int64_t stripe) {
  std::vector<std::vector<Extent>> touched(static_cast<std::size_t>(nodes));
  bool known = true;
  for (auto& extents : touched) known = read_list(words, extents) && known;
  if (!known) return std::nullopt;
  auto parts = own_parts(touched, stripe);
  if (parts && std::ranges::any_of(parts->of_node, [](const auto& own) { return own.size() > kMostExtents; }))
    return std::nullopt;
  return parts;
}

template <class Request>
std::optional<OwnPart> find_parts(FileContext& file, Window& window, std::span<const Request> requests) {
  NodeWindow& node = *window.view;
  std::array<std::int64_t, 2> ends{kNoOffset, 0};
  for (const Request& request : requests) {
    const Extent hull = request.cursor->hull();
    if (!hull.empty()) ends = {std::min(ends[0], hull.begin), std::min(ends[1], -hull.end)};
  }
  say_touched(file, node, requests);
  {
    const StageTimer timer(file.counters, Stage::node_wait);
    node.agree(ends);
  }
  ++window.sequence;
  const Topology& t = file.nodes->topology();
  if (t.rail == 0) {
    indispensable([&] {
      const StageTimer timer(file.counters, Stage::agree);
      const auto parts = parts_of_nodes(t.rail_comm->concatenate(touched_of_node(node)), t.nodes,
                                        file.layout.stripe_bytes());
      if (parts) write_list(node.whole_desk(), parts->of_node[static_cast<std::size_t>(t.node)]);
      node.announce(window.sequence, {parts ? parts->first_shared : kNoOffset, parts ? 1 : 0});
    });
  }
  const NodeWindow::Course told = node.await(window.sequence);
  if (told.end == 0) return std::nullopt;
  OwnPart part{{}, told.next, {ends[0], -ends[1]}};
  indispensable([&] {
    std::span<const std::int64_t> words = node.whole_desk();
    read_list(words, part.here);
  });
  const StageTimer timer(file.counters, Stage::node_wait);
  node.barrier();  // rounds use the desk's memory
  return part;
}

bool within_one(std::span<const Extent> ranges, const Extent& hull) {
  const auto after = std::ranges::upper_bound(ranges, hull.begin, {}, &Extent::begin);
  return after != ranges.begin() && hull.end <= (after - 1)->end;
}

// As if there were no other node.
FileDomains domains_alone(const FileContext& file) {
  return {file.layout.striping(), file.layout.round_bytes(), {1, file.nodes->topology().aggregators}};
}

}  // namespace

std::optional<OwnPart> find_own_parts(FileContext& file, Window& window, std::span<const Put> puts) {
  return find_parts(file, window, puts);
}
std::optional<OwnPart> find_own_parts(FileContext& file, Window& window, std::span<const Get> gets) {
  return find_parts(file, window, gets);
}

// What several nodes have goes first, as ever. No block which its owner completes reaches into a node's own
// part: blocks are completed stripe by stripe.
Status flush_own_parts(FileContext& file, Window& window, std::span<const Put> puts, const OwnPart& part,
                       int shift) {
  Status status;
  std::deque<ClippedCursor> cursors;
  std::vector<Put> inside, outside;
  try {
    for (const Put& put : puts) {
      if (within_one(part.here, put.cursor->hull())) {
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
  const FileDomains alone = domains_alone(file);
  const Flush flush = file.flush_alone(window, alone);
  status.update(FlushRun(flush, inside).run(part.here.front().begin, shift));
  return status;
}

Status fetch_own_parts(FileContext& file, Window& window, std::span<const Get> gets, std::int64_t gap,
                       const OwnPart& part, int shift) {
  if (part.hull.empty()) return {};
  const FileDomains alone = domains_alone(file);
  const Flush flush = file.flush_alone(window, alone);
  return FetchRun(flush, gets, gap).run(part.hull, shift);
}

}  // namespace forebay
