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
socklen_t address_of(const std::string& name, sockaddr_un& address) {
  const std::string text =
      "forebay-" + std::to_string(getuid()) + "-" + std::to_string(std::hash<std::string>()(name));
  address = {};
  address.sun_family = AF_UNIX;
  text.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
}

}  // namespace

Presence::Presence(const std::string& name) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address;
  const socklen_t length = address_of(name, address);
  if (socket_ >= 0) (void)::bind(socket_, reinterpret_cast<const sockaddr*>(&address), length);
}

Presence::~Presence() {
  if (socket_ >= 0) ::close(socket_);
}

bool Presence::of(const std::string& name) {
  const int probe = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  sockaddr_un address;
  const socklen_t length = address_of(name, address);
  const bool there = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), length) == 0;
  ::close(probe);
  return there;
}

std::string job_name() {
  static constexpr std::array names{"PMIX_NAMESPACE", "PMI_JOBID", "PALS_APID"};
  for (const char* name : names) {
    if (std::string value = from_environment(name); !value.empty()) return value;
  }
  const std::string job = from_environment("SLURM_JOB_ID");
  const std::string step = from_environment("SLURM_STEP_ID");
  return job.empty() || step.empty() ? std::string() : job + "." + step;
}

int processes_here() {
  static constexpr std::array names{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE"};
  for (const char* name : names) {
    if (const std::string value = from_environment(name); !value.empty()) return std::atoi(value.c_str());
  }
  return 0;
}

}  // namespace forebay
