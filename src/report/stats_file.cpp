// The JSON document of reports, and how several programs add to one.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/hints.hpp"
#include "report/report.hpp"

namespace forebay {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema_version = 1;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(-1); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void reset(int fd) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_;
};

std::int64_t average(std::int64_t sum, std::int64_t count) {
  return count > 0 ? sum / count : 0;
}

Json to_json(const FileReport& report) {
  const FileFacts& facts = report.facts;
  const Counters& c = report.total;
  Settings settings = facts.settings;
  settings.stats.clear();  // the reader knows where the report is
  Json sizes = Json::array();
  for (std::size_t i = 0; i < c.write_sizes.size(); ++i) {
    if (c.write_sizes[i] == 0) continue;
    const std::int64_t from = std::int64_t{1} << i;
    sizes.push_back({{"from", from}, {"below", 2 * from}, {"count", c.write_sizes[i]}});
  }
  Json seconds = Json::object();
  for (std::size_t i = 0; i < stage_count; ++i) {
    seconds[name_of(static_cast<Stage>(i))] = {{"max", report.seconds[i].max},
                                               {"mean", report.seconds[i].mean}};
  }
  return {
      {"path", facts.path},
      {"driver", facts.driver},
      {"active", true},
      {"program", program_invocation_short_name},
      {"ranks", report.ranks},
      {"nodes", report.nodes},
      {"ranks_per_node", {{"min", report.least_ranks_per_node}, {"max", report.most_ranks_per_node}}},
      {"thread_level", facts.thread_level},
      {"settings", format_hints(settings)},
      {"storage", facts.storage},
      {"file_system", facts.file_system},
      {"fills_holes", facts.fills_holes},
      {"link", facts.link},
      {"stripe_bytes", facts.stripe_bytes},
      {"window_bytes", facts.window_bytes},
      {"requests", c.requests},
      {"pieces", c.pieces},
      {"bytes", c.bytes},
      {"average_piece_bytes", average(c.bytes, c.pieces)},
      {"collective_flushes", c.collective_flushes},
      {"independent_writes", c.independent_writes},
      {"kept_over_calls",
       {{"requests", c.pooled_requests},
        {"collective_calls", c.pooled_calls},
        {"conflicts", c.pool_conflicts},
        {"order_conflict_bytes", c.order_conflicts},
        {"peak_bytes", c.pool_peak_bytes}}},
      {"after_node_coalescing",
       {{"runs", c.node_runs},
        {"bytes", c.node_bytes},
        {"average_run_bytes", average(c.node_bytes, c.node_runs)},
        {"rounds", c.rounds}}},
      {"between_nodes", {{"messages", c.messages}, {"bytes", c.message_bytes}, {"one_sided_puts", c.puts}}},
      {"file_writes",
       {{"count", c.writes},
        {"bytes", c.written_bytes},
        {"average_bytes", average(c.written_bytes, c.writes)},
        {"aligned", c.aligned_writes},
        {"unaligned", c.writes - c.aligned_writes},
        {"bypass", c.bypass_writes},
        {"bypass_bytes", c.bypass_bytes},
        {"read_modify_write_blocks", c.rmw_blocks},
        {"sizes", std::move(sizes)}}},
      {"gets",
       {{"requests", c.gets},
        {"pieces", c.get_pieces},
        {"bytes", c.get_bytes},
        {"average_piece_bytes", average(c.get_bytes, c.get_pieces)},
        {"collective_reads", c.collective_reads}}},
      {"file_reads", {{"count", c.reads}, {"bytes", c.read_bytes}}},
      {"seconds", std::move(seconds)},
      {"memory",
       {{"windows_bytes", c.window_bytes},
        {"segments_bytes", c.segment_bytes},
        {"peak_sum_bytes", report.peak_sum_bytes},
        {"peak_max_bytes", report.peak_max_bytes}}},
      {"aggregators", report.aggregators},
      {"notes", report.notes},
  };
}

Json empty_document() {
  return {{"schema", schema_version}, {"forebay", FOREBAY_VERSION}, {"files", Json::array()}};
}

// Paths need not be UTF-8, JSON must be.
std::string text_of(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status read_all(int fd, std::string& text, const std::string& path) {
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got == 0) return {};
    if (got < 0 && errno != EINTR) return from_errno(errno, "cannot read " + path);
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  }
}

Status write_all(int fd, std::size_t offset, const std::string& text, const std::string& path) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t put =
        ::pwrite(fd, text.data() + done, text.size() - done, static_cast<off_t>(offset + done));
    if (put < 0 && errno != EINTR) return from_errno(errno, "cannot write " + path);
    if (put > 0) done += static_cast<std::size_t>(put);
  }
  return {};
}

// The file that a symbolic link names is replaced, not the link.
std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string result = real;
  std::free(real);
  return result;
}

