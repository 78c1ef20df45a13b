// Sockets as words taken, and patience.
#include "announce.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <thread>

#include "base/environment.hpp"
#include "base/presence.hpp"
#include "launcher.hpp"
#include "message.hpp"

namespace forebay::tools {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A launcher ends a job within some hundredths of a second after a rank has failed.
constexpr auto time_for_the_launcher = 200ms;
// How long Hydra may take to pass on what a rank has printed; it does not after the end of a job.
constexpr auto time_for_output = 100ms;
// How long ranks that start a little later find that all is said, and how long they wait for the line.
constexpr auto time_for_others = 300ms;
constexpr auto patience = 1s;

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
};

Address address_of(const std::string& topic) {
  Address address;
  address.name.sun_family = AF_UNIX;
  const std::string name =
      "forebay-" + std::to_string(::geteuid()) + "-" + std::to_string(std::hash<std::string>{}(topic));
  // A leading zero byte: no file.
  std::memcpy(address.name.sun_path + 1, name.data(), name.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

enum class Heard { yes, nobody_yet, cannot_tell };

/// Whether a process of this user listens under the name.
Heard heard(const Address& address) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Heard::cannot_tell;
  Heard result = Heard::cannot_tell;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address.name), address.length) != 0) {
    if (errno == ECONNREFUSED || errno == EAGAIN) result = Heard::nobody_yet;
  } else if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid()) {
    result = Heard::yes;
  }
  ::close(fd);
  return result;
}

/// What the processes of one job on this node have in common.
std::string job() {
  std::string text;
  for (const char* name : {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID", "PALS_APID", "PBS_JOBID"}) {
    text += from_environment(name) + '/';
  }
  // Those that a launcher's daemon started have the same parent, where nothing stands in between.
  return text.find_first_not_of('/') == text.npos ? std::to_string(::getppid()) : text;
}

}  // namespace

Spokesman::Spokesman(const std::string& topic) {
  const Address address = address_of(topic);
  const auto deadline = Clock::now() + patience;
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  while (socket_ >= 0 && Clock::now() < deadline) {
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address.name), address.length) == 0) return;
    if (errno != EADDRINUSE) return;
    switch (heard(address)) {
      case Heard::yes:
        has_the_word_ = false;
        return;
      case Heard::cannot_tell:
        return;
      case Heard::nobody_yet:
        std::this_thread::sleep_for(10ms);
    }
  }
}

Spokesman::~Spokesman() {
  if (socket_ >= 0) ::close(socket_);
}

void Spokesman::spoken() {
  if (socket_ >= 0) (void)::listen(socket_, SOMAXCONN);
}

namespace {

/// Other launchers end a job of which a rank fails. Hydra does so after MPI_Init, for which the other ranks
/// would wait; it is asked in MPI_Abort's words. Not by what a script on the rank has started: that may go
/// on.
void end_job_of_hydra(int status) {
  pid_t process = 0;
  const int socket = from_environment("HYDI_CONTROL_FD").empty() ? -1 : hydra_socket(process);
  if (socket < 0 || process != ::getppid()) return;
  std::this_thread::sleep_for(time_for_output);
  const std::string abort = "cmd=abort exitcode=" + std::to_string(status) + "\n";
  (void)::send(socket, abort.data(), abort.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

int give_up(int status, const std::string& message) {
  if (is_first_rank()) {
    complain(message);
    end_job_of_hydra(status);
    return status;
  }
  std::this_thread::sleep_for(time_for_the_launcher);
  Spokesman spokesman(job() + message);
  if (spokesman.has_the_word()) {
    complain(message);
    spokesman.spoken();
    std::this_thread::sleep_for(time_for_others);
  }
  end_job_of_hydra(status);
  return status;
}

}  // namespace forebay::tools
