// forebay report --html: what the report holds, as the values of the page's template. All sums and sentences
// are made here; the page draws.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "human.hpp"
#include "page_parts.hpp"
#include "report_formats.hpp"
#include "report_log.hpp"
#include "report_stages.hpp"
#include "template.hpp"

namespace forebay::tools {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

std::int64_t number(const json& file, const char* place) {
  return file.at(Pointer(place)).get<std::int64_t>();
}
std::string text(const json& file, const char* key) {
  return file.at(key).get<std::string>();
}
std::int64_t average(std::int64_t sum, std::int64_t count) {
  return count > 0 ? (sum + count / 2) / count : 0;
}
std::string seconds_text(double seconds) {
  return fmt::format("{:.{}f} s", seconds, seconds < 100 ? 3 : 1);
}

/// What the plots show, of a file or of several together.
struct Shown {
  std::array<std::int64_t, 6> funnel{};  // pieces, runs, writes: how many, bytes
  std::array<double, stages.size()> max{}, mean{};
  std::array<double, stages.size()> rank_seconds{};  // of all ranks
  std::map<std::int64_t, std::int64_t> sizes;
  std::int64_t group = 0, ranks = 0;
  std::vector<double> all, file;

  void add(const Shown& other) {
    for (std::size_t i = 0; i < funnel.size(); ++i) funnel[i] += other.funnel[i];
    for (std::size_t i = 0; i < max.size(); ++i) {
      max[i] += other.max[i];
      mean[i] += other.mean[i];
      rank_seconds[i] += other.rank_seconds[i];
    }
    for (const auto& [from, count] : other.sizes) sizes[from] += count;
  }
  /// Time by rank adds up where the ranks are as many.
  void add_ranks(const Shown& other) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] += other.all[i];
      file[i] += other.file[i];
    }
  }
  double total_rank_seconds() const { return std::accumulate(rank_seconds.begin(), rank_seconds.end(), 0.0); }
};

Shown shown_of(const json& file) {
  Shown s;
  s.ranks = number(file, "/ranks");
  s.funnel = {number(file, "/pieces"),
              number(file, "/bytes"),
              number(file, "/after_node_coalescing/runs"),
              number(file, "/after_node_coalescing/bytes"),
              number(file, "/file_writes/count"),
              number(file, "/file_writes/bytes")};
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const json& stage = file.at("seconds").at(stages[i].key);
    s.max[i] = stage.at("max").get<double>();
    s.mean[i] = stage.at("mean").get<double>();
    s.rank_seconds[i] = s.mean[i] * static_cast<double>(s.ranks);
  }
  for (const json& size : file.at("file_writes").at("sizes"))
    s.sizes[size.at("from").get<std::int64_t>()] += size.at("count").get<std::int64_t>();
  if (const auto ranks = file.find("seconds_by_rank"); ranks != file.end()) {
    s.group = number(*ranks, "/ranks_a_group");
    s.all = ranks->at("all").get<std::vector<double>>();
    s.file = ranks->at("file").get<std::vector<double>>();
    s.file.resize(s.all.size());
  }
  return s;
}

Shown all_of(const std::vector<Shown>& files) {
  Shown sum;
  for (const Shown& file : files) sum.add(file);
  const auto has_ranks = [](const Shown& file) { return !file.all.empty(); };
  const auto first = std::find_if(files.begin(), files.end(), has_ranks);
  if (first == files.end()) return sum;
  for (const Shown& file : files) {
    if (has_ranks(file) && (file.ranks != first->ranks || file.all.size() != first->all.size())) return sum;
  }
  sum.group = first->group;
  sum.ranks = first->ranks;
  sum.all.resize(first->all.size());
  sum.file.resize(first->all.size());
  for (const Shown& file : files) {
    if (has_ranks(file)) sum.add_ranks(file);
  }
  return sum;
}

// ---- the plots ----

/// Every class between the least and the largest.
json size_classes(const Shown& s) {
  json list = json::array();
  if (s.sizes.empty()) return list;
  for (std::int64_t from = s.sizes.begin()->first; from > 0 && from <= s.sizes.rbegin()->first; from *= 2) {
    const auto at = s.sizes.find(from);
    list.push_back({from, at != s.sizes.end() ? at->second : 0});
  }
  return list;
}