// Opens and locks the document. Whoever held the lock before may have put another file in its place: then the
// lock is on a file that nobody sees any more.
Status open_locked(const std::string& path, Descriptor& lock) {
  for (;;) {
    lock.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (lock.get() < 0) return from_errno(errno, "cannot open the report file " + path);
    struct stat mine{};
    if (::fstat(lock.get(), &mine) != 0) return from_errno(errno, "cannot look at the report file " + path);
    if (!S_ISREG(mine.st_mode))
      return {Code::bad_argument, "the report file " + path + " is not a regular file"};
    while (::flock(lock.get(), LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      // Lustre without its flock option, for one: one writer at a time is by far the usual case.
      if (errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK) return {};
      return from_errno(errno, "cannot lock the report file " + path);
    }
    struct stat now{};
    if (::stat(path.c_str(), &now) == 0 && now.st_ino == mine.st_ino && now.st_dev == mine.st_dev) return {};
  }
}

// A reader sees the old document or the new one, also where it does not lock.
Status replace(const std::string& path, const std::string& text, int old_fd) {
  std::string temporary = path + ".XXXXXX";
  const Descriptor fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (fd.get() < 0) return from_errno(errno, "cannot write beside the report file " + path);
  struct stat old{};
  if (::fstat(old_fd, &old) == 0) (void)!::fchmod(fd.get(), old.st_mode & 0777);
  Status status = write_all(fd.get(), 0, text, temporary);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = from_errno(errno, "cannot replace the report file " + path);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

// How documents begin and end as we write them: in between a report can be added without reading the others,
// of which a program that opens thousands of files has many.
constexpr std::string_view document_head = "{\n  \"schema\": 1,\n";
constexpr std::string_view document_tail = "\n    }\n  ]\n}\n";

/// The length of the document if it is one to which report_text() can be added at its end; else 0.
std::size_t length_to_add_to(int fd) {
  struct stat now{};
  if (::fstat(fd, &now) != 0) return 0;
  const auto size = static_cast<std::size_t>(now.st_size);
  if (size < document_head.size() + document_tail.size()) return 0;
  const auto there = [&](std::string_view text, std::size_t offset) {
    std::string found(text.size(), '\0');
    const ssize_t got = ::pread(fd, found.data(), found.size(), static_cast<off_t>(offset));
    return got == static_cast<ssize_t>(found.size()) && found == text;
  };
  return there(document_head, 0) && there(document_tail, size - document_tail.size()) ? size : 0;
}

/// What follows the last report but its closing brace.
std::string report_text(const FileReport& report) {
  std::string text = "\n    },\n    ";
  for (const char c : to_json(report).dump(2, ' ', false, Json::error_handler_t::replace)) {
    text += c;
    if (c == '\n') text += "    ";
  }
  return text + "\n  ]\n}\n";
}

Status add_at_end(int fd, std::size_t length, const std::string& text, const std::string& path) {
  const std::size_t offset = length - document_tail.size();
  Status status = write_all(fd, offset, text, path);
  if (status.ok()) return status;
  // A full disk: what was there stays.
  (void)write_all(fd, offset, std::string(document_tail), path);
  (void)!::ftruncate(fd, static_cast<off_t>(length));
  return status;
}

bool is_document(const Json& json) {
  return json.is_object() && json.contains("schema") && json["schema"] == schema_version &&
         json.contains("files") && json["files"].is_array();
}

}  // namespace

std::string format_report(const FileReport& report) {
  Json document = empty_document();
  document["files"].push_back(to_json(report));
  return text_of(document);
}

namespace {

Status read_document(const std::string& path, int fd, Json& document) {
  std::string text;
  if (Status status = read_all(fd, text, path); !status.ok()) return status;
  document = text.empty() ? empty_document() : Json::parse(text, nullptr, false);
  if (is_document(document)) return {};
  return {Code::bad_argument, path + " holds something else than Forebay's reports; it is left as it is"};
}

// JSON's exceptions end here.
template <class Body>
Status guarded(const std::string& path, Body body) {
  try {
    return body();
  } catch (const std::exception& error) {
    return {Code::internal, "cannot write the report to " + path + ": " + error.what()};
  }
}

}  // namespace

Status append_report(const std::string& stats_path, const FileReport& report) {
  return guarded(stats_path, [&]() -> Status {
    const std::string path = resolved(stats_path);
    Descriptor lock(-1);
    if (Status status = open_locked(path, lock); !status.ok()) return status;
    // In one write; whoever reads at this moment waits for the lock (forebay report).
    if (const std::size_t length = length_to_add_to(lock.get()); length > 0)
      return add_at_end(lock.get(), length, report_text(report), path);
    Json document;
    if (Status status = read_document(path, lock.get(), document); !status.ok()) return status;
    document["files"].push_back(to_json(report));
    return replace(path, text_of(document), lock.get());
  });
}

Status start_report(const std::string& stats_path) {
  return guarded(stats_path, [&]() -> Status {
    const std::string path = resolved(stats_path);
    Descriptor lock(-1);
    if (Status status = open_locked(path, lock); !status.ok()) return status;
    Json document;
    if (Status status = read_document(path, lock.get(), document); !status.ok()) return status;
    return replace(path, text_of(empty_document()), lock.get());
  });
}

}  // namespace forebay
