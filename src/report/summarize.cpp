// Sums over ranks and over opens.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>

#include "base/host_name.hpp"
#include "report/report.hpp"

namespace forebay {
namespace {

constexpr std::array fields{
#define COUNTER(member, place, over_ranks, over_opens) \
  CounterField{place, &Counters::member, Sum::over_ranks, Sum::over_opens},
#include "base/counters.def"
};
static_assert(sizeof(Counters) == fields.size() * sizeof(std::int64_t) + sizeof(Counters::write_sizes) +
                                      sizeof(Counters::broken_causes) + sizeof(Counters::seconds) +
                                      sizeof(Counters::aggregator) + sizeof(Counters::trace),
              "a member of Counters that is not in counters.def: sums and reports have to know of it");

void add(std::int64_t& total, std::int64_t value, Sum sum) {
  total = sum == Sum::all ? total + value : std::max(total, value);
}

void add(Counters& total, const Counters& c, Sum CounterField::* sum) {
  for (const CounterField& field : fields) add(total.*field.value, c.*field.value, field.*sum);
  for (std::size_t i = 0; i < c.write_sizes.size(); ++i) total.write_sizes[i] += c.write_sizes[i];
  for (std::size_t i = 0; i < c.broken_causes.size(); ++i) total.broken_causes[i] += c.broken_causes[i];
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  std::array<char, 32> text{};
  if (::gmtime_r(&seconds, &utc) == nullptr) return {};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

RankSeconds seconds_of(const Counters& c) {
  RankSeconds seconds;
  for (const double stage : c.seconds) seconds.all += stage;
  for (const Stage stage : {Stage::write, Stage::read})
    seconds.file += c.seconds[static_cast<std::size_t>(stage)];
  return seconds;
}

void add_by_rank(FileReport& report, const FileReport& later) {
  if (report.by_rank.size() != later.by_rank.size() || report.ranks_a_group != later.ranks_a_group) {
    // Other ranks than before.
    report.by_rank.assign(later.by_rank.size(), {});
    report.ranks_a_group = later.ranks_a_group;
  }
  for (std::size_t i = 0; i < report.by_rank.size(); ++i) {
    report.by_rank[i].all += later.by_rank[i].all;
    report.by_rank[i].file += later.by_rank[i].file;
  }
}

FileReport begun(const FileFacts& facts) {
  FileReport report;
  report.facts = facts;
  report.program = program_invocation_short_name;
  report.host = host_name();
  report.date = now();
  return report;
}

}  // namespace

std::span<const CounterField> counter_fields() {
  return fields;
}

FileReport summarize(const FileFacts& facts, std::span<const RankShare> shares) {
  FileReport report = begun(facts);
  report.ranks = static_cast<std::int64_t>(shares.size());
  const std::size_t group = (shares.size() + most_rank_groups - 1) / most_rank_groups;
  report.ranks_a_group = static_cast<std::int64_t>(group);
  std::map<std::int64_t, std::int64_t> ranks_of_node;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    const RankShare& share = shares[rank];
    add(report.total, share.counters, &CounterField::over_ranks);
    ++ranks_of_node[share.node];
    report.peak_sum_bytes += share.peak_bytes;
    report.peak_max_bytes = std::max(report.peak_max_bytes, share.peak_bytes);
    if (share.counters.aggregator != 0) report.aggregators.push_back(static_cast<std::int64_t>(rank));
    for (std::size_t stage = 0; stage < stage_count; ++stage) {
      const double seconds = share.counters.seconds[stage];
      report.seconds[stage].max = std::max(report.seconds[stage].max, seconds);
      report.seconds[stage].mean += seconds / static_cast<double>(shares.size());
    }
    const RankSeconds mine = seconds_of(share.counters);
    if (rank % group == 0) report.by_rank.emplace_back();
    RankSeconds& slowest = report.by_rank.back();
    slowest = {std::max(slowest.all, mine.all), std::max(slowest.file, mine.file)};
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

FileReport left_to_stock(const std::string& path, const std::string& driver, const std::string& reason,
                         std::int64_t ranks, std::int64_t put_bytes, std::int64_t get_bytes) {
  FileFacts facts;
  facts.path = path;
  facts.driver = driver;
  facts.storage = "stock";
  facts.link = "none";
  FileReport report = begun(facts);
  report.stock_opens = 1;
  report.stock_reasons = {reason};
  report.ranks = ranks;
  report.nodes = report.least_ranks_per_node = report.most_ranks_per_node = 1;
  report.total.stock_put_bytes = put_bytes;
  report.total.stock_get_bytes = get_bytes;
  report.notes = notes_on(report);
  return report;
}

FileReport after_close(const std::string& path, const std::string& driver, const Counters& counters) {
  FileReport report;
  report.facts.path = path;
  report.facts.driver = driver;
  report.opens = 0;
  report.total = counters;
  return report;
}

void fold(FileReport& report, const FileReport& later) {
  if (later.opens == 0) {
    add(report.total, later.total, &CounterField::over_opens);
    report.notes = notes_on(report);
    return;
  }
  // What describes a file describes the last open that was served.
  if (later.stock_opens < later.opens || report.stock_opens == report.opens) {
    report.facts = later.facts;
    report.ranks = later.ranks;
    report.nodes = later.nodes;
    report.least_ranks_per_node = later.least_ranks_per_node;
    report.most_ranks_per_node = later.most_ranks_per_node;
    if (!later.by_rank.empty()) add_by_rank(report, later);
  }
  report.program = later.program;
  report.host = later.host;
  report.date = later.date;
  report.opens += later.opens;
  report.stock_opens += later.stock_opens;
  for (const std::string& reason : later.stock_reasons) {
    auto& known = report.stock_reasons;
    if (std::find(known.begin(), known.end(), reason) == known.end()) known.push_back(reason);
  }
  for (const std::int64_t rank : later.aggregators) {
    const auto at = std::lower_bound(report.aggregators.begin(), report.aggregators.end(), rank);
    if (at == report.aggregators.end() || *at != rank) report.aggregators.insert(at, rank);
  }
  add(report.total, later.total, &CounterField::over_opens);
  for (std::size_t stage = 0; stage < stage_count; ++stage) {
    report.seconds[stage].max += later.seconds[stage].max;
    report.seconds[stage].mean += later.seconds[stage].mean;
  }
  report.peak_sum_bytes = std::max(report.peak_sum_bytes, later.peak_sum_bytes);
  report.peak_max_bytes = std::max(report.peak_max_bytes, later.peak_max_bytes);
  report.notes = notes_on(report);
}

std::int64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  long long kib = 0;
  for (std::string line; std::getline(status, line);) {
    if (std::sscanf(line.c_str(), "VmHWM: %lld kB", &kib) == 1) return static_cast<std::int64_t>(kib) * 1024;
  }
  return 0;
}

}  // namespace forebay