json data_of(const Shown& s, const std::string& name) {
  return {{"name", printable(name)},
          {"funnel", {{s.funnel[0], s.funnel[1]}, {s.funnel[2], s.funnel[3]}, {s.funnel[4], s.funnel[5]}}},
          {"max", s.max},
          {"mean", s.mean},
          {"sizes", size_classes(s)},
          {"group", s.group},
          {"ranks", s.ranks},
          {"all", s.all},
          {"file", s.file}};
}

json row(std::vector<std::string> cells) {
  return {{"cells", std::move(cells)}};
}

json chart(const char* id, const char* title, const char* note, std::vector<std::string> heads, json rows) {
  return {
      {"id", id}, {"title", title}, {"note", note}, {"heads", std::move(heads)}, {"rows", std::move(rows)}};
}

/// Their tables, for all files together.
json charts_of(const Shown& s, bool several) {
  json funnel = json::array(), times = json::array(), sizes = json::array(), ranks = json::array();
  for (std::size_t i = 0; i < 3; ++i) {
    constexpr std::array names{"pieces put", "runs of a node", "file writes"};
    const std::int64_t count = s.funnel[2 * i], bytes = s.funnel[2 * i + 1];
    funnel.push_back(row({names[i], human_count(count), human_bytes(bytes),
                          count > 0 ? human_bytes(average(bytes, count)) : ""}));
  }
  for (std::size_t i = 0; i < stages.size(); ++i)
    times.push_back(row({stages[i].name, seconds_text(s.max[i]), seconds_text(s.mean[i])}));
  for (const json& size : size_classes(s)) {
    const std::int64_t from = size[0];
    sizes.push_back(row({human_bytes(from) + " to " + human_bytes(2 * from), human_count(size[1])}));
  }
  for (std::size_t i = 0; i < s.all.size(); ++i) {
    const auto first = static_cast<std::int64_t>(i) * s.group;
    ranks.push_back(
        row({s.group == 1 ? std::to_string(first)
                          : fmt::format("{} to {}", first, std::min(first + s.group, s.ranks) - 1),
             seconds_text(s.all[i]), seconds_text(s.file[i])}));
  }
  return {
      chart("funnel", "Pieces, runs, writes",
            "How many, and their average size. The scale is logarithmic; fewer and larger is better. Writes "
            "of long runs and of metadata pass by the runs.",
            {"", "Count", "Bytes", "Average"}, std::move(funnel)),
      chart("stages", "Time by stage",
            several ? "Of all files together, the slowest rank of each and the average rank."
                    : "The slowest rank and the average rank.",
            {"Stage", "Slowest rank", "Average rank"}, std::move(times)),
      chart("sizes", "Sizes of file writes", "From this size up to twice as much.", {"Size", "Writes"},
            std::move(sizes)),
      chart(
          "ranks", "Time by rank",
          "All time in Forebay, and that of file writes and reads. A bar of several ranks shows the slowest. "
          "If files have different numbers of ranks, choose one.",
          {"Ranks", "All stages", "File writes and reads"}, std::move(ranks))};
}

// ---- what limited it ----

json limits_of(const Shown& s) {
  const double total = s.total_rank_seconds();
  json list = json::array();
  if (total <= 0) return list;
  std::vector<std::pair<double, std::string>> shares;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    double seconds = 0;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (stages[i].group == static_cast<int>(g)) seconds += s.rank_seconds[i];
    }
    shares.emplace_back(seconds / total, groups[g]);
  }
  std::sort(shares.rbegin(), shares.rend());
  for (const auto& [share, name] : shares)
    list.push_back({{"name", name}, {"percent", std::lround(100 * share)}});
  return list;
}

