// Sums over ranks.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <memory>
#include <string_view>

#include "report/report.hpp"

namespace forebay {
namespace {

void add(Counters& total, const Counters& c) {
  total.requests += c.requests;
  total.pieces += c.pieces;
  total.bytes += c.bytes;
  total.independent_writes += c.independent_writes;
  total.pooled_requests += c.pooled_requests;
  total.pool_peak_bytes = std::max(total.pool_peak_bytes, c.pool_peak_bytes);
  total.node_runs += c.node_runs;
  total.node_bytes += c.node_bytes;
  total.messages += c.messages;
  total.message_bytes += c.message_bytes;
  total.puts += c.puts;
  total.writes += c.writes;
  total.written_bytes += c.written_bytes;
  total.aligned_writes += c.aligned_writes;
  total.bypass_writes += c.bypass_writes;
  total.bypass_bytes += c.bypass_bytes;
  total.rmw_blocks += c.rmw_blocks;
  total.reads += c.reads;
  total.gets += c.gets;
  total.get_pieces += c.get_pieces;
  total.get_bytes += c.get_bytes;
  total.read_bytes += c.read_bytes;
  for (std::size_t i = 0; i < c.write_sizes.size(); ++i) total.write_sizes[i] += c.write_sizes[i];
  total.window_bytes += c.window_bytes;
  total.segment_bytes += c.segment_bytes;
  total.aggregator += c.aggregator;
  // Every rank counts these, for the same events.
  total.collective_flushes = std::max(total.collective_flushes, c.collective_flushes);
  total.collective_reads = std::max(total.collective_reads, c.collective_reads);
  total.rounds = std::max(total.rounds, c.rounds);
  total.pooled_calls = std::max(total.pooled_calls, c.pooled_calls);
  total.order_conflicts = std::max(total.order_conflicts, c.order_conflicts);
  total.pool_conflicts = std::max(total.pool_conflicts, c.pool_conflicts);
}

}  // namespace

FileReport summarize(const FileFacts& facts, std::span<const RankShare> shares) {
  FileReport report;
  report.facts = facts;
  report.ranks = static_cast<std::int64_t>(shares.size());
  std::map<std::int64_t, std::int64_t> ranks_of_node;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    const RankShare& share = shares[rank];
    add(report.total, share.counters);
    ++ranks_of_node[share.node];
    report.peak_sum_bytes += share.peak_bytes;
    report.peak_max_bytes = std::max(report.peak_max_bytes, share.peak_bytes);
    if (share.counters.aggregator != 0) report.aggregators.push_back(static_cast<std::int64_t>(rank));
    for (std::size_t stage = 0; stage < stage_count; ++stage) {
      const double seconds = share.counters.seconds[stage];
      report.total.seconds[stage] += seconds;
      report.seconds[stage].max = std::max(report.seconds[stage].max, seconds);
      report.seconds[stage].mean += seconds / static_cast<double>(shares.size());
    }
  }
  report.nodes = static_cast<std::int64_t>(ranks_of_node.size());
  for (const auto& [node, ranks] : ranks_of_node) {
    report.most_ranks_per_node = std::max(report.most_ranks_per_node, ranks);
    if (report.least_ranks_per_node == 0 || ranks < report.least_ranks_per_node)
      report.least_ranks_per_node = ranks;
  }
  report.notes = notes_on(report);
  return report;
}

const char* name_of(Stage stage) {
  switch (stage) {
    case Stage::walk:
      return "walk";
    case Stage::pool:
      return "pool";
    case Stage::scatter:
      return "scatter";
    case Stage::node_wait:
      return "node_wait";
    case Stage::exchange:
      return "exchange";
    case Stage::write:
      return "write";
    case Stage::read:
      return "read";
    case Stage::pick:
      return "pick";
    case Stage::agree:
      return "agree";
    case Stage::count:
      break;
  }
  return "?";
}

std::int64_t peak_resident_bytes() {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen("/proc/self/status", "re"), close);
  if (!file) return 0;
  char line[256];
  long long kib = 0;
  while (std::fgets(line, sizeof line, file.get()) != nullptr) {
    if (std::sscanf(line, "VmHWM: %lld kB", &kib) == 1) return static_cast<std::int64_t>(kib) * 1024;
  }
  return 0;
}

}  // namespace forebay
