// The JSON Object Format of trace events, one event a line: a process is a node, a thread a rank.
#include "report/trace_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <string_view>

#include "base/printable.hpp"
#include "forebay/version.h"
#include "report/locked_file.hpp"
#include "report/report_json.hpp"

namespace forebay {
namespace {

constexpr const char* what = "timeline";
constexpr std::string_view head_begin = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"forebay\":";
constexpr std::string_view origin_key = "\"begun_unix_ns\":\"";
constexpr std::string_view events_begin = "\"traceEvents\":[";
constexpr std::string_view file_end = "\n]}\n";
constexpr std::size_t most_head = 64 << 10;

struct Name {
  const char* name;
  const char* category;
  const char* count;  ///< what TraceEvent::count is
};
// By Span.
constexpr Name names[] = {
    {"walk requests", "memory", "pieces"},
    {"keep", "memory", "pieces"},
    {"scatter", "memory", "pieces"},
    {"wait for node", "wait", ""},
    {"exchange", "network", "messages"},
    {"write file", "file", "writes"},
    {"read file", "file", "reads"},
    {"pick", "memory", "pieces"},
    {"meet", "wait", ""},
    {"round", "round", "round"},
    {"collective write", "call", ""},
    {"collective read", "call", ""},
    {"flush", "call", ""},
    {"sync", "call", ""},
    {"open", "call", ""},
    {"close", "call", ""},
};
static_assert(std::size(names) == static_cast<std::size_t>(Span::count));

/// One line, and every byte of it text.
std::string json_text(std::string_view text) {
  return Json(as_utf8(text)).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::int64_t wall_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string head_of(const std::string& command) {
  std::string shown = command;
  if (shown.size() > most_head / 16) shown.resize(most_head / 16);  // JSON may take six bytes for one
  return std::string(head_begin) + json_text(FOREBAY_VERSION) + ",\"command\":" + json_text(shown) + "," +
         std::string(origin_key) + std::to_string(wall_now()) + "\"}," + std::string(events_begin) +
         std::string(file_end);
}

bool begins_as_ours(int fd, std::size_t size, std::int64_t& origin) {
  const std::string head = read_part(fd, 0, std::min(size, most_head));
  const std::size_t events = head.find(events_begin);
  const std::size_t key = head.find(origin_key);
  if (!head.starts_with(head_begin) || events == head.npos || key == head.npos || key > events) return false;
  const char* const digits = head.data() + key + origin_key.size();
  return std::from_chars(digits, head.data() + head.size(), origin).ec == std::errc{};
}

bool is_ours(int fd, std::size_t size, std::int64_t& origin) {
  return begins_as_ours(fd, size, origin) && size >= file_end.size() &&
         read_part(fd, size - file_end.size(), file_end.size()) == file_end;
}

std::size_t size_of(int fd) {
  struct stat now{};
  return ::fstat(fd, &now) == 0 ? static_cast<std::size_t>(now.st_size) : 0;
}

Status something_else(const std::string& path) {
  return {Code::bad_argument, path + " holds something else than a timeline of Forebay; it is left as it is"};
}

/// With `anew`, or where nothing is there.
Status prepare(const std::string& trace_path, const std::string& command, bool anew) {
  const std::string path = resolved(trace_path);
  Descriptor lock(-1);
  if (Status status = open_locked(path, what, lock); !status.ok()) return status;
  const std::size_t size = size_of(lock.get());
  std::int64_t origin = 0;
  // One that was killed while it wrote leaves no end; that must not keep the next one from its start.
  const bool ours = anew ? begins_as_ours(lock.get(), size, origin) : is_ours(lock.get(), size, origin);
  if (size > 0 && !ours) return something_else(path);
  return size > 0 && !anew ? Status{} : replace(path, what, head_of(command), lock.get());
}

// A number for a node that is the same in every file of a job, whatever ranks that has.
std::int64_t number_of(const std::string& name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return static_cast<std::int64_t>(hash >> 2) + 1;
}

}  // namespace

double ClockFit::ahead(double time) const {
  if (end <= begin) return ahead_at_begin;
  return ahead_at_begin + (ahead_at_end - ahead_at_begin) * (time - begin) / (end - begin);
}

std::vector<ClockFit> fit_clocks(std::span<const TraceRank> ranks) {
  std::int64_t nodes = 0;
  for (const TraceRank& rank : ranks) nodes = std::max(nodes, rank.node + 1);
  std::vector<ClockFit> fits(static_cast<std::size_t>(nodes));
  if (ranks.empty()) return fits;
  const TraceRank& reference = ranks[0];
  for (std::int64_t node = 0; node < nodes; ++node) {
    if (node == reference.node) continue;
    ClockFit& fit = fits[static_cast<std::size_t>(node)];
    struct Bounds {
      double least = -1e300, most = 1e300, at = 0;
      double middle() const { return (least + most) / 2; }
    };
    const auto look = [&](ClockSamples TraceRank::* when) {
      Bounds bounds;
      for (const TraceRank& rank : ranks) {
        if (rank.node != node) continue;
        const ClockSamples &mine = rank.*when, &theirs = reference.*when;
        for (std::size_t i = 0; i < ClockSamples::count; ++i) {
          bounds.least = std::max(bounds.least, static_cast<double>(mine.enter[i] - theirs.leave[i]));
          bounds.most = std::min(bounds.most, static_cast<double>(mine.leave[i] - theirs.enter[i]));
        }
        bounds.at = static_cast<double>(mine.leave.back());
      }
      return bounds;
    };
    const Bounds open = look(&TraceRank::at_open), close = look(&TraceRank::at_close);
    const Bounds both{std::max(open.least, close.least), std::min(open.most, close.most)};
    // Clocks that may have run alike are taken to have.
    const bool alike = both.least <= both.most;
    fit = {open.at, close.at, alike ? both.middle() : open.middle(), alike ? both.middle() : close.middle(),
           0};
    fit.error = std::max({open.most - fit.ahead_at_begin, fit.ahead_at_begin - open.least,
                          close.most - fit.ahead_at_end, fit.ahead_at_end - close.least});
  }
  return fits;
}

Status start_trace(const std::string& path, const std::string& command) {
  return prepare(path, command, true);
}

Status continue_trace(const std::string& path) {
  return prepare(path, "", false);
}

struct TraceFile::State {
  std::string path;
  Descriptor lock{-1};
  std::size_t at = 0;  // where the next event goes
  bool first = false;  // no event is in the file
  std::int64_t origin = 0;
  std::string file;  // quoted
  std::vector<TraceRank> ranks;
  std::vector<std::int64_t> pids;  // by node
  std::vector<ClockFit> clocks;
  std::vector<bool> extra_threads;
  std::string text;

