// Whether a timeline is what viewers of trace events read, and what it must tell besides.
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace forebay::test {

struct TimelineFacts {
  std::vector<std::string> failures;
  std::set<std::int64_t> nodes;
  std::set<std::pair<std::int64_t, std::int64_t>> threads;  ///< with a span; pid and tid
  std::map<std::string, std::int64_t> spans;                ///< by name
  std::map<std::string, std::int64_t> written;              ///< bytes of "write file", by file
  std::map<std::string, std::int64_t> about;                ///< marks of a file's timeline, by file
  std::int64_t dropped = 0;
};

/// The JSON Object Format: ph, ts, dur, pid, tid and name as they have to be, names for all processes and
/// threads, and spans of a thread that lie within each other or apart.
inline TimelineFacts look_at_timeline(const nlohmann::json& document) {
  TimelineFacts facts;
  const auto fail = [&](const std::string& what, const nlohmann::json& event) {
    if (facts.failures.size() < 10) facts.failures.push_back(what + ": " + event.dump());
  };
  if (!document.is_object() || !document.contains("traceEvents") || !document["traceEvents"].is_array()) {
    facts.failures.emplace_back("there is no list of events");
    return facts;
  }
  std::set<std::int64_t> named_nodes;
  std::set<std::pair<std::int64_t, std::int64_t>> named_threads;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<double, double>>> by_thread;
  for (const nlohmann::json& event : document["traceEvents"]) {
    for (const char* key : {"name", "ph"}) {
      if (!event.contains(key) || !event[key].is_string()) fail(std::string("no ") + key, event);
    }
    if (!event.contains("pid") || !event["pid"].is_number_integer() || event["pid"] <= 0)
      fail("no pid", event);
    if (!event.contains("tid") || !event["tid"].is_number_integer() || event["tid"] < 0)
      fail("no tid", event);
    if (!facts.failures.empty()) break;
    const std::string phase = event["ph"], name = event["name"];
    const std::pair<std::int64_t, std::int64_t> thread{event["pid"], event["tid"]};
    if (phase == "M") {
      if (name == "process_name") named_nodes.insert(thread.first);
      if (name == "thread_name") named_threads.insert(thread);
      if (name.ends_with("_name") && !event["args"]["name"].is_string()) fail("a name without a name", event);
      continue;
    }
    if (!event.contains("ts") || !event["ts"].is_number() || event["ts"] < 0) fail("no ts", event);
    if (phase == "i") {
      ++facts.about[event["args"]["file"]];
      facts.dropped += event["args"]["dropped_events"].get<std::int64_t>();
      if (event["args"]["clocks_differ_by_at_most_us"] < 0) fail("clocks", event);
      continue;
    }
    if (phase != "X" || !event.contains("dur") || !event["dur"].is_number() || event["dur"] < 0) {
      fail("no span", event);
      continue;
    }
    facts.nodes.insert(thread.first);
    facts.threads.insert(thread);
    ++facts.spans[name];
    if (name == "write file")
      facts.written[event["args"]["file"]] += event["args"]["bytes"].get<std::int64_t>();
    const double begin = event["ts"];
    by_thread[thread].emplace_back(begin, begin + event["dur"].get<double>());
  }
  for (const auto& thread : facts.threads) {
    if (!named_nodes.contains(thread.first) || !named_threads.contains(thread))
      facts.failures.push_back("no name for thread " + std::to_string(thread.second));
    auto& spans = by_thread[thread];
    std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    std::vector<double> ends;
    constexpr double rounding = 0.002;
    for (const auto& [begin, end] : spans) {
      while (!ends.empty() && ends.back() <= begin + rounding) ends.pop_back();
      if (!ends.empty() && end > ends.back() + rounding)
        facts.failures.push_back("spans cross at " + std::to_string(begin));
      ends.push_back(end);
    }
  }
  return facts;
}

}  // namespace forebay::test