/// What the largest share means here, in the report's own numbers.
std::string meaning_of_largest(const std::string& group, const Shown& s, const json& files) {
  std::int64_t writes = 0, aligned = 0, bytes = 0, reads = 0, messages = 0, message_bytes = 0;
  for (const json& file : files) {
    writes += number(file, "/file_writes/count");
    aligned += number(file, "/file_writes/aligned");
    bytes += number(file, "/file_writes/bytes");
    reads += number(file, "/file_reads/count");
    messages += number(file, "/between_nodes/messages");
    message_bytes += number(file, "/between_nodes/bytes");
  }
  if (group == groups[0]) {
    std::string meaning;
    if (writes > 0)
      meaning = fmt::format("It got {} of {} on average, {:.0f} % of them aligned. ",
                            counted(writes, "write", "writes"), human_bytes(average(bytes, writes)),
                            100.0 * static_cast<double>(aligned) / static_cast<double>(writes));
    if (reads > 0) meaning += fmt::format("It was read {} times. ", human_count(reads));
    constexpr std::int64_t large = 256 << 10;
    if (writes > 0 && average(bytes, writes) >= large)
      meaning +=
          "Writes of this size are large already: more stripes or a faster file system would shorten this.";
    return meaning;
  }
  if (group == groups[1])
    return "A rank waits where another one comes later to the same call, or has more to write. Time by rank "
           "shows "
           "whether the work is uneven.";
  if (group == groups[2])
    return fmt::format("Nodes sent each other {} of {} in all.", counted(messages, "message", "messages"),
                       human_bytes(message_bytes));
  return fmt::format("The program put {} of {} on average.", counted(s.funnel[0], "piece", "pieces"),
                     human_bytes(average(s.funnel[1], s.funnel[0])));
}

class Advice {
 public:
  void add(const std::string& sentence) { list_.push_back({{"text", sentence}}); }
  /// Says it once for all files of which it is true.
  void add(const std::string& sentence, const json& file) {
    files_of_[sentence].push_back(text(file, "path"));
  }

