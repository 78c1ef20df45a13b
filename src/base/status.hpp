// The outcome of an operation: a code for programs and a sentence for people, passed by value through every
// room.
#pragma once

#include <string>
#include <utility>

namespace forebay {

/// What kind of thing went wrong; drivers map it to their library's own codes.
enum class Code : int {
  ok = 0,
  no_memory,         ///< an allocation failed
  no_shared_memory,  ///< the node cannot give the window that a flush needs
  no_space,          ///< the file system or a quota is full
  no_such_file,      ///< a path component is missing
  access,            ///< permission denied or read-only
  io,                ///< any other failure of the file system
  bad_hint,          ///< unknown key or malformed value
  bad_argument,      ///< the caller's mistake
  mpi,               ///< an MPI call failed
  unsupported,       ///< not possible with this file, library or platform
  peer,              ///< another rank of the collective call failed; its message is attached where known
  internal           ///< a defect in Forebay
};

/// Code and message. The message names the file, range and cause, and says what to do where something can be
/// done.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  /// The failure of another rank, which that rank tells the user about itself.
  static Status heard(Code code, std::string message) {
    Status status(code, std::move(message));
    status.heard_ = true;
    return status;
  }
  bool is_heard() const { return heard_; }

  /// Keeps the first failure of a sequence.
  void update(Status other) {
    if (ok() && !other.ok()) *this = std::move(other);
  }

 private:
  Code code_ = Code::ok;
  std::string message_;
  bool heard_ = false;
};

/// A Status for a failed system call: `what` is the sentence's beginning ("cannot write …"), `err` the errno.
Status from_errno(int err, const std::string& what);

/// Prints "forebay: message" once a process for each distinct message, on stderr.
void warn_once(const std::string& message);

/// Prints messages of which a process may have thousands, equal or not: the first few of each `kind`.
void warn_few(const std::string& kind, const std::string& message, int few = 3);

}  // namespace forebay
