// Whether another process on this machine is at some point, without a message to it: a name that lasts as
// long as somebody holds it. For what has to be said before the ranks of a job have a communicator of ours.
#pragma once

#include <sys/types.h>

#include <string>

namespace forebay {

/// Holds a name. Nothing is left behind when the process ends, however it ends.
class Presence {
 public:
  /// Where the name cannot be had, nobody is seen.
  explicit Presence(const std::string& name);
  ~Presence();
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

  /// Whether a process of this user and machine holds that name.
  static bool of(const std::string& name);

 private:
  int socket_;
};

/// What the launcher calls this job, the same in all of its processes; empty where it does not tell.
std::string job_name();

/// The socket to the process by which Hydra has started this one's job on this machine; -1 under another
/// launcher.
int hydra_socket(pid_t& process);

/// How many of a job's processes are on this machine, as the launcher says; 0 where it does not.
int processes_here();

}  // namespace forebay
