#include "log/leftover.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/descriptor.hpp"
#include "base/uninterrupted.hpp"
#include "base/waiting.hpp"
#include "storage/descriptors.hpp"
#include "storage/storage.hpp"

namespace forebay {
namespace {

constexpr const char* kFirstLine =
    "Forebay: bytes of this file are in logs. They are brought into it by: forebay recover";
// Then how far it is drained, in so many digits, the host, and the name.
constexpr const char* kLog = "log ";
constexpr std::size_t kDigits = 20;
constexpr const char* kDone = "done ";  // then the name

// Marks lie beside the file, not beside links to it, and know no prefix of MPI-IO's.
std::string marked_name(const std::string& name) {
  const auto real = [](const char* path) {
    const std::unique_ptr<char, decltype(&std::free)> found(::realpath(path, nullptr), &std::free);
    return found ? std::string(found.get()) : std::string();
  };
  std::string path = real(name.c_str());
  if (path.empty() && may_have_prefix(name)) path = real(name.c_str() + name.find(':') + 1);
  return path.empty() ? name : path;
}

// What ends it where nothing is to be recovered any more.
std::string removal(const std::string& path, const std::string& log) {
  return "rm " + log + " " + mark_of(path);
}

std::string digits_of(std::int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kDigits - digits.size(), '0') + digits;
}

Status in_use(const std::string& log) {
  return {Code::access,
          "the log " + log + " is in use: the program that writes it, or another, is still at it"};
}

}  // namespace

std::string mark_of(const std::string& path) {
  return path + ".forebay";
}

bool read_mark(const std::string& mark, std::vector<MarkedLog>& logs) {
  logs.clear();
  std::ifstream in(mark);
  std::string line;
  if (!std::getline(in, line) || line != kFirstLine) return false;
  while (std::getline(in, line)) {
    constexpr std::size_t host = 4 + kDigits + 1;
    if (const std::size_t space = line.find(' ', host); line.starts_with(kLog) && space != std::string::npos)
      logs.push_back({line.substr(host, space - host), line.substr(space + 1), false,
                      std::strtoll(line.c_str() + 4, nullptr, 10)});
    for (MarkedLog& log : logs) log.done |= line.starts_with(kDone) && line.substr(5) == log.name;
  }
  return true;
}

// A mark that is read is whole.
Status write_mark(const std::string& path, const std::vector<MarkedLog>& logs) {
  const std::string mark = mark_of(path), fresh = mark + ".new";
  std::string text = std::string(kFirstLine) + "\n";
  for (const MarkedLog& log : logs)
    text += kLog + digits_of(log.drained) + " " + log.host + " " + log.name + "\n";
  const Descriptor file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.number() < 0) return from_errno(errno, "cannot make " + fresh);
  const bool written = write_whole(file.number(), text.data(), text.size());
  if (!written || ::rename(fresh.c_str(), mark.c_str()) != 0) {
    const int error = errno;
    ::unlink(fresh.c_str());
    return from_errno(error, "cannot make " + mark);
  }
  return {};
}

std::int64_t place_in_mark(const std::string& path, const std::string& name) {
  std::ifstream in(mark_of(path));
  std::int64_t at = 0;
  for (std::string line; std::getline(in, line); at += static_cast<std::int64_t>(line.size()) + 1) {
    if (line.starts_with(kLog) && line.ends_with(" " + name)) return at + 4;
  }
  return 0;
}

void tell_drained(NodeLog& log) {
  const std::int64_t call = log.mark_at() > 0 ? log.drained_call() : 0;
  if (call == 0) return;
  const Descriptor mark(::open(mark_of(log.identity().path).c_str(), O_WRONLY | O_CLOEXEC));
  const std::string digits = digits_of(call);
  if (mark.number() >= 0 && ::pwrite(mark.number(), digits.data(), kDigits, log.mark_at()) == kDigits)
    log.set_told(call);
}

std::int64_t drained_everywhere(const std::string& path, std::string& last) {
  std::vector<MarkedLog> logs;
  // A mark that cannot be read says nothing: a rank without a descriptor left must not take old bytes.
  last = mark_of(path);
  if (!read_mark(last, logs)) return 0;
  std::int64_t least = INT64_MAX;
  for (const MarkedLog& log : logs) {
    if (log.done || log.drained >= least) continue;
    least = log.drained;
    last = log.name + " on " + log.host;
  }
  return least;
}

void remove_mark(const std::string& path) {
  ::unlink(mark_of(path).c_str());
}

namespace {

// Of several logs whoever is the last removes the mark: nobody else, since it may be another one by then.
// What a full disk left of another one's line ends before this. False: it cannot be said.
bool note_done(const std::string& path, const std::string& name) {
  const std::string mark = mark_of(path), line = kDone + name, text = "\n" + line + "\n";
  const Descriptor file(uninterrupted([&] { return ::open(mark.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC); }));
  if (file.number() < 0) return errno == ENOENT;
  if (!write_whole(file.number(), text.data(), text.size())) return false;
  std::vector<MarkedLog> logs;
  if (!read_mark(mark, logs) || !std::ranges::all_of(logs, &MarkedLog::done)) return true;
  std::ifstream in(mark);
  std::string each, last;
  while (std::getline(in, each)) {
    if (!each.empty()) last = each;
  }
  if (last == line) remove_mark(path);
  return true;
}

}  // namespace

bool remove_log(const NodeLog& log) {
  const LogIdentity& identity = log.identity();
  // A log that a mark lists and that is not there would be looked for: an empty one does no harm.
  const bool told = identity.nodes == 1 ? ::unlink(mark_of(identity.path).c_str()) == 0 || errno == ENOENT
                                        : note_done(identity.path, log.name());
  if (told) ::unlink(log.name().c_str());
  return told;
}

