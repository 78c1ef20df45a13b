// Names of sockets in Linux's abstract namespace: the kernel takes them back, and no folder is needed.
#include "base/presence.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <functional>

#include "base/environment.hpp"

namespace forebay {
namespace {

// The address begins with a zero byte; hashed, since a name may be longer than an address.
template <class Call>
bool at_address(Call&& bind_or_connect, int socket, const std::string& name) {
  const std::string text =
      "forebay-" + std::to_string(getuid()) + "-" + std::to_string(std::hash<std::string>()(name));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  text.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return bind_or_connect(socket, reinterpret_cast<const sockaddr*>(&address), length) == 0;
}

}  // namespace

Presence::Presence(const std::string& name) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  if (socket_ >= 0) (void)at_address(::bind, socket_, name);
}

Presence::~Presence() {
  if (socket_ >= 0) ::close(socket_);
}

bool Presence::of(const std::string& name) {
  const int probe = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const bool there = at_address(::connect, probe, name);
  ::close(probe);
  return there;
}

// Each rank inherits its end of a socket.
int hydra_socket(pid_t& process) {
  const std::string number = from_environment("PMI_FD");
  const int socket = number.empty() ? -1 : std::atoi(number.c_str());
  ucred peer{};
  socklen_t size = sizeof peer;
  if (socket < 0 || ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0)
    return -1;
  process = peer.pid;
  return socket;
}

std::string job_name() {
  static constexpr std::array names{"PMIX_NAMESPACE", "PMI_JOBID", "PALS_APID"};
  if (std::string name = from_environment(names); !name.empty()) return name;
  const std::string job = from_environment("SLURM_JOB_ID");
  const std::string step = from_environment("SLURM_STEP_ID");
  if (!job.empty() && !step.empty()) return job + "." + step;
  // Hydra, the launcher of MPICH and its kin, names no job.
  pid_t launcher = 0;
  return hydra_socket(launcher) < 0 ? std::string() : "launcher " + std::to_string(launcher);
}

int processes_here() {
  static constexpr std::array names{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE",
                                    "MV2_COMM_WORLD_LOCAL_SIZE"};
  return std::atoi(from_environment(names).c_str());
}

}  // namespace forebay
