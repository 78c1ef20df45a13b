// The list of holders, and the ways in which a process ends.
#include "engine/termination.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "base/loaded_object.hpp"
#include "base/runtime.hpp"
#include "base/section.hpp"

namespace forebay {

struct Holders {
  std::atomic<Holder*> first{nullptr};

  // A holder whose thread is another one is called as in a signal: what MPI that thread is in, nobody knows.
  void write_out(Ending ending) noexcept {
    const int me = ::gettid();
    for (Holder* holder = first.load(); holder != nullptr; holder = holder->next_)
      holder->write_out({ending.in_signal || holder->thread_ != me, ending.orderly});
  }

  // Ranks may have opened their files in different orders.
  void reduce() noexcept {
    for (Holder* holder = first.load(); holder != nullptr; holder = holder->next_) holder->begin_reduction();
    for (Holder* holder = first.load(); holder != nullptr; holder = holder->next_) holder->end_reduction();
  }
};

namespace {

// Those that batch systems, launchers and people end programs with.
constexpr std::array kSignals{SIGHUP,  SIGINT,  SIGQUIT, SIGABRT, SIGALRM,
                              SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM};

Holders holders;
std::mutex changing;
pid_t process = 0;  // a child of fork() holds copies, which are not its to write
using Handler = void (*)(int, siginfo_t*, void*);
std::array<std::atomic<Handler>, NSIG> others{};  // handlers of other libraries of ours
std::array<Handler, NSIG> foreign{};              // handlers that are known to be the program's

// False: another thread does so already.
bool write_out(Ending ending) noexcept {
  // A program may end itself from what it runs within a put, as a packing kernel.
  if (Section::inside()) ending.in_signal = true;
  if (Section::close() == Section::Gate::taken) return false;
  holders.write_out(ending);
  return true;
}

// On any thread, in a handler or after a section.
void end(int number) {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  (void)write_out({.in_signal = true});
  if (number == SIGALRM && Section::noted() != 0) number = Section::noted();
  // The other library ends the process, perhaps when a section of its own is left.
  if (const Handler other = others[static_cast<std::size_t>(number)].exchange(nullptr); other != nullptr) {
    other(number, nullptr, nullptr);
  } else {
    ::signal(number, SIG_DFL);
    ::raise(number);  // delivered when all are let through again
    sigdelset(&before, number);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool take_signal(int number);

void handle(int number, siginfo_t* info, void*) {
  const int error = errno;
  // abort() is not put off: it ends the process whatever its handler does.
  const bool at_once = number == SIGABRT && (info == nullptr || info->si_code == SI_TKILL);
  if (::getpid() != process) {
    ::signal(number, SIG_DFL);
    ::raise(number);  // delivered when this handler returns
  } else if (!at_once && Section::inside() && Section::note(number, end)) {
    (void)take_signal(SIGALRM);
  } else {
    end(number);
  }
  errno = error;
}

bool take_signal(int number) {
  struct sigaction ours{};
  ours.sa_sigaction = handle;
  ours.sa_flags = SA_RESTART | SA_SIGINFO;
  sigfillset(&ours.sa_mask);
  return ::sigaction(number, &ours, nullptr) == 0;
}

// Each library of ours that a program loads has its own list, and its own handler.
bool is_of_another_library(Handler handler) {
  const LoadedObject at = object_holding(reinterpret_cast<void*>(handler));
  if (at.start == nullptr) return false;
  void* const library = ::dlopen(*at.path != '\0' ? at.path : nullptr, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  void* const mark = ::dlsym(library, "forebay_write_out");
  ::dlclose(library);
  return mark != nullptr && object_holding(mark).start == at.start;
}

void take_signals() {
  for (const int number : kSignals) {
    struct sigaction old{};
    if (::sigaction(number, nullptr, &old) != 0) continue;
    if ((old.sa_flags & SA_SIGINFO) != 0) {
      const auto at = static_cast<std::size_t>(number);
      // Where another library calls this one already, that has come later.
      if (old.sa_sigaction == handle || old.sa_sigaction == foreign[at] || others[at].load() != nullptr)
        continue;
      if (!is_of_another_library(old.sa_sigaction)) {
        foreign[at] = old.sa_sigaction;
        continue;
      }
      others[at] = old.sa_sigaction;
    } else if (old.sa_handler != SIG_DFL) {
      continue;
    }
    (void)take_signal(number);
  }
}

// The process goes on for a while.
void write_out_and_go_on(Ending ending) {
  if (::getpid() == process && write_out(ending)) Section::open();
}

}  // namespace

void write_out_for_abort() noexcept {
  if (::getpid() == process) (void)write_out({});
}

void watch(Holder& holder) {
  const Section section;
  const std::lock_guard lock(changing);
  if (process == 0) {
    // After MPI has ended only what a signal handler may do is left.
    std::atexit([] { write_out_and_go_on({.in_signal = !runtime_works()}); });
    ::at_quick_exit([] { write_out_and_go_on({.in_signal = true}); });
    before_runtime_ends([] {
      write_out_and_go_on({.orderly = true});
      if (::getpid() == process) holders.reduce();
    });
  }
  process = ::getpid();
  holder.thread_ = ::gettid();
  take_signals();  // each time: a program may have set its own, or taken them back, since
  if (holder.watched_) return;
  holder.watched_ = true;
  holder.next_ = holders.first.load();
  holders.first.store(&holder);
}

void unwatch(Holder& holder) {
  const Section section;
  const std::lock_guard lock(changing);
  if (!holder.watched_) return;
  holder.watched_ = false;
  if (holders.first.load() == &holder) {
    holders.first.store(holder.next_);
    return;
  }
  for (Holder* h = holders.first.load(); h != nullptr; h = h->next_) {
    if (h->next_ == &holder) h->next_ = holder.next_;
  }
}

}  // namespace forebay
