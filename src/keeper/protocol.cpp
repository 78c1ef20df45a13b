#include "keeper/protocol.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>

#include "base/environment.hpp"
#include "base/presence.hpp"
#include "forebay/version.h"
#include "segments/segment_area.hpp"

namespace forebay {
namespace {

// Libraries and keepers of other builds, or of other users, have other names.
socklen_t address_of(const std::string& name, sockaddr_un& address) {
  const std::string whole = name + " " + FOREBAY_VERSION + " " + std::to_string(sizeof(KeeperMessage)) + " " +
                            std::to_string(SegmentArea::bytes_needed(64, 1, 1));
  const std::string text =
      "forebay-keeper-" + std::to_string(::geteuid()) + "-" + std::to_string(std::hash<std::string>()(whole));
  address = {};
  address.sun_family = AF_UNIX;
  text.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
}

// Anybody may take a name.
bool is_own(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

int give_up(int socket) {
  const int error = errno;
  if (socket >= 0) ::close(socket);
  errno = error;
  return -1;
}

struct Rights {
  alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int))] = {};
};

}  // namespace

std::string keeper_name() {
  if (std::string name = from_environment("FOREBAY_KEEPER"); !name.empty()) return name;
  if (std::string job = job_name(); !job.empty()) return "job " + job;
  return "launcher " + std::to_string(::getppid());
}

std::string fresh_keeper_name() {
  return "launcher " + std::to_string(::getpid()) + " " +
         std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
}

int listen_as_keeper(const std::string& name) {
  const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address;
  const socklen_t length = address_of(name, address);
  if (socket < 0 || ::bind(socket, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(socket, SOMAXCONN) != 0)
    return give_up(socket);
  return socket;
}

int connect_to_keeper(const std::string& name) {
  const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address;
  const socklen_t length = address_of(name, address);
  if (socket < 0 || ::connect(socket, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      !is_own(socket))
    return give_up(socket);
  return socket;
}

bool send_to_keeper(int socket, const KeeperMessage& message, int descriptor) {
  iovec part{const_cast<KeeperMessage*>(&message), sizeof message};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Rights rights;
  if (descriptor >= 0) {
    header.msg_control = rights.bytes;
    header.msg_controllen = sizeof rights.bytes;
    cmsghdr* const control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
  }
  ssize_t sent;
  do sent = ::sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof message);
}

int receive_from_rank(int socket, KeeperMessage& message, int& descriptor) {
  descriptor = -1;
  iovec part{&message, sizeof message};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Rights rights;
  header.msg_control = rights.bytes;
  header.msg_controllen = sizeof rights.bytes;
  ssize_t got;
  do got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return 0;
  for (cmsghdr* control = CMSG_FIRSTHDR(&header); control != nullptr;
       control = CMSG_NXTHDR(&header, control)) {
    if (control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS)
      std::memcpy(&descriptor, CMSG_DATA(control), sizeof descriptor);
  }
  message.path[sizeof message.path - 1] = '\0';
  return got == static_cast<ssize_t>(sizeof message) ? 1 : -1;
}

}  // namespace forebay
