#include "keeper/connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/environment.hpp"
#include "base/loaded_object.hpp"
#include "base/per_process.hpp"
#include "base/waiting.hpp"
#include "keeper/protocol.hpp"
#include "storage/descriptors.hpp"

namespace forebay {
namespace {

constexpr int kMostConnects = 50;

// One for the process; a child of fork() holds a copy that is not its to use, and a program may close what it
// does not know, so that the number becomes another file's.
struct Connection {
  std::mutex mutex;
  int socket = -1;
  FileId id;
  pid_t process = 0;
  std::uint64_t count = 0;  // of those so far

  bool ours() const {
    FileId now;
    return socket >= 0 && process == ::getpid() && id_of(socket, now) && now == id;
  }
  bool lives() const {
    pollfd asked{socket, POLLRDHUP, 0};
    return ours() && ::poll(&asked, 1, 0) == 0;
  }
  static Connection& instance() { return per_process<Connection>(); }
};

bool send(const KeeperMessage& message, int descriptor = -1) {
  Connection& connection = Connection::instance();
  const std::lock_guard lock(connection.mutex);
  return connection.ours() && send_to_keeper(connection.socket, message, descriptor);
}

/// The same file, opened once more, whatever has become of its name; none where that is not allowed.
Descriptor opened_again(int descriptor) {
  const int access = ::fcntl(descriptor, F_GETFL) & O_ACCMODE;
  return Descriptor(::open(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), access | O_CLOEXEC));
}

std::string if_there(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0 ? path : std::string();
}

}  // namespace

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::string keeper_program() {
  if (std::string path = from_environment("FOREBAY_KEEPER_PROGRAM"); !path.empty()) return if_there(path);
  std::string folder = object_holding(reinterpret_cast<void*>(&keeper_program)).path;
  folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/') + 1);
  if (folder.empty()) return {};
  // Beside the drivers, of which HDF5's plugin has a folder of its own; seen from libforebay.so.
  for (const char* place : {"forebay-keeper", "../forebay-keeper", "forebay/forebay-keeper"}) {
    if (std::string path = if_there(folder + place); !path.empty()) return path;
  }
  return {};
}

// Its first process ends at once, so that the keeper is nobody's child: a program that waits for its children
// would find one that it does not know.
Status start_keeper(const std::string& name, const std::string& program) {
  if (program.empty())
    return {
        Code::no_such_file,
        "there is no forebay-keeper beside Forebay's drivers; install Forebay as a whole, or, where a driver "
        "is linked into the program, set FOREBAY_KEEPER_PROGRAM"};
  const int listener = listen_as_keeper(name);
  if (listener < 0)
    return errno == EADDRINUSE ? Status{} : from_errno(errno, "cannot listen as the node's keeper");
  const std::string starter = std::to_string(::getpid());
  std::array<char*, 3> arguments{const_cast<char*>(program.c_str()), const_cast<char*>(starter.c_str()),
                                 nullptr};
  std::array<char*, 1> nothing{nullptr};  // no variable is its, above all not LD_PRELOAD
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, listener, 0);
  // It takes its signals when it is ready for them.
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error =
      ::posix_spawn(&child, program.c_str(), &actions, &attributes, arguments.data(), nothing.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(listener);
  if (error != 0) return from_errno(error, "cannot start " + program);
  int outcome = 0;
  while (::waitpid(child, &outcome, 0) < 0 && errno == EINTR) {
  }
  return {};
}

bool keeper_is_expected(KeeperUse use) {
  return use == KeeperUse::start ||
         (use == KeeperUse::automatic && !from_environment("FOREBAY_KEEPER").empty());
}