  json take(std::size_t files) {
    std::vector<std::pair<std::string, std::vector<std::string>>> by_files(files_of_.begin(),
                                                                           files_of_.end());
    std::stable_sort(by_files.begin(), by_files.end(),
                     [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
    for (const auto& [sentence, paths] : by_files) {
      std::string where;
      constexpr std::size_t most = 3;
      if (files > 1) {
        where = counted(static_cast<std::int64_t>(paths.size()), "file", "files") + ": ";
        for (std::size_t i = 0; i < paths.size() && i < most; ++i)
          where += (i > 0 ? ", " : "") + paths[i].substr(paths[i].rfind('/') + 1);
        if (paths.size() > most) where += ", …";
      }
      list_.push_back({{"text", sentence}, {"where", where}});
    }
    return std::move(list_);
  }

 private:
  json list_ = json::array();
  std::map<std::string, std::vector<std::string>> files_of_;
};

json advice_of(const Shown& s, const json& files, const json& limits) {
  Advice advice;
  if (!limits.empty()) {
    const std::string group = limits[0].at("name");
    advice.add(fmt::format("{} % of Forebay's time was {}. {}", limits[0].at("percent").get<long>(),
                           group == groups[0] ? "in the file system" : group,
                           meaning_of_largest(group, s, files)));
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (s.max[i] > 2 * s.mean[i] && s.rank_seconds[i] > 0.1 * s.total_rank_seconds() && s.max[i] > 0.01)
      advice.add(fmt::format("{}: the slowest rank took {}, the average rank {}. The work was uneven.",
                             std::string(stages[i].name), seconds_text(s.max[i]), seconds_text(s.mean[i])));
  }
  for (const json& file : files) {
    const bool all_stock = !file.at("active").get<bool>();
    for (const json& reason : file.at("stock").at("reasons"))
      advice.add("The stock driver was used because " + reason.get<std::string>() + ".", file);
    // Of a file that was left to it the notes say the same.
    for (const json& note : file.at("notes")) {
      if (!all_stock || file.at("stock").at("reasons").empty()) advice.add(note.get<std::string>(), file);
    }
  }
  json list = advice.take(files.size());
  if (list.empty()) list.push_back({{"text", "The report names nothing that would gain more."}});
  return list;
}

// ---- files ----

std::int64_t put_by(const json& file) {
  return number(file, "/bytes") + number(file, "/stock/put_bytes");
}

json file_rows(const json& file) {
  json rows = json::array();
  const auto add = [&](const char* label, std::string value) {
    if (!value.empty()) rows.push_back({{"label", label}, {"value", std::move(value)}});
  };
  const auto counts = [&](const char* place) { return human_count(number(file, place)); };
  const auto sizes = [&](const char* place) { return human_bytes(number(file, place)); };
  add("driver", text(file, "driver"));
  add("program", text(file, "program"));
  add("closed last", text(file, "date") + " on " + text(file, "host"));
  add("opened", counts("/opens") + (number(file, "/stock/opens") > 0
                                        ? ", " + counts("/stock/opens") + " of them on the stock driver"
                                        : ""));
  add("ranks", counts("/ranks") + " on " + counted(number(file, "/nodes"), "node", "nodes"));
  if (number(file, "/stock/put_bytes") + number(file, "/stock/get_bytes") > 0)
    add("by stock driver", sizes("/stock/put_bytes") + " put, " + sizes("/stock/get_bytes") + " got");
  if (!file.at("active").get<bool>()) return rows;
  add("settings", text(file, "settings").empty() ? "defaults" : text(file, "settings"));
  add("layout", "stripes of " + sizes("/stripe_bytes") + ", rounds of " + sizes("/window_bytes"));
  if (!file.value("stripe_source", "").empty()) {
    add("stripes told by",
        text(file, "stripe_source") +
            (file.value("storage_targets", std::int64_t{0}) > 0
                 ? ", on " + counted(number(file, "/storage_targets"), "storage target", "storage targets")
                 : ""));
  }
  if (const std::string owning = file.value("owner_nodes", ""); !owning.empty() && owning != "all")
    add("owner nodes", owning);
  add("written through", text(file, "storage") + " on " + file.value("file_system", "unknown"));
  add("put", fmt::format("{} in {} pieces, {} on average", sizes("/bytes"), counts("/pieces"),
                         sizes("/average_piece_bytes")));
  add("calls", fmt::format("{} collective, {} independent writes", counts("/collective_flushes"),
                           counts("/independent_writes")));
  if (number(file, "/kept_over_calls/requests") > 0)
    add("kept over calls", fmt::format("{} requests, at most {} a rank", counts("/kept_over_calls/requests"),
                                       sizes("/kept_over_calls/peak_bytes")));
  if (const std::vector<std::string> words = log_in_words(file); !words.empty())
    add("log", fmt::format("{}", fmt::join(words, "; ")));
  add("runs of a node", fmt::format("{} in {} rounds, {} on average", counts("/after_node_coalescing/runs"),
                                    counts("/after_node_coalescing/rounds"),
                                    sizes("/after_node_coalescing/average_run_bytes")));
  if (number(file, "/between_nodes/messages") > 0)
    add("between nodes", counts("/between_nodes/messages") + " messages of " + sizes("/between_nodes/bytes"));
  add("file writes", fmt::format("{} of {}, {} on average, {} aligned", counts("/file_writes/count"),
                                 sizes("/file_writes/bytes"), sizes("/file_writes/average_bytes"),
                                 counts("/file_writes/aligned")));
  if (number(file, "/library_writes/metadata") + number(file, "/library_writes/fill") > 0)
    add("library's own",
        fmt::format("{} of metadata, {} of fill values", sizes("/library_writes/metadata_bytes"),
                    sizes("/library_writes/fill_bytes")));
  if (number(file, "/gets/bytes") > 0)
    add("got", fmt::format("{} in {} pieces; {} file reads of {}", sizes("/gets/bytes"),
                           counts("/gets/pieces"), counts("/file_reads/count"), sizes("/file_reads/bytes")));
  add("time, average rank", seconds_text(seconds_in(file)));
  add("memory", fmt::format("windows {}, kept {}; largest process {}", sizes("/memory/windows_bytes"),
                            sizes("/memory/segments_bytes"), sizes("/memory/peak_max_bytes")));
  return rows;
}

json largest_of(const std::vector<const json*>& files, std::size_t most) {
  json list = json::array();
  for (std::size_t i = 0; i < files.size() && i < most; ++i) {
    const json& file = *files[i];
    list.push_back({{"path", text(file, "path")},
                    {"brief", fmt::format("{} put, {}", human_bytes(put_by(file)),
                                          file.at("active").get<bool>()
                                              ? counted(number(file, "/file_writes/count"), "write", "writes")
                                              : "stock driver")},
                    {"rows", file_rows(file)},
                    {"notes", file.at("notes")}});
  }
  return list;
}

json table_row(const json& file) {
  json cells = json::array();
  const auto add = [&](std::string shown, std::string sort) {
    cells.push_back({{"text", std::move(shown)}, {"sort", std::move(sort)}});
  };
  const auto count = [&](std::int64_t n) { add(human_count(n), std::to_string(n)); };
  const auto bytes = [&](std::int64_t n) { add(human_bytes(n), std::to_string(n)); };
  const std::string served = file.at("active").get<bool>() ? "Forebay" : "stock";
  add(text(file, "driver"), text(file, "driver"));
  add(served, served);
  count(number(file, "/ranks"));
  bytes(put_by(file));
  count(number(file, "/pieces"));
  bytes(number(file, "/average_piece_bytes"));
  count(number(file, "/file_writes/count"));
  bytes(number(file, "/file_writes/average_bytes"));
  const double seconds = seconds_in(file);
  add(seconds_text(seconds), fmt::format("{:.6f}", seconds));
  bytes(number(file, "/gets/bytes"));
  return {{"path", text(file, "path")}, {"cells", std::move(cells)}};
}

json tiles_of(const json& document, const Shown& s) {
  const json& totals = document.at("totals");
  const auto total = [&](const char* key) { return totals.at(key).get<std::int64_t>(); };
  json tiles = json::array();
  const auto add = [&](const std::string& value, const char* label, const std::string& note) {
    tiles.push_back({{"value", value}, {"label", label}, {"note", note}});
  };
  add(human_count(total("files")), total("files") == 1 ? "file" : "files",
      fmt::format("opened {}{}", counted(total("opens"), "time", "times"),
                  total("stock_opens") > 0
                      ? fmt::format(", {} on the stock driver", human_count(total("stock_opens")))
                      : ""));
  add(human_bytes(total("bytes") + total("stock_bytes")), "put by the program",
      total("stock_bytes") > 0 ? human_bytes(total("stock_bytes")) + " by stock drivers" : "");
  add(human_count(total("pieces")), "pieces",
      total("pieces") > 0 ? human_bytes(average(total("bytes"), total("pieces"))) + " on average" : "");
  add(human_count(total("file_writes")), "file writes",
      total("file_writes") > 0
          ? human_bytes(average(total("file_write_bytes"), total("file_writes"))) + " on average"
          : "");
  if (total("got_bytes") > 0)
    add(human_bytes(total("got_bytes")), "got by the program",
        fmt::format("{} file reads", human_count(total("file_reads"))));
  add(seconds_text(std::accumulate(s.mean.begin(), s.mean.end(), 0.0)), "in Forebay",
      "average rank, all files");
  return tiles;
}

}  // namespace

std::string as_page(const json& document, const std::string& chart_js) {
  const json& files = document.at("files");
  std::vector<Shown> shown;
  std::vector<const json*> by_size;
  for (const json& file : files) {
    shown.push_back(shown_of(file));
    by_size.push_back(&file);
  }
  std::stable_sort(by_size.begin(), by_size.end(), [](const json* a, const json* b) {
    return std::pair(put_by(*a), seconds_in(*a)) > std::pair(put_by(*b), seconds_in(*b));
  });
  const Shown all = all_of(shown);
  json plots = json::array({data_of(all, files.size() == 1 ? text(files[0], "path") : "all files")});
  for (const json* file : by_size) plots.push_back(data_of(shown_of(*file), text(*file, "path")));
  json names = json::array();
  for (const StageWords& stage : stages) names.push_back(stage.name);
  json table = json::array();
  for (const json* file : by_size) table.push_back(table_row(*file));

  const json limits = limits_of(all);
  constexpr std::size_t most = 10;
  json page{
      {"title", "Forebay: " + text(document, "command")},
      {"command", document.at("command")},
      {"host", document.at("host")},
      {"date", document.at("date")},
      {"forebay", document.at("forebay")},
      {"has_files", !files.empty()},
      {"tiles", tiles_of(document, all)},
      {"limits", limits},
      {"limits_note", limits.empty() ? ""
                                     : "Shares of the time of all ranks inside Forebay. The program's own "
                                       "time, and that of stock drivers, are not in the report."},
      {"advice", advice_of(all, files, limits)},
      {"charts", charts_of(all, files.size() > 1)},
      {"largest_title", files.size() > most ? fmt::format("The {} largest files", most) : "File by file"},
      {"largest", largest_of(by_size, most)},
      {"columns",
       {"File", "Driver", "By", "Ranks", "Put", "Pieces", "Average piece", "File writes", "Average write",
        "Time", "Got"}},
      {"files", std::move(table)},
      {"data", script_json({{"stages", std::move(names)}, {"files", std::move(plots)}})}};
  return finish_page(page_template::report, std::move(page), chart_js);
}

}  // namespace forebay::tools
