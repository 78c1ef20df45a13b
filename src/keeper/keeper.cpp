// One thread, which waits for sockets, for the ends of processes and for signals.
#include "keeper/keeper.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/counters.hpp"
#include "base/descriptor.hpp"
#include "keeper/protocol.hpp"
#include "log/leftover.hpp"
#include "log/node_log.hpp"
#include "segments/node_segments.hpp"
#include "storage/storage.hpp"

namespace forebay {
namespace {

// A disk that is full may have room again soon.
constexpr int kMostTries = 60;
constexpr auto kBetweenTries = std::chrono::seconds(1);
// Where the system does not say when a process ends.
constexpr int kLookMilliseconds = 1000;
constexpr int kMostLooks = 500;

/// The end of a process, whose children may still hold its sockets.
class Life {
 public:
  explicit Life(pid_t process) : process_(process) {
#ifdef SYS_pidfd_open
    if (process > 0) told_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
#endif
  }
  /// -1: it has to be asked for now and then.
  int descriptor() const { return told_.number(); }
  bool ended() const {
    pollfd asked{told_.number(), POLLIN, 0};
    if (asked.fd >= 0) return ::poll(&asked, 1, 0) > 0;
    // Of a process of another namespace only the socket tells.
    return process_ > 0 && ::kill(process_, 0) != 0 && errno == ESRCH;
  }

