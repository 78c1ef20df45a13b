#include "standing.hpp"

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace mixed {
namespace {

using Clock = std::chrono::steady_clock;

struct Place {
  bool running = false;
  std::string what;
  Clock::time_point since;
};

std::mutex mutex;
std::condition_variable stopped;
bool stopping = false;
std::array<Place, 16> places;
std::string program;
int own_rank = 0;
std::thread watch;
thread_local int own_thread = 0;

void say_all(const char* why) {
  for (std::size_t t = 0; t < places.size(); ++t) {
    if (!places[t].running) continue;
    const double seconds = std::chrono::duration<double>(Clock::now() - places[t].since).count();
    std::fprintf(stderr, "%s: rank %d, thread %zu, for %.1f s: %s\n", why, own_rank, t, seconds,
                 places[t].what.c_str());
  }
}

void look(int seconds) {
  const auto patience = std::chrono::seconds(seconds);
  std::unique_lock lock(mutex);
  while (!stopped.wait_for(lock, std::chrono::milliseconds(300), [] { return stopping; })) {
    for (const Place& place : places) {
      if (!place.running || Clock::now() - place.since < patience) continue;
      say_all("HANGS");
      std::fprintf(stderr, "FAILED (rank %d waits): %s\n", own_rank, program.c_str());
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::seconds(3));  // for the others to say it, too
      std::_Exit(3);
    }
  }
}

}  // namespace

void set_program(const std::string& how) {
  const std::lock_guard lock(mutex);
  program = how;
}

void start_watch(int rank, int seconds) {
  own_rank = rank;
  // Signals are for the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  watch = std::thread(look, seconds);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void stop_watch() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  stopped.notify_all();
  if (watch.joinable()) watch.join();
}

void thread_begins(int thread) {
  own_thread = thread;
  const std::lock_guard lock(mutex);
  places[static_cast<std::size_t>(thread)] = {true, "begins", Clock::now()};
}

void thread_ends() {
  const std::lock_guard lock(mutex);
  places[static_cast<std::size_t>(own_thread)].running = false;
}

void at(const std::string& what) {
  const std::lock_guard lock(mutex);
  Place& place = places[static_cast<std::size_t>(own_thread)];
  place.what = what;
  place.since = Clock::now();
}

void fail(const std::string& what) {
  {
    const std::lock_guard lock(mutex);
    std::fprintf(stderr, "rank %d: %s\n", own_rank, what.c_str());
    say_all("at");
    std::fprintf(stderr, "FAILED: %s\n", program.c_str());
  }
  int running = 0;
  MPI_Initialized(&running);
  if (running != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

}  // namespace mixed
