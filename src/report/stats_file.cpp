// The JSON document of reports, and how several programs add to one.
#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "report/document.hpp"
#include "report/locked_file.hpp"
#include "report/report.hpp"

namespace forebay {
namespace {

constexpr const char* what = "report file";

/// What this process knows of the slots of the document that it last wrote to. They keep their places for as
/// long as the document is the same file; what others have added since is read once.
class Index {
 public:
  /// Learns all slots that begin before `end`.
  void learn(int fd, const struct stat& document, std::size_t end) {
    // A number may have been given to another file since; then the last slot is hardly where it was.
    const bool same = document.st_dev == device_ && document.st_ino == inode_ && end >= known_ &&
                      read_part(fd, last_.begin, last_.key.size()) == last_.key;
    if (!same) {
      slots_.clear();
      last_ = {};
      known_ = 0;
      device_ = document.st_dev;
      inode_ = document.st_ino;
    }
    for (Slot& slot : slots_in(read_part(fd, known_, end - known_))) {
      slot.begin += known_;
      slots_.insert_or_assign(slot.key, slot);
      last_ = slot;
    }
    known_ = end;
  }
  const Slot* find(const std::string& key) const {
    const auto at = slots_.find(key);
    return at != slots_.end() ? &at->second : nullptr;
  }

 private:
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::size_t known_ = 0;
  std::map<std::string, Slot> slots_;
  Slot last_;
};

/// Adds the report in its place, where the document is as we write it and there is room; else nothing.
std::optional<Status> add_in_place(int fd, const std::string& path, const FileReport& report) {
  static std::mutex mutex;
  static Index& index = *new Index;  // something may be added while the process's own objects go
  const std::lock_guard<std::mutex> guard(mutex);
  struct stat now{};
  if (::fstat(fd, &now) != 0) return {};
  const auto size = static_cast<std::size_t>(now.st_size);
  if (read_part(fd, 0, document_head.size()) != document_head) return {};
  constexpr std::size_t most_tail = 4096;
  const std::size_t from = size - std::min(size, most_tail);
  std::string tail = read_part(fd, from, size - from);
  const std::size_t mark = tail.rfind(totals_mark);
  if (mark == tail.npos) return {};
  const std::size_t end = from + mark;
  tail.erase(0, mark);
  Json totals = parse_tail(tail);
  index.learn(fd, now, end);

  const std::string key = slot_key(report.facts.path, report.facts.driver);
  const Slot* slot = index.find(key);
  if (slot == nullptr && report.opens == 0) return Status{};
  add_totals(totals, totals_of(report, slot == nullptr));
  const std::string new_tail = format_tail(totals);
  if (slot != nullptr) {
    const std::string old = read_part(fd, slot->begin, slot->length);
    if (!old.starts_with(key)) return {};
    FileReport whole = from_json(Json::parse(old));
    fold(whole, report);
    const std::string text = format_slot(whole, slot->length);
    if (text.size() != slot->length) return {};
    Status status = write_all(fd, slot->begin, text, path);
    if (status.ok()) status = write_all(fd, end, new_tail, path);
    if (status.ok() && end + new_tail.size() < size)
      (void)!::ftruncate(fd, static_cast<off_t>(end + new_tail.size()));
    return status;
  }
  const bool first = read_part(fd, end - std::min<std::size_t>(end, 1), 1) == "[";
  // In one write; whoever reads at this moment waits for the lock (forebay report).
  Status status = write_all(fd, end, (first ? "" : ",") + format_slot(report) + new_tail, path);
  if (status.ok()) return status;
  // A full disk: what was there stays.
  (void)write_all(fd, end, tail, path);
  (void)!::ftruncate(fd, static_cast<off_t>(size));
  return status;
}

Status something_else(const std::string& path) {
  return {Code::bad_argument, path + " holds something else than Forebay's reports; it is left as it is"};
}

Status read_document(const std::string& path, int fd, Document& document) {
  std::string text;
  if (Status status = read_all(fd, text, path); !status.ok()) return status;
  try {
    document = text.empty() ? begin_document("") : parse_document(text);
  } catch (const std::exception&) {
    return something_else(path);
  }
  return {};
}

/// Whether this is a document of ours, of this version or of an earlier one: it may be begun anew.
bool is_any_document(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() && json.contains("schema") && json["schema"].is_number_integer() &&
         json["schema"] >= 1 && json["schema"] <= schema_version && json.contains("files") &&
         json["files"].is_array();
}

/// Calls body(path, fd) for the document, locked. JSON's exceptions end here.
template <class Body>
Status with_document(const std::string& stats_path, Body body) {
  try {
    const std::string path = resolved(stats_path);
    Descriptor lock(-1);
    if (Status status = open_locked(path, what, lock); !status.ok()) return status;
    return body(path, lock.get());
  } catch (const std::exception& error) {
    return {Code::internal, "cannot write the report to " + stats_path + ": " + error.what()};
  }
}

}  // namespace

Status append_report(const std::string& stats_path, const FileReport& report) {
  return with_document(stats_path, [&](const std::string& path, int fd) -> Status {
    if (std::optional<Status> added = add_in_place(fd, path, report)) return *std::move(added);
    Document document;
    if (Status status = read_document(path, fd, document); !status.ok()) return status;
    add_to_document(document, report);
    return replace(path, what, format_document(document), fd);
  });
}

Status start_report(const std::string& stats_path, const std::string& command) {
  return with_document(stats_path, [&](const std::string& path, int fd) -> Status {
    std::string text;
    if (Status status = read_all(fd, text, path); !status.ok()) return status;
    if (!text.empty() && !is_any_document(text)) return something_else(path);
    return replace(path, what, format_document(begin_document(command)), fd);
  });
}

}  // namespace forebay
