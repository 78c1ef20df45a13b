// The filter that stops writes, and the loop that lets them go on.
#include "throttle.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <utility>

#include "token_bucket.hpp"

namespace forebay::bench {
namespace {

using Clock = TokenBucket::Clock;

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "the throttle knows the system calls of x86-64 and of 64-bit ARM"
#endif

// write(2): messages of MPI's own, to pipes and events, are smaller than what anybody writes to a file.
constexpr std::uint32_t small_write = 512;
// pwrite(2): to look at each of a million pieces would take longer than the storage does. Of those below this
// one in `sample` is looked at, by a hash of its place in the file, and stands for as many.
constexpr std::uint32_t small_piece = 4096;
constexpr int sample_bits = 4, sample = 1 << sample_bits;

[[noreturn]] void fail(const char* call) {
  throw std::runtime_error(fmt::format("{}: {}", call, std::strerror(errno)));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }

 private:
  int number_;
};

constexpr std::uint32_t low_word(int argument) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + sizeof(std::uint64_t) * argument);
}

// From here on this process and all that it starts tell of their writes. A descriptor to hear of them, or -1.
int install_filter() {
  const auto load = [](std::uint32_t at) { return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at); };
  const auto skip_unless = [](std::uint32_t value, std::uint8_t skipped) {
    return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
  };
  const auto skip_below = [](std::uint32_t value, std::uint8_t skipped) {
    return sock_filter BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, value, 0, skipped);
  };
  const auto end = [](std::uint32_t what) { return sock_filter BPF_STMT(BPF_RET | BPF_K, what); };
  std::vector<sock_filter> program = {load(offsetof(seccomp_data, arch)), skip_unless(architecture, 1),
                                      load(offsetof(seccomp_data, nr))};
  // A foreign architecture skips its number: what was loaded is then no call below.
  for (const long call :
       {SYS_pwritev, SYS_pwritev2, SYS_writev, SYS_copy_file_range, SYS_sendfile, SYS_splice}) {
    program.push_back(skip_unless(static_cast<std::uint32_t>(call), 1));
    program.push_back(end(SECCOMP_RET_USER_NOTIF));
  }
  program.push_back(skip_unless(SYS_io_uring_setup, 1));
  program.push_back(end(SECCOMP_RET_ERRNO | ENOSYS));
  program.push_back(skip_unless(SYS_write, 4));
  program.push_back(load(low_word(2)));
  program.push_back(skip_below(small_write, 1));
  program.push_back(end(SECCOMP_RET_USER_NOTIF));
  program.push_back(end(SECCOMP_RET_ALLOW));
  program.push_back(skip_unless(SYS_pwrite64, 8));
  program.push_back(load(low_word(2)));
  program.push_back(skip_below(small_piece, 1));
  program.push_back(end(SECCOMP_RET_USER_NOTIF));
  program.push_back(load(low_word(3)));
  program.push_back(sock_filter BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 0x9e3779b1u));
  program.push_back(sock_filter BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 32 - sample_bits));
  // Not 0, so that a header at the file's begin never is the sample.
  program.push_back(skip_unless(sample / 2, 1));
  program.push_back(end(SECCOMP_RET_USER_NOTIF));
  program.push_back(end(SECCOMP_RET_ALLOW));

  const sock_fprog all{static_cast<unsigned short>(program.size()), program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  long listener = -1;
#ifdef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
  // A signal does not make a write that is held begin anew.
  listener = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                       SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &all);
#endif
  if (listener < 0)
    listener = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &all);
  return static_cast<int>(listener);
}

// A descriptor through a socket; where there is none to send, the error instead.
void send_descriptor(int socket, int descriptor, int error) {
  iovec part{&error, sizeof error};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  (void)::sendmsg(socket, &message, 0);
}