  void begin_event() {
    text += first ? "\n" : ",\n";
    first = false;
  }
  void print(const char* format, auto... values) {
    char line[256];
    const int length = std::snprintf(line, sizeof line, format, values...);
    text.append(line, static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(sizeof line) - 1)));
  }
  std::int64_t pid(std::size_t rank) const { return pids[static_cast<std::size_t>(ranks[rank].node)]; }
  // 0 is another thing for some viewers.
  std::int64_t tid(std::size_t rank, std::uint16_t thread) const {
    return ranks[rank].world_rank + 1 + (std::int64_t{thread} << 24);
  }
  void name_thread(std::size_t rank, std::uint16_t thread) {
    const std::string name = "rank " + std::to_string(ranks[rank].world_rank) +
                             (thread > 0 ? ", thread " + std::to_string(thread) : "");
    begin_event();
    print("{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%" PRId64 ",\"tid\":%" PRId64, pid(rank),
          tid(rank, thread));
    text += ",\"args\":{\"name\":" + json_text(name) + "}}";
    begin_event();
    print("{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":%" PRId64 ",\"tid\":%" PRId64
          ",\"args\":{\"sort_index\":%" PRId64 "}}",
          pid(rank), tid(rank, thread), tid(rank, thread));
  }
  void name_all();
  void say_how_good(std::int64_t time);
};

void TraceFile::State::name_all() {
  std::map<std::string, std::int64_t> nodes_of_host;
  std::vector<std::string> hosts(clocks.size());
  for (const TraceRank& rank : ranks) {
    std::string& host = hosts[static_cast<std::size_t>(rank.node)];
    if (!host.empty()) continue;
    host.assign(rank.host.data(), ::strnlen(rank.host.data(), rank.host.size()));
    if (host.empty()) host = "host";
    ++nodes_of_host[host];
  }
  for (std::size_t node = 0; node < hosts.size(); ++node) {
    // Parts of a host, each taken for a node (forebay_ranks_per_node).
    const std::string name =
        "node " + hosts[node] + (nodes_of_host[hosts[node]] > 1 ? ", part " + std::to_string(node) : "");
    pids.push_back(number_of(name));
    begin_event();
    print("{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%" PRId64 ",\"tid\":0", pids.back());
    text += ",\"args\":{\"name\":" + json_text(name) + "}}";
    begin_event();
    print("{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":%" PRId64
          ",\"tid\":0,\"args\":{\"sort_index\":%zu}}",
          pids.back(), node);
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) name_thread(rank, 0);
}

