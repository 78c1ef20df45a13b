// How a failed system call becomes a Status, and how a warning reaches a person exactly once.
#include "base/status.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "base/printable.hpp"

namespace forebay {
namespace {

/// One line, whatever the names in it hold.
void say(const std::string& message) {
  std::fprintf(stderr, "forebay: %s\n", printable(message).c_str());
}

Code code_of(int err) {
  switch (err) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Code::no_space;
    case ENOENT:
    case ENOTDIR:
      return Code::no_such_file;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::access;
    case ENOMEM:
      return Code::no_memory;
    default:
      return Code::io;
  }
}

}  // namespace

Status from_errno(int err, const std::string& what) {
  std::string text = what + ": " + std::strerror(err);
  if (err == EMFILE) {
    struct rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    text += "; this process may have " + std::to_string(limit.rlim_cur) + " (ulimit -n)";
  }
  return {code_of(err), text};
}

void warn_once(const std::string& message) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  const std::lock_guard<std::mutex> lock(mutex);
  if (seen.insert(message).second) say(message);
}

void warn_few(const std::string& kind, const std::string& message, int few) {
  static std::mutex mutex;
  static std::map<std::string, int> told;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    int& count = told[kind];
    if (count > few) return;
    if (++count > few) {
      say(kind + " again; this process does not tell further ones");
      return;
    }
  }
  say(kind + ": " + message);
}

}  // namespace forebay