int receive_descriptor(int socket) {
  int error = 0;
  iovec part{&error, sizeof error};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0)
    throw std::runtime_error("the command ended before it began");
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr)
    throw std::runtime_error(
        fmt::format("writes cannot be held here: seccomp: {}{}", std::strerror(error),
                    error == EBUSY ? " (something around this program holds calls, too)" : ""));
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

[[noreturn]] void become(const std::vector<std::string>& command, int socket) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  const int listener = install_filter();
  send_descriptor(socket, listener, errno);
  if (listener < 0) ::_exit(125);
  ::close(listener);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const std::string message = fmt::format("cannot run {}: {}\n", command[0], std::strerror(errno));
  // Short enough that nobody holds it.
  [[maybe_unused]] const ssize_t wrote =
      ::write(2, message.data(), std::min<std::size_t>(message.size(), small_write - 1));
  ::_exit(127);
}

// What a stopped call is about to write: to which of its descriptors and how much; where it copies, of which
// one (else -1), and where in its memory the offset in that lies (0: that is the descriptor's own).
struct Write {
  int descriptor;
  std::int64_t bytes;
  int from = -1;
  std::uint64_t offset_at = 0;
};

bool read_memory(pid_t process, std::uint64_t at, void* to, std::size_t bytes) {
  iovec here{to, bytes}, there{reinterpret_cast<void*>(at), bytes};
  return ::process_vm_readv(process, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

std::int64_t bytes_of_parts(pid_t process, std::uint64_t at, std::uint64_t count) {
  std::vector<iovec> parts(std::min<std::uint64_t>(count, IOV_MAX));
  if (!read_memory(process, at, parts.data(), parts.size() * sizeof(iovec))) return 0;
  std::int64_t bytes = 0;
  for (const iovec& part : parts) bytes += static_cast<std::int64_t>(part.iov_len);
  return bytes;
}

Write write_of(const seccomp_notif& told) {
  const auto& argument = told.data.args;
  const auto descriptor = [&](int i) { return static_cast<int>(argument[i]); };
  const auto bytes = [&](int i) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(argument[i], INT64_MAX));
  };
  switch (told.data.nr) {
    case SYS_pwrite64:
      return {descriptor(0), argument[2] < small_piece ? bytes(2) * sample : bytes(2)};
    case SYS_write:
      return {descriptor(0), bytes(2)};
    case SYS_copy_file_range:
    case SYS_splice:
      return {descriptor(2), bytes(4), descriptor(0), argument[1]};
    case SYS_sendfile:
      return {descriptor(0), bytes(3), descriptor(1), argument[2]};
    default:
      return {descriptor(0), bytes_of_parts(static_cast<pid_t>(told.pid), argument[1], argument[2])};
  }
}

bool lies_in(const std::string& folder, pid_t process, int descriptor) {
  char path[PATH_MAX];
  const ssize_t length =
      ::readlink(fmt::format("/proc/{}/fd/{}", process, descriptor).c_str(), path, sizeof path);
  return length > static_cast<ssize_t>(folder.size()) && path[folder.size()] == '/' &&
         std::memcmp(path, folder.data(), folder.size()) == 0;
}

std::int64_t position_of(pid_t process, int descriptor) {
  std::ifstream info(fmt::format("/proc/{}/fdinfo/{}", process, descriptor));
  std::string word;
  std::int64_t position = 0;
  return info >> word >> position ? position : 0;  // "pos: N" comes first
}

// Who copies a file may ask for more than is left of it.
std::int64_t at_most_the_file(const Write& write, pid_t process) {
  struct stat file{};
  if (write.from < 0 || ::stat(fmt::format("/proc/{}/fd/{}", process, write.from).c_str(), &file) != 0 ||
      !S_ISREG(file.st_mode))
    return write.bytes;
  std::int64_t offset = 0;
  if (write.offset_at == 0) {
    offset = position_of(process, write.from);
  } else if (!read_memory(process, write.offset_at, &offset, sizeof offset)) {
    return 0;
  }
  return std::clamp<std::int64_t>(file.st_size - offset, 0, write.bytes);
}

