// The list of holders, and the ways in which a process ends.
#include "engine/termination.hpp"

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>

#include "engine/node_segments.hpp"
#include "mpi/handles.hpp"

namespace forebay {
namespace {

// Those that batch systems, launchers and people end programs with.
constexpr std::array kSignals{SIGHUP,  SIGINT,  SIGQUIT, SIGABRT, SIGALRM,
                              SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM};

std::atomic<Holder*> first{nullptr};
pid_t process = 0;  // a child of fork() holds copies, which are not its to write
pid_t thread = 0;

void handle(int number) {
  if (getpid() == process) {
    // Another thread would read what the holder's thread is changing.
    // Where that has ended, nobody changes anything.
    if (gettid() != thread && tgkill(process, thread, number) == 0) return;
    write_out_all(true);
  }
  signal(number, SIG_DFL);
  raise(number);  // delivered when this handler returns
}

void take_signals() {
  for (const int number : kSignals) {
    struct sigaction old{};
    if (sigaction(number, nullptr, &old) != 0 || (old.sa_flags & SA_SIGINFO) != 0 ||
        old.sa_handler != SIG_DFL)
      continue;
    struct sigaction ours{};
    ours.sa_handler = handle;
    ours.sa_flags = SA_RESTART;
    sigfillset(&ours.sa_mask);
    sigaction(number, &ours, nullptr);
  }
}

// After MPI has ended, or before it began, only what a signal handler may do is left.
bool mpi_works() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

// An attribute of MPI_COMM_SELF is deleted at the beginning of MPI_Finalize.
void watch_finalize() {
  if (!mpi::world_works()) return;  // a program with MPI sessions alone
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(
      MPI_COMM_NULL_COPY_FN,
      [](MPI_Comm, int, void*, void*) {
        write_out_all(false);
        return MPI_SUCCESS;
      },
      &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  MPI_Comm_free_keyval(&key);
}

}  // namespace

void write_out_all(bool in_signal) noexcept {
  if (getpid() != process) return;
  // A program may end itself on another thread than the one that puts, or from what it runs within a put, as
  // a packing kernel. Then nobody may be waited for, as in a signal.
  if (gettid() != thread || NodeSegments::entered()) in_signal = true;
  for (Holder* holder = first.load(); holder != nullptr; holder = holder->next_) holder->write_out(in_signal);
}

void watch(Holder& holder) {
  if (process == 0) {
    std::atexit([] { write_out_all(!mpi_works()); });
    watch_finalize();
  }
  process = getpid();
  thread = gettid();
  take_signals();  // each time: a program may have set its own, or taken them back, since
  if (holder.watched_) return;
  holder.watched_ = true;
  holder.next_ = first.load();
  first.store(&holder);
}

void unwatch(Holder& holder) {
  if (!holder.watched_) return;
  holder.watched_ = false;
  if (first.load() == &holder) {
    first.store(holder.next_);
    return;
  }
  for (Holder* h = first.load(); h != nullptr; h = h->next_) {
    if (h->next_ == &holder) h->next_ = holder.next_;
  }
}

}  // namespace forebay