std::uint64_t connect_keeper(KeeperUse use, bool tells) {
  if (!keeper_is_expected(use)) return 0;
  Connection& connection = Connection::instance();
  const std::lock_guard lock(connection.mutex);
  if (connection.lives()) return connection.count;
  if (connection.ours()) ::close(connection.socket);
  const std::string name = keeper_name();
  connection.socket = connect_to_keeper(name);
  if (connection.socket < 0 && use == KeeperUse::start) {
    const Status status = start_keeper(name, keeper_program());
    if (!status.ok() && tells)
      warn_once(status.message() + ": nothing writes what a killed program has kept");
    // Another rank may have taken the name and not listen yet.
    for (int i = 0; status.ok() && i < kMostConnects && connection.socket < 0; ++i) {
      if (i > 0) sleep_for(1'000'000);
      connection.socket = connect_to_keeper(name);
    }
  }
  connection.process = ::getpid();
  ++connection.count;
  return connection.socket >= 0 && id_of(connection.socket, connection.id) ? connection.count : 0;
}

bool keeper_lives(std::uint64_t number) {
  Connection& connection = Connection::instance();
  const std::lock_guard lock(connection.mutex);
  return number == connection.count && connection.lives();
}

KeptMemory::KeptMemory(int descriptor, std::int64_t segment_bytes, int count, int ranks, bool level1) {
  KeeperMessage message;
  message.what = KeeperMessage::What::memory;
  message.memory = next_number();
  message.segment_bytes = segment_bytes;
  message.count = count;
  message.ranks = ranks;
  message.level1 = level1 ? 1 : 0;
  if (!send(message, descriptor)) return;
  number_ = message.memory;
  Connection& connection = Connection::instance();
  const std::lock_guard lock(connection.mutex);
  connection_ = connection.count;
}

bool KeptMemory::is_held() const {
  return number_ != 0 && keeper_lives(connection_);
}

KeptMemory::~KeptMemory() {
  if (number_ == 0) return;
  KeeperMessage message;
  message.what = KeeperMessage::What::freed;
  message.memory = number_;
  (void)send(message);
}

KeptMemory::KeptMemory(KeptMemory&& other) noexcept
    : number_(std::exchange(other.number_, 0)), connection_(other.connection_) {}

KeptMemory& KeptMemory::operator=(KeptMemory&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(connection_, other.connection_);
  return *this;
}

bool KeptMemory::serves(std::uint64_t file, int descriptor, bool locks, const std::string& path) const {
  if (number_ == 0) return false;
  KeeperMessage message;
  message.what = KeeperMessage::What::file;
  message.memory = number_;
  message.file = file;
  message.locks = locks ? 1 : 0;
  path.copy(message.path, sizeof message.path - 1);
  // Locks are an open file's: where the keeper had the rank's, they would outlive the rank, and the keeper
  // might wait for them itself.
  const Descriptor again = locks ? opened_again(descriptor) : Descriptor();
  return send(message, again.number() >= 0 ? again.number() : descriptor);
}

void announce_level1(std::uint64_t number, int rank) {
  KeeperMessage message;
  message.what = KeeperMessage::What::level1;
  message.memory = number;
  message.count = rank;
  (void)send(message);
}

std::uint64_t serve_log(int descriptor, const std::string& name, bool always) {
  KeeperMessage message;
  message.what = KeeperMessage::What::log;
  message.file = next_number();
  message.count = always ? 1 : 0;
  if (name.size() >= sizeof message.path) return 0;
  name.copy(message.path, sizeof message.path - 1);
  return send(message, descriptor) ? message.file : 0;
}

void log_served_no_more(std::uint64_t number, bool left) {
  KeeperMessage message;
  message.what = KeeperMessage::What::logged;
  message.count = left ? 1 : 0;
  message.file = number;
  (void)send(message);
}

void wake_keeper() {
  KeeperMessage message;
  message.what = KeeperMessage::What::wake;
  (void)send(message);
}

void KeptMemory::closed(std::uint64_t file) const {
  KeeperMessage message;
  message.what = KeeperMessage::What::closed;
  message.memory = number_;
  message.file = file;
  (void)send(message);
}

}  // namespace forebay