/// What a reader has to know of the file's timeline, as a mark of its own.
void TraceFile::State::say_how_good(std::int64_t time) {
  double error = 0;
  std::int64_t dropped = 0;
  for (const ClockFit& fit : clocks) error = std::max(error, fit.error);
  for (const TraceRank& rank : ranks) dropped += rank.dropped;
  begin_event();
  print("{\"name\":\"timeline of a file\",\"cat\":\"about\",\"ph\":\"i\",\"s\":\"g\",\"ts\":%" PRId64
        ".%03" PRId64 ",\"pid\":%" PRId64 ",\"tid\":%" PRId64,
        time / 1000, time % 1000, pid(0), tid(0, 0));
  text += ",\"args\":{\"file\":" + file;
  print(",\"nodes\":%zu,\"ranks\":%zu,\"clocks_differ_by_at_most_us\":%.3f,\"dropped_events\":%" PRId64 "}}",
        clocks.size(), ranks.size(), error / 1000, dropped);
}

TraceFile::TraceFile() = default;
TraceFile::~TraceFile() = default;

Status TraceFile::open(const std::string& path, const std::string& file, std::span<const TraceRank> ranks,
                       std::int64_t clock_to_wall) {
  auto state = std::make_unique<State>();
  state->path = resolved(path);
  if (Status status = open_locked(state->path, what, state->lock); !status.ok()) return status;
  const std::size_t size = size_of(state->lock.get());
  if (!is_ours(state->lock.get(), size, state->origin)) return something_else(state->path);
  state->at = size - file_end.size();
  state->first = read_part(state->lock.get(), state->at - 1, 1) == "[";
  state->origin -= clock_to_wall;  // now of rank 0's steady clock
  state->file = json_text(file);
  state->ranks.assign(ranks.begin(), ranks.end());
  state->clocks = fit_clocks(ranks);
  state->name_all();
  state->say_how_good(std::max<std::int64_t>(0, ranks[0].at_open.leave.back() - state->origin));
  state_ = std::move(state);
  return write();
}

Status TraceFile::add(std::size_t rank, std::span<const TraceEvent> events) {
  State& s = *state_;
  const ClockFit& clock = s.clocks[static_cast<std::size_t>(s.ranks[rank].node)];
  for (const TraceEvent& event : events) {
    if (event.span >= Span::count) continue;
    const Name& name = names[static_cast<std::size_t>(event.span)];
    if (event.thread > 0) {
      s.extra_threads.resize(
          std::max(s.extra_threads.size(), (std::size_t{event.thread} + 1) * s.ranks.size()));
      const std::size_t at = event.thread * s.ranks.size() + rank;
      if (!s.extra_threads[at]) s.name_thread(rank, event.thread);
      s.extra_threads[at] = true;
    }
    // Both ends by the same rule, so that spans within spans stay so. What lies before the first program's
    // start is as good as its start.
    const auto on_timeline = [&](std::int64_t time) {
      const auto ahead = static_cast<std::int64_t>(clock.ahead(static_cast<double>(time)));
      return std::max<std::int64_t>(0, time - ahead - s.origin);
    };
    const std::int64_t begin = on_timeline(event.begin);
    const std::int64_t length = std::max<std::int64_t>(0, on_timeline(event.begin + event.length) - begin);
    s.begin_event();
    s.print("{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%" PRId64 ".%03" PRId64 ",\"dur\":%" PRId64
            ".%03" PRId64 ",\"pid\":%" PRId64 ",\"tid\":%" PRId64,
            name.name, name.category, begin / 1000, begin % 1000, length / 1000, length % 1000, s.pid(rank),
            s.tid(rank, event.thread));
    s.text += ",\"args\":{\"file\":" + s.file;
    if (event.count >= 0 && *name.count != '\0') s.print(",\"%s\":%" PRId64, name.count, event.count);
    if (event.bytes >= 0) s.print(",\"bytes\":%" PRId64, event.bytes);
    s.text += "}}";
  }
  return s.text.size() > (1 << 20) ? write() : Status{};
}

Status TraceFile::write() {
  State& s = *state_;
  if (s.text.empty()) return {};
  const std::size_t length = s.text.size();
  s.text += file_end;
  Status status = write_all(s.lock.get(), s.at, s.text, s.path);
  if (status.ok()) {
    s.at += length;
  } else {
    // A full disk: what was there stays, without the part that still went in.
    (void)write_all(s.lock.get(), s.at, std::string(file_end), s.path);
    (void)!::ftruncate(s.lock.get(), static_cast<off_t>(s.at + file_end.size()));
  }
  s.text.clear();
  return status;
}

}  // namespace forebay