 private:
  pid_t process_;
  Descriptor told_;
};

/// Segments that a rank of the node made, and whose they are.
struct Memory {
  Memory(void* at_, std::size_t bytes_, const KeeperMessage& m)
      : at(at_),
        bytes(bytes_),
        ranks(m.ranks),
        segments(at_, m.segment_bytes, m.count, m.ranks, m.ranks, m.level1 != 0) {}
  ~Memory() { ::munmap(at, bytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* at;
  std::size_t bytes;
  int ranks;
  std::uint64_t number = 0;
  NodeSegments segments;
  Counters counters;
  std::uint64_t file = 0;
  std::string path;
  Descriptor descriptor;
  std::unique_ptr<Storage> storage;
  bool failed = false;  // to write
  std::array<std::int64_t, 3> as_left{};

  /// What a change of the file changes.
  std::array<std::int64_t, 3> state() const {
    struct stat now{};
    (void)::fstat(descriptor.number(), &now);
    return {now.st_size, now.st_mtim.tv_sec, now.st_mtim.tv_nsec};
  }
};

/// A log, and the file that it goes into.
struct Log {
  std::unique_ptr<NodeLog> log;
  Descriptor descriptor;
  std::unique_ptr<Storage> storage;
  bool always = false;
  bool left = false;  // by its ranks, which have closed the file
  bool busy = false;  // the next append is not whole yet
  Status failed;
  std::chrono::steady_clock::time_point again;  // where it has failed
};

struct Rank {
  Descriptor socket;
  Life life;
  std::map<std::uint64_t, std::unique_ptr<Memory>> memories;  // that it made
  struct Place {
    std::uint64_t number;  // of memory, as the keeper counts
    int rank;
  };
  std::vector<Place> level1s;
  std::map<std::uint64_t, std::unique_ptr<Log>> logs;  // that it has handed over
};

/// Why something is not in its file.
struct Failure {
  std::string text;
  bool in_log;  // and so not lost
};

class Keeper {
 public:
  Keeper(int listener, pid_t starter, int signals)
      : listener_(listener), starter_(starter), signals_(signals) {}

  int run() {
    for (;;) {
      wait();
      take_signals();
      accept();
      bool some_ended = false;
      for (auto& rank : ranks_) {
        if (!hear(*rank, some_ended)) continue;
        some_ended = true;
        dead_.push_back(std::move(rank));  // others may use the memory that it made
      }
      std::erase(ranks_, nullptr);
      if (ranks_.empty()) {
        settle();
        dead_.clear();
        if (!starter_.ended()) continue;
        accept();  // somebody may have come meanwhile
        if (ranks_.empty()) return well_ ? 0 : 1;
      } else if (some_ended) {
        (void)drain();
      }
      work_logs();
    }
  }

 private:
  void wait() {
    waited_.clear();
    bool all_told = true;
    const auto add = [&](int descriptor) { waited_.push_back({descriptor, POLLIN, 0}); };
    const auto add_life = [&](const Life& life) {
      if (life.descriptor() >= 0)
        add(life.descriptor());
      else
        all_told = false;
    };
    // Where there is no descriptor left it would not sleep.
    if (full_)
      all_told = false;
    else
      add(listener_);
    add(signals_);
    for (const auto& rank : ranks_) {
      add(rank->socket.number());
      add_life(rank->life);
    }
    // As long as ranks live their ends are what counts.
    if (ranks_.empty()) add_life(starter_);
    const int patience = logs_busy_ ? logs_wait_ : all_told && written_.empty() ? -1 : kLookMilliseconds;
    if (::poll(waited_.data(), waited_.size(), patience) == 0 && !logs_busy_) say_what_was_written();
  }

  // A scheduler gives its jobs some time.
  void take_signals() {
    signalfd_siginfo info;
    bool any = false;
    while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) any = true;
    if (any) (void)drain();
  }

  void accept() {
    for (;;) {
      Descriptor socket(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      full_ = socket.number() < 0 && errno != EAGAIN && errno != EINTR;
      if (socket.number() < 0) return;
      ucred peer{};
      socklen_t size = sizeof peer;
      if (::getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
          peer.uid != ::geteuid())
        continue;
      ranks_.push_back(std::unique_ptr<Rank>(new Rank{std::move(socket), Life(peer.pid), {}, {}, {}}));
    }
  }

  /// What a rank says. True: it has ended. `silent`: it has closed its socket at least.
  bool hear(Rank& rank, bool& silent) {
    KeeperMessage message;
    int descriptor = -1;
    pollfd asked{rank.socket.number(), POLLIN, 0};
    while (::poll(&asked, 1, 0) > 0) {
      const int got = receive_from_rank(rank.socket.number(), message, descriptor);
      Descriptor with_it(descriptor);
      if (got == 0) {
        silent = true;
        // What it does not keep in the segments is its own until it has ended.
        if (rank.level1s.empty()) return true;
        rank.socket = Descriptor();
        break;
      }
      if (got > 0) take(rank, message, std::move(with_it));
    }
    return rank.life.ended();
  }

  void take(Rank& rank, const KeeperMessage& m, Descriptor descriptor) {
    if (m.what == KeeperMessage::What::wake) return;  // and looked for afterwards
    if (m.what == KeeperMessage::What::logged) {
      const auto found = rank.logs.find(m.file);
      if (found != rank.logs.end() && m.count != 0)
        found->second->left = true;
      else if (found != rank.logs.end())
        rank.logs.erase(found);
      return;
    }
    if (m.what == KeeperMessage::What::log) {
      auto log = std::make_unique<Log>();
      if (descriptor.number() < 0 || !NodeLog::attach(m.path, -1, log->log).ok() || !log->log->be_drainer())
        return;
      log->descriptor = std::move(descriptor);
      log->storage = make_posix_storage(log->descriptor.number(), log->log->identity().path);
      log->always = m.count != 0;
      rank.logs[m.file] = std::move(log);
      return;
    }
    if (m.what == KeeperMessage::What::level1) {
      Memory* const memory = numbered(m.memory);
      // Where its end is heard of by its socket alone, a level 1 might be taken from the living.
      if (memory == nullptr || m.count < 0 || m.count >= memory->ranks || rank.life.descriptor() < 0) return;
      rank.level1s.push_back({m.memory, m.count});
      memory->segments.acknowledge_level1(m.count);
      return;
    }
    if (m.what == KeeperMessage::What::memory) {
      struct stat status{};
      if (m.count < 1 || m.ranks < 1 || m.segment_bytes < 64 || ::fstat(descriptor.number(), &status) != 0)
        return;
      const std::size_t bytes = NodeSegments::bytes_needed(m.segment_bytes, m.count, m.ranks, m.level1 != 0);
      if (static_cast<std::size_t>(status.st_size) < bytes) return;
      void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.number(), 0);
      if (at == MAP_FAILED) return;
      auto& memory = rank.memories[m.memory] = std::make_unique<Memory>(at, bytes, m);
      memory->segments.number(memory->number = ++last_number_);
      return;
    }
    const auto found = rank.memories.find(m.memory);
    if (found == rank.memories.end()) return;
    Memory& memory = *found->second;
    switch (m.what) {
      case KeeperMessage::What::file:
        memory.path = m.path;
        memory.descriptor = std::move(descriptor);
        memory.storage = make_posix_storage(memory.descriptor.number(), memory.path);
        memory.segments.attach(*memory.storage, memory.counters, std::chrono::hours(24 * 365), false,
                               m.locks != 0 ? memory.descriptor.number() : -1);
        if (memory.descriptor.number() < 0) break;  // there was no room for it
        memory.file = m.file;
        memory.segments.acknowledge(m.file);
        break;
      case KeeperMessage::What::closed:
        memory.file = 0;
        memory.descriptor = Descriptor();
        break;
      default:
        for_each_rank([&](Rank& each) {
          std::erase_if(each.level1s, [&](const Rank::Place& p) { return p.number == memory.number; });
        });
        rank.memories.erase(found);
    }
  }

  /// A batch of each log that has something, by turns, so that a large one does not hold up the others.
  void work_logs() {
    constexpr std::int64_t batch = 8 << 20;
    constexpr std::int64_t nearly_full = 2;  // of four parts
    logs_busy_ = false;
    logs_wait_ = kLookMilliseconds;
    const auto now = std::chrono::steady_clock::now();
    for_each_rank([&](Rank& rank) {
      std::erase_if(rank.logs, [](const auto& entry) {
        if (!entry.second->left || !entry.second->log->empty()) return false;
        remove_log(*entry.second->log);
        return true;
      });
      for (auto& [number, log] : rank.logs) {
        NodeLog& each = *log->log;
        tell_drained(each);
        const std::int64_t full = each.identity().capacity / 4 * nearly_full;
        if (each.empty() || (!log->always && !log->left && each.pending() < full)) continue;
        logs_busy_ = true;
        if (!log->failed.ok() && now < log->again) continue;
        bool blocked = false;
        log->failed = each.drain(*log->storage, batch, blocked);
        if (!log->failed.ok()) log->again = now + kBetweenTries;
        tell_drained(each);
        if (log->failed.ok()) logs_wait_ = blocked ? std::min(logs_wait_, 1) : 0;
      }
    });
  }

  /// Of a rank that has ended: what is left goes into the file, as far as that is possible.
  std::vector<Failure> finish_logs() {
    std::vector<Failure> failures;
    for_each_rank([&](Rank& rank) {
      std::erase_if(rank.logs, [&](auto& entry) {
        NodeLog& each = *entry.second->log;
        const std::int64_t bytes = each.pending() + each.left_in_level1();
        // A process that ends closes its socket before its other descriptors.
        constexpr auto between = std::chrono::milliseconds(10);
        for (int i = 0; i < kMostLooks && ranks_.empty() && each.is_used(); ++i)
          std::this_thread::sleep_for(between);
        if (each.is_used()) return false;
        Status status = each.drain_left(*entry.second->storage);
        if (!status.ok()) {
          failures.push_back(
              {status.message() + "; it is in " + each.name() + ": forebay recover " + each.identity().path,
               true});
          return false;
        }
        if (bytes > 0) written_[each.identity().path] += bytes;
        remove_log(each);
        return true;
      });
    });
    return failures;
  }

  template <class F>
  void for_each_rank(F&& f) {
    for (auto* ranks : {&ranks_, &dead_}) {
      for (auto& rank : *ranks) {
        if (rank != nullptr) f(*rank);
      }
    }
  }

  Memory* numbered(std::uint64_t number) {
    Memory* found = nullptr;
    for_each_rank([&](Rank& rank) {
      for (auto& [key, memory] : rank.memories) {
        if (memory->number == number) found = memory.get();
      }
    });
    return found;
  }

  /// Writes what is kept of any file. A message for each that could not be written.
  std::vector<Failure> drain() {
    std::vector<Failure> failures;
    for_each_rank([&](Rank& rank) {
      for (auto& [number, memory] : rank.memories) {
        if (Status status = drain(*memory); !status.ok()) failures.push_back({status.message(), false});
      }
    });
    for (Failure& failure : finish_logs()) failures.push_back(std::move(failure));
    return failures;
  }

  Status drain(Memory& memory) {
    if (memory.file == 0) return {};
    // With no rank left whoever changes the file has begun anew: what is kept is older.
    if (memory.failed && ranks_.empty() && memory.as_left != memory.state()) {
      memory.file = 0;
      lost(memory.path + " was changed by somebody else meanwhile");
      return {};
    }
    const std::int64_t before = memory.counters.written_bytes;
    std::vector<int> ended;
    for (const auto& rank : dead_) {
      for (const Rank::Place& place : rank->level1s) {
        if (place.number == memory.number) ended.push_back(place.rank);
      }
    }
    Status status = memory.segments.drain_for(memory.file, ended);
    const std::int64_t written = memory.counters.written_bytes - before;
    if (written > 0 && status.ok()) written_[memory.path] += written;
    memory.failed = !status.ok();
    memory.as_left = memory.state();
    return status;
  }

  // Once for ranks that end one soon after the other.
  void say_what_was_written() {
    for (const auto& [path, bytes] : written_)
      std::fprintf(stderr, "forebay: forebay-keeper wrote %lld bytes of %s that ranks had kept\n",
                   static_cast<long long>(bytes), path.c_str());
    written_.clear();
  }

  void lost(const std::string& why) {
    well_ = false;
    std::fprintf(stderr, "forebay: what ended ranks had kept is lost: %s\n", why.c_str());
  }

  /// When no rank is left: nobody else will try again.
  void settle() {
    std::vector<Failure> failures = drain();
    for (const Failure& failure : failures)
      std::fprintf(stderr, "forebay: all ranks have ended, and %s; trying again for %d s\n",
                   failure.text.c_str(), kMostTries);
    for (int i = 0; i < kMostTries && !failures.empty(); ++i) {
      std::this_thread::sleep_for(kBetweenTries);
      failures = drain();
    }
    say_what_was_written();
    for (const Failure& failure : failures) {
      if (!failure.in_log) {
        lost(failure.text);
        continue;
      }
      well_ = false;
      std::fprintf(stderr, "forebay: %s\n", failure.text.c_str());
    }
  }

  int listener_;
  Life starter_;
  int signals_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<std::unique_ptr<Rank>> dead_;  // with memory that others use
  std::vector<pollfd> waited_;
  std::uint64_t last_number_ = 0;                // of memory
  std::map<std::string, std::int64_t> written_;  // bytes of files, not told yet
  bool well_ = true;
  bool full_ = false;
  bool logs_busy_ = false;
  int logs_wait_ = 0;  // milliseconds
};

}  // namespace

int run_keeper(int listener, pid_t starter) {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = descriptors.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &descriptors);
  }
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGUSR1, SIGUSR2})
    sigaddset(&signals, number);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  const Descriptor told(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  return Keeper(listener, starter, told.number()).run();
}

}  // namespace forebay
