// Segments, marks and messages of one rail in one round.
#include "engine/owner_round.hpp"

#include <algorithm>

#include "engine/flush.hpp"

namespace forebay {

OwnerRound::OwnerRound(const Flush& flush)
    : f_(flush),
      parts_(static_cast<std::size_t>(flush.nodes)),
      requests_(parts_.size()),
      plans_(parts_.size()),
      sizes_(parts_.size()) {
  const auto words = static_cast<std::size_t>((f_.window.round_bytes() >> f_.window.shift()) / 64 + 1);
  if (f_.scratch.merged.size() < words) f_.scratch.merged.resize(words);
}

std::span<const DomainPart> OwnerRound::parts() const {
  return parts_[static_cast<std::size_t>(f_.node)];
}

std::int64_t OwnerRound::gather(std::int64_t base, Extent hull, int parity, bool merged) {
  base_ = base;
  buffer_ = f_.window.buffer(parity);
  merged_ = f_.scratch.merged.data();
  for (auto& list : parts_) list.clear();
  f_.domains.for_each_part(base, hull, [&](const DomainPart& s) {
    if (s.owner.rail != f_.aggregator) return;
    // Neighbours of one owner are one part: fewer, larger writes.
    auto& list = parts_[static_cast<std::size_t>(s.owner.node)];
    if (!list.empty() && list.back().end == s.begin) {
      list.back().end = s.end;
    } else {
      list.push_back(s);
    }
  });
  // Reading on one node, a part may begin or end inside a granule of which a neighbour wants the rest.
  const std::int64_t granule = std::int64_t{1} << f_.window.shift();
  std::int64_t bytes = 0;
  for (const auto& list : parts_) {
    for (const DomainPart& s : list) {
      const std::int64_t begin = (s.begin - base) / granule * granule;
      const std::int64_t end = (s.end - base + granule - 1) / granule * granule;
      const std::int64_t stop = std::min(end, f_.window.round_bytes());
      bytes += merged ? f_.window.copy_merged(begin, stop, merged_)
                      : f_.window.merge(parity, begin, stop, merged_);
    }
  }
  return bytes;
}

std::int64_t OwnerRound::agree(Sends what, std::int64_t next, Status& status) {
  if (f_.nodes == 1) return next;
  const StageTimer timer(f_.counters, Stage::exchange);
  for (std::size_t n = 0; n < parts_.size(); ++n) {
    requests_[n].clear();
    const bool own = static_cast<int>(n) == f_.node;
    // What this node put of its own owner's parts is only counted, before the others' come to it.
    const bool planned = !own || what == Sends::bytes;
    plans_[n] = planned ? plan_message(parts_[n], base_, f_.window.shift(), merged_) : PackPlan{};
    if (what == Sends::bytes) f_.counters.node_runs += plans_[n].runs;
    if (own) plans_[n] = {};
    f_.counters.header_bytes += plans_[n].header_bytes;
    sizes_[n] = what == Sends::bytes ? plans_[n].total() : request_bytes(plans_[n]);
  }
  std::int64_t least = kNoOffset;
  status.update(f_.rail->agree(sizes_, next, least));
  return least;
}

void OwnerRound::exchange_bytes(Status& status) {
  if (f_.nodes == 1) return;
  const StageTimer timer(f_.counters, Stage::exchange);
  status.update(f_.rail->transfer(
      [&](int node, std::span<std::byte> out) {
        const auto n = static_cast<std::size_t>(node);
        pack_message(plans_[n], parts_[n], base_, f_.window.shift(), merged_, buffer_, out.data());
      },
      [&](int, std::span<const std::byte> message) {
        return unpack_message(message, parts(), base_, f_.window.shift(), buffer_, merged_);
      },
      f_.counters));
}

void OwnerRound::exchange_requests(Status& status) {
  if (f_.nodes == 1) return;
  const StageTimer timer(f_.counters, Stage::exchange);
  std::fill(sizes_.begin(), sizes_.end(), 0);
  status.update(f_.rail->transfer(
      [&](int node, std::span<std::byte> out) {
        const auto n = static_cast<std::size_t>(node);
        pack_request(plans_[n], parts_[n], base_, f_.window.shift(), merged_, out.data());
      },
      [&](int node, std::span<const std::byte> message) {
        const auto n = static_cast<std::size_t>(node);
        requests_[n].assign(message.begin(), message.end());
        return unpack_request(message, parts(), base_, f_.window.shift(), merged_, sizes_[n]);
      },
      f_.counters));
}

void OwnerRound::exchange_answers(Status& status) {
  if (f_.nodes == 1) return;
  const StageTimer timer(f_.counters, Stage::exchange);
  std::int64_t unused = 0;
  status.update(f_.rail->agree(sizes_, kNoOffset, unused));
  status.update(f_.rail->transfer(
      [&](int node, std::span<std::byte> out) {
        pack_answer(requests_[static_cast<std::size_t>(node)], parts(), base_, f_.window.shift(), buffer_,
                    out.data());
      },
      [&](int node, std::span<const std::byte> answer) {
        return unpack_answer(answer, parts_[static_cast<std::size_t>(node)], base_, f_.window.shift(),
                             merged_, buffer_);
      },
      f_.counters));
}

}  // namespace forebay