namespace {

// `listed`: the mark cannot be changed, so that it still lists the log, and that stays.
Status bring_in(const std::string& name, bool dry, Recovered& out, const Tell& tell, Status& listed) {
  std::unique_ptr<NodeLog> log;
  if (Status status = NodeLog::attach(name, -1, log); !status.ok()) return status;
  if (log->is_used()) return in_use(name);
  // Another process may be at it, of a program that has closed the file: then it is two.
  const bool helps = log->has_drainer();
  if (!helps && !dry && !log->be_drainer()) return in_use(name);
  const std::string path = log->identity().path;
  const Descriptor file(
      uninterrupted([&] { return ::open(path.c_str(), (dry ? O_RDONLY : O_RDWR) | O_CLOEXEC); }));
  if (file.number() < 0) {
    const Status failed = from_errno(errno, "cannot open " + path + ", which the log " + name + " is of");
    return {failed.code(), failed.message() +
                               ". If the file has been moved, move it back to that name, and type the same "
                               "again. If it is gone for good: " +
                               removal(path, name)};
  }
  FileId id;
  if (!id_of(file.number(), id) || id.inode != log->identity().inode)
    return {Code::unsupported,
            "the log " + name + " is of another file that was called " + path +
                ": that one has been replaced, or was copied. Move the file itself back to "
                "that name, and type the same again. If it is gone for good: " +
                removal(path, name)};
  const std::int64_t all = 2 * log->content().bytes;
  const auto checked = [&](std::int64_t done) {
    if (tell) tell(done, all);
  };
  if (dry) {
    out.entries = log->entries(checked);
    for (const NodeLog::Entry& entry : out.entries) {
      ++(entry.whole ? out.appends : out.torn);
      out.bytes += entry.whole ? entry.bytes : 0;
    }
    out.bytes += log->is_used() ? 0 : log->left_in_level1();
    return {};
  }
  if (!helps) {
    log->set_right_after_crash();
    if (Status status = log->drop_torn(out.torn, checked); !status.ok()) return status;
  }
  const NodeLog::Content content = log->content();
  out.appends = content.writes;
  out.bytes = content.bytes;
  const auto storage = make_posix_storage(file.number(), path);
  out.helped = helps;
  if (!helps) {
    const std::int64_t left = log->left_in_level1();
    out.appends += left > 0 ? 1 : 0;
    out.bytes += left;
  }
  constexpr std::int64_t batch = 64 << 20;
  while (!log->empty()) {
    bool blocked = false;
    if (Status status = log->drain(*storage, batch, blocked); !status.ok()) return status;
    if (tell) tell(2 * out.bytes - log->content().bytes, 2 * out.bytes);
    if (blocked) sleep_for(1'000'000);
  }
  // Level 1 comes after all appends.
  if (!helps) {
    if (Status status = log->drain_left(*storage); !status.ok()) return status;
  }
  if (uninterrupted([&] { return ::fsync(file.number()); }) != 0)
    return from_errno(errno, "cannot sync " + path);
  if (!remove_log(*log))
    listed = from_errno(errno, path + " is complete, but " + mark_of(path) + " cannot be changed");
  return {};
}

}  // namespace

// A process that is being killed has its locks a moment longer than its name.
Status recover(const std::string& name, bool dry, Recovered& out, const Tell& tell) {
  constexpr long look = 20'000'000;  // nanoseconds
  constexpr int looks = 50;
  std::unique_ptr<NodeLog> log;
  for (int i = 0; i < looks && !dry && NodeLog::attach(name, -1, log).ok() && log->is_used(); ++i)
    sleep_for(look);
  log.reset();
  Status listed, status = bring_in(name, dry, out, tell, listed);
  return status.ok() ? listed : status;
}

Status settle_leftover(const std::string& given, bool* elsewhere) {
  const std::string path = marked_name(given);
  std::vector<MarkedLog> logs;
  if (!read_mark(mark_of(path), logs)) return {};
  const MarkedLog* missing = nullptr;
  std::vector<std::string> empty;  // that stay as long as the mark does
  for (const MarkedLog& marked : logs) {
    const std::string& name = marked.name;
    if (::access(name.c_str(), F_OK) != 0) {
      if (!marked.done && missing == nullptr) missing = &marked;
      continue;
    }
    if (marked.done) {
      ::unlink(name.c_str());
      continue;
    }
    // An open file's: until its flush others see what is in the file, as in commit mode.
    std::unique_ptr<NodeLog> log;
    if (NodeLog::attach(name, -1, log).ok() && log->is_used()) return {};
    log.reset();
    Recovered recovered;
    Status listed;
    if (Status status = bring_in(name, false, recovered, nullptr, listed); !status.ok())
      return {status.code(), path + " is not complete: " + status.message()};
    if (!listed.ok()) empty.push_back(name);
    if (recovered.helped) continue;
    std::string told = path + " was not complete: " + std::to_string(recovered.bytes) + " bytes of " + name +
                       " are in it now";
    if (recovered.torn > 0)
      told += "; " + std::to_string(recovered.torn) + " writes that were cut off are left out";
    warn_once(told);
  }
  if (elsewhere != nullptr) *elsewhere = missing != nullptr;
  if (missing != nullptr && elsewhere == nullptr)
    return {Code::unsupported, path + " is not complete: some of it is in " + missing->name + " on " +
                                   missing->host +
                                   ", which is not here. Where it is, type: forebay recover " + path +
                                   ". If it is lost, remove " + mark_of(path)};
  if (missing == nullptr) {
    remove_mark(path);
    for (const std::string& name : empty) {
      if (::access(mark_of(path).c_str(), F_OK) != 0) ::unlink(name.c_str());
    }
  }
  return {};
}

}  // namespace forebay