class Holder {
 public:
  Holder(const Throttle& throttle, int listener)
      : folder_(throttle.folder), bucket_(throttle.bytes_per_second), listener_(listener) {
    seccomp_notif_sizes sizes{};
    if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) fail("seccomp");
    told_.resize(std::max<std::size_t>(sizes.seccomp_notif, sizeof(seccomp_notif)));
    answer_.resize(std::max<std::size_t>(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp)));
#ifdef SECCOMP_IOCTL_NOTIF_SET_FLAGS
    // Where the kernel can do so: who waits for the other runs on the same core.
    (void)::ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
#endif
  }

  // Waits at most that long. False: nobody is left who could write.
  bool hold(std::chrono::nanoseconds patience) {
    const Clock::time_point now = Clock::now();
    if (!held_.empty())
      patience = std::clamp<std::chrono::nanoseconds>(held_.front().until - now, {}, patience);
    const timespec wait{patience.count() / 1'000'000'000, patience.count() % 1'000'000'000};
    pollfd listening{listener_, POLLIN, 0};
    if (::ppoll(&listening, 1, &wait, nullptr) < 0 && errno != EINTR) fail("poll");
    if ((listening.revents & POLLIN) != 0) {
      hear();
    } else if ((listening.revents & (POLLHUP | POLLERR)) != 0) {
      return false;
    }
    while (!held_.empty() && held_.front().until <= Clock::now()) {
      let_go(held_.front().id);
      held_.pop_front();
    }
    return true;
  }

 private:
  struct Held {
    std::uint64_t id;
    Clock::time_point until;
  };

  void hear() {
    std::fill(told_.begin(), told_.end(), std::byte{0});
    auto& told = *reinterpret_cast<seccomp_notif*>(told_.data());
    if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, &told) != 0) {
      if (errno == EINTR || errno == ENOENT) return;  // whoever it was has gone
      fail("seccomp");
    }
    const auto process = static_cast<pid_t>(told.pid);
    const Write write = write_of(told);
    if (!lies_in(folder_, process, write.descriptor)) return let_go(told.id);
    // They come back in the order in which they came.
    held_.push_back({told.id, bucket_.take(at_most_the_file(write, process), Clock::now())});
  }

  void let_go(std::uint64_t id) {
    std::fill(answer_.begin(), answer_.end(), std::byte{0});
    auto& answer = *reinterpret_cast<seccomp_notif_resp*>(answer_.data());
    answer.id = id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0 && errno != ENOENT) fail("seccomp");
  }

  std::string folder_;
  TokenBucket bucket_;
  int listener_;
  std::deque<Held> held_;
  std::vector<std::byte> told_, answer_;
};

}  // namespace

int run_throttled(const Throttle& throttle, const std::vector<std::string>& command) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) fail("socketpair");
  const Descriptor mine(sockets[0]);
  std::optional<Descriptor> others(std::in_place, sockets[1]);
  // Whoever is left behind by its parent stays in reach, and its end is seen.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child == 0) become(command, sockets[1]);
  others.reset();
  // The command ends by them, and this program after it: without it no write would succeed.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  const Descriptor listener(receive_descriptor(mine.get()));
  Holder holder(throttle, listener.get());
  std::optional<int> ended;
  const auto reap = [&] {
    int status = 0;
    for (;;) {
      const pid_t who = ::waitpid(-1, &status, WNOHANG);
      if (who <= 0) return who == 0;  // someone still runs
      if (who == child) ended = status;
    }
  };
  while (holder.hold(std::chrono::milliseconds(20)) && reap()) {
  }
  while (!ended) {
    int status = 0;
    const pid_t who = ::waitpid(-1, &status, 0);
    if (who == child) ended = status;
    if (who < 0 && errno != EINTR) fail("waitpid");
  }
  return WIFEXITED(*ended) ? WEXITSTATUS(*ended) : 128 + WTERMSIG(*ended);
}

}  // namespace forebay::bench
