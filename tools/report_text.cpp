// forebay report: a report as text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/printable.hpp"
#include "human.hpp"
#include "report_formats.hpp"
#include "report_log.hpp"
#include "report_stages.hpp"

namespace forebay::tools {
namespace {

using nlohmann::json;

std::int64_t number(const json& value) {
  return value.get<std::int64_t>();
}

/// The document may come from anybody: nothing in it reaches the terminal as a command.
void line(const std::string& label, const std::string& text) {
  if (!text.empty()) fmt::print("  {:<16}{}\n", label, printable(text));
}

std::string text_of(const json& value) {
  return value.get<std::string>();
}

std::string per_node(const json& range) {
  const std::int64_t min = number(range.at("min"));
  const std::int64_t max = number(range.at("max"));
  return min == max ? human_count(min) : fmt::format("{} to {}", human_count(min), human_count(max));
}

std::string list_of(const json& numbers) {
  constexpr std::size_t most = 16;
  std::string text;
  for (std::size_t i = 0; i < numbers.size() && i < most; ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(number(numbers[i]));
  }
  if (numbers.size() > most)
    text += fmt::format(", … ({} in all)", human_count(static_cast<std::int64_t>(numbers.size())));
  return text;
}

/// "" where nobody has measured.
std::string link_rate(const json& file) {
  const std::int64_t rate = file.value("link_bytes_per_second", std::int64_t{0});
  return rate == 0 ? "" : "; measured at " + human_bytes(rate) + " a second on each rail";
}

/// Why a node has so many; "" where nobody said.
std::string about_aggregators(const json& file) {
  if (!file.contains("node") || number(file["node"].at("aggregators")) == 0) return "";
  const json& node = file["node"];
  return fmt::format("; {} a node, {}", number(node.at("aggregators")),
                     why_so_many_aggregators(text_of(node.at("aggregators_by"))));
}

void print_times(const json& seconds) {
  std::string heads;
  std::string slowest;
  std::string mean;
  for (const char* stage : {"walk", "pool", "scatter", "node_wait", "exchange", "write", "read", "agree"}) {
    heads += fmt::format("{:>10}", stage);
    slowest += fmt::format("{:>10.3f}", seconds.at(stage).at("max").get<double>());
    mean += fmt::format("{:>10.3f}", seconds.at(stage).at("mean").get<double>());
  }
  line("seconds in", heads);
  line("  slowest rank", slowest);
  line("  mean", mean);
}

/// What Forebay's time went to, the largest part first.
std::string shares_of(const json& seconds) {
  std::array<std::pair<double, const char*>, groups.size()> shares{};
  double all = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) shares[g].second = groups[g];
  for (const StageWords& stage : stages) {
    const double mean = seconds.at(stage.key).at("mean").get<double>();
    shares[static_cast<std::size_t>(stage.group)].first += mean;
    all += mean;
  }
  std::ranges::sort(shares, std::greater<>());
  std::string text;
  for (const auto& [share, name] : shares) {
    if (all > 0 && share >= 0.005 * all)
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, 100 * share / all);
  }
  return text.empty() ? "nothing measured" : text;
}

/// What the library wrote of its own accord, and what was left to its own driver.
void print_others(const json& file) {
  const json& own = file.at("library_writes");
  if (number(own.at("metadata")) + number(own.at("fill")) > 0) {
    line("library wrote", fmt::format("{} of metadata ({}), {} of fill values ({})",
                                      human_bytes(number(own.at("metadata_bytes"))),
                                      counted(number(own.at("metadata")), "write", "writes"),
                                      human_bytes(number(own.at("fill_bytes"))),
                                      counted(number(own.at("fill")), "write", "writes")));
  }
  const json& stock = file.at("stock");
  if (number(stock.at("opens")) > 0) {
    line("on stock driver", fmt::format("{} of {}", human_count(number(stock.at("opens"))),
                                        counted(number(file.at("opens")), "open", "opens")));
  }
  if (number(stock.at("put_bytes")) + number(stock.at("get_bytes")) + number(stock.at("puts")) +
          number(stock.at("gets")) >
      0) {
    line("by stock driver",
         fmt::format("{} put ({}), {} got ({})", human_bytes(number(stock.at("put_bytes"))),
                     counted(number(stock.at("puts")), "call", "calls"),
                     human_bytes(number(stock.at("get_bytes"))),
                     counted(number(stock.at("gets")), "call", "calls")));
  }
  const json& broken = file.at("broken_collectives");
  if (number(broken.at("writes")) > 0)
    line("made independent", counted(number(broken.at("writes")), "collective write", "collective writes"));
}

/// Reports of earlier versions do not say.
std::string owners_at_work(const json& coalesced) {
  const auto rounds = static_cast<double>(number(coalesced.at("rounds")));
  const std::int64_t owned = coalesced.value("owner_rounds", std::int64_t{0});
  const std::int64_t wide = coalesced.value("wide_rounds", std::int64_t{0});
  if (owned == 0 || rounds == 0) return "";
  return fmt::format("; {:.1f} owners wrote in a round{}", static_cast<double>(owned) / rounds,
                     wide > 0 ? fmt::format(", {} wide", human_count(wide)) : "");
}

std::string on_file_system(const json& file) {
  const std::string name = file.value("file_system", "");
  if (name.empty()) return "";
  return " on " + name +
         (file.value("fills_holes", false) ? "; blocks put in part may be completed"
                                           : "; blocks put in part are written run by run");
}

/// Nor do they say this.
std::string stripes(const json& file) {
  std::string text = "stripes of " + human_bytes(number(file.at("stripe_bytes")));
  const std::int64_t targets = file.value("storage_targets", std::int64_t{0});
  if (targets > 0) text += " on " + counted(targets, "storage target", "storage targets");
  const std::string source = file.value("stripe_source", "");
  return source.empty() ? text : text + " (" + source + ")";
}

void print_file(const json& file) {
  const json& coalesced = file.at("after_node_coalescing");
  const json& between = file.at("between_nodes");
  const json& writes = file.at("file_writes");
  const json& reads = file.at("file_reads");
  const json& memory = file.at("memory");
  const std::int64_t ranks = number(file.at("ranks"));
  const std::int64_t nodes = number(file.at("nodes"));
  const std::int64_t opens = number(file.at("opens"));

  fmt::print("{}\n", printable(text_of(file.at("path"))));
  line("driver", fmt::format("{}, in {}, on {}, {}{}", text_of(file.at("driver")),
                             text_of(file.at("program")), text_of(file.at("host")), text_of(file.at("date")),
                             opens > 1 ? ", opened " + human_count(opens) + " times" : ""));
  if (!file.at("active").get<bool>()) {
    line("ranks", human_count(ranks));
    print_others(file);
    for (const json& note : file.at("notes")) line("note", text_of(note));
    return;
  }
  line("ranks", fmt::format("{} on {}, {} a node", human_count(ranks), counted(nodes, "node", "nodes"),
                            per_node(file.at("ranks_per_node"))));
  line("settings", text_of(file.at("settings")));
  line("layout", fmt::format("{}, rounds of {}, through {}{}", stripes(file),
                             human_bytes(number(file.at("window_bytes"))), text_of(file.at("storage")),
                             on_file_system(file)));
  line("program put",
       fmt::format("{} of {}: {}, on average {}", counted(number(file.at("requests")), "request", "requests"),
                   human_bytes(number(file.at("bytes"))),
                   counted(number(file.at("pieces")), "piece", "pieces"),
                   human_bytes(number(file.at("average_piece_bytes")))));
  line("in",
       fmt::format(
           "{}, {}", counted(number(file.at("collective_flushes")), "collective write", "collective writes"),
           counted(number(file.at("independent_writes")), "independent write", "independent writes")));
  print_others(file);
  const json& gets = file.at("gets");
  if (number(gets.at("requests")) > 0) {
    line("program got",
         fmt::format(
             "{} of {}: {}, on average {}; {}", counted(number(gets.at("requests")), "request", "requests"),
             human_bytes(number(gets.at("bytes"))), counted(number(gets.at("pieces")), "piece", "pieces"),
             human_bytes(number(gets.at("average_piece_bytes"))),
             counted(number(gets.at("collective_reads")), "collective read", "collective reads")));
  }
  const json& kept = file.at("kept_over_calls");
  if (number(kept.at("requests")) > 0) {
    line("kept over calls",
         fmt::format("{} of {}, at most {} a rank; {} for possible overlaps",
                     counted(number(kept.at("requests")), "request", "requests"),
                     counted(number(kept.at("collective_calls")), "collective write", "collective writes"),
                     human_bytes(number(kept.at("peak_bytes"))),
                     counted(number(kept.at("conflicts")), "flush", "flushes")));
  }
  for (const char* label = "log"; const std::string& words : log_in_words(file)) {
    line(label, words);
    label = "  ";
  }
  if (number(coalesced.at("runs")) > 0) {
    line("coalesced",
         fmt::format("{} of {} in {}, on average {}{}", counted(number(coalesced.at("runs")), "run", "runs"),
                     human_bytes(number(coalesced.at("bytes"))),
                     counted(number(coalesced.at("rounds")), "round", "rounds"),
                     human_bytes(number(coalesced.at("average_run_bytes"))), owners_at_work(coalesced)));
  }
  line("between nodes",
       number(between.at("messages")) == 0
           ? "nothing"
           : fmt::format("{} of {}, {} of headers; {} of them one-sided puts{}",
                         counted(number(between.at("messages")), "message", "messages"),
                         human_bytes(number(between.at("bytes"))),
                         human_bytes(between.value("header_bytes", std::int64_t{0})),
                         human_count(number(between.at("one_sided_puts"))), link_rate(file)));
  // What is drained later is not counted.
  line("file writes",
       fmt::format("{}{} of {}, on average {}; {} aligned, {} not",
                   had_log(file) ? "to the log or the file: " : "",
                   counted(number(writes.at("count")), "write", "writes"),
                   human_bytes(number(writes.at("bytes"))), human_bytes(number(writes.at("average_bytes"))),
                   human_count(number(writes.at("aligned"))), human_count(number(writes.at("unaligned")))));
  for (const json& size : writes.at("sizes")) {
    line("", fmt::format("{:>10} of {} to {}", human_count(number(size.at("count"))),
                         human_bytes(number(size.at("from"))), human_bytes(number(size.at("below")))));
  }
  if (number(writes.at("bypass")) > 0) {
    line("  past windows", fmt::format("{} of {}", counted(number(writes.at("bypass")), "write", "writes"),
                                       human_bytes(number(writes.at("bypass_bytes")))));
  }
  if (number(writes.at("read_modify_write_blocks")) > 0) {
    line("  with holes",
         counted(number(writes.at("read_modify_write_blocks")), "block read, merged and written whole",
                 "blocks read, merged and written whole"));
  }
  if (number(reads.at("count")) > 0) {
    line("file reads", fmt::format("{} of {}", counted(number(reads.at("count")), "read", "reads"),
                                   human_bytes(number(reads.at("bytes")))));
  }
  print_times(file.at("seconds"));
  line("limited by", shares_of(file.at("seconds")));
  line("memory", fmt::format("windows {}, kept {}; peak of the processes {} in all, {} the largest",
                             human_bytes(number(memory.at("windows_bytes"))),
                             human_bytes(number(memory.at("segments_bytes"))),
                             human_bytes(number(memory.at("peak_sum_bytes"))),
                             human_bytes(number(memory.at("peak_max_bytes")))));
  line("aggregators", list_of(file.at("aggregators")) + about_aggregators(file));
  if (const std::string owning = file.value("owner_nodes", ""); owning != "all") line("owner nodes", owning);
  for (const json& note : file.at("notes")) line("note", text_of(note));
}

void print_head(const json& document) {
  fmt::print("{}\n", printable(text_of(document.at("command"))));
  line("begun", fmt::format("on {}, {}, by Forebay {}", text_of(document.at("host")),
                            text_of(document.at("date")), text_of(document.at("forebay"))));
  const json& totals = document.at("totals");
  if (number(totals.at("files")) < 2) return;
  const auto all = [&](const char* key) { return number(totals.at(key)); };
  line("in all", fmt::format("{}, opened {}{}", counted(all("files"), "file", "files"),
                             counted(all("opens"), "time", "times"),
                             all("stock_opens") > 0 ? fmt::format(", {} of them on the stock driver",
                                                                  human_count(all("stock_opens")))
                                                    : ""));
  line("  put", fmt::format("{} in {}; the libraries {} of their own; by stock drivers {}",
                            human_bytes(all("bytes")), counted(all("pieces"), "piece", "pieces"),
                            human_bytes(all("library_bytes")), human_bytes(all("stock_bytes"))));
  line("  written", fmt::format("{} in {}", human_bytes(all("file_write_bytes")),
                                counted(all("file_writes"), "write", "writes")));
  if (all("got_bytes") > 0) {
    line("  got",
         fmt::format("{}; read {} in {}", human_bytes(all("got_bytes")), human_bytes(all("file_read_bytes")),
                     counted(all("file_reads"), "read", "reads")));
  }
}

}  // namespace

void print_as_text(const json& document) {
  const json& files = document.at("files");
  if (files.empty())
    fmt::print(
        "No file was written through Forebay, or the program ended before it closed one. `forebay run "
        "--verbose PROGRAM` tells which driver each library runs on, "
        "`forebay doctor` whether Forebay works here.\n");
  if (!files.empty()) print_head(document);
  for (const json& file : files) {
    fmt::print("\n");
    print_file(file);
  }
}

}  // namespace forebay::tools
