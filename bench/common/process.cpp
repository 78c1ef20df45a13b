// Child processes in a group of their own, so that all of a run can be ended at once.
#include "process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace forebay::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kept_output = 8192;
constexpr std::chrono::seconds grace{5};

volatile std::sig_atomic_t caught = 0;

[[noreturn]] void become(const Command& command, int output) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  const int input = ::open("/dev/null", O_RDONLY);
  ::dup2(input, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  for (const auto& [name, value] : command.environment) {
    if (value)
      ::setenv(name.c_str(), value->c_str(), 1);
    else
      ::unsetenv(name.c_str());
  }
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const std::string message = fmt::format("cannot run {}: {}\n", command.words[0], std::strerror(errno));
  [[maybe_unused]] const ssize_t wrote = ::write(2, message.data(), message.size());
  ::_exit(127);
}

// Reads what there is, keeping the end of it.
void drain(int pipe, std::string& output) {
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(pipe, buffer, sizeof(buffer));
    if (got <= 0) return;
    output.append(buffer, static_cast<std::size_t>(got));
    if (output.size() > 2 * kept_output) output.erase(0, output.size() - kept_output);
  }
}

}  // namespace

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler = [](int signal) { caught = signal; };
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

void throw_if_interrupted() {
  if (caught != 0) throw Interrupted{caught};
}

Outcome run_command(const Command& command, std::chrono::milliseconds limit,
                    const std::function<void()>& watch, std::chrono::milliseconds interval) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error(fmt::format("pipe: {}", std::strerror(errno)));
  const auto start = Clock::now();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error(fmt::format("fork: {}", std::strerror(errno)));
  if (child == 0) become(command, pipe[1]);
  ::setpgid(child, child);
  ::close(pipe[1]);
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);

  Outcome outcome;
  int status = 0, asked_to_end = 0;
  Clock::time_point end_by = start + limit;
  for (;;) {
    pollfd waiting{pipe[0], POLLIN, 0};
    const bool output_closed = ::poll(&waiting, 1, static_cast<int>(interval.count())) > 0 &&
                               (waiting.revents & (POLLHUP | POLLIN)) == POLLHUP;
    drain(pipe[0], outcome.output);
    if (::waitpid(child, &status, WNOHANG) == child) break;
    if (output_closed) ::poll(nullptr, 0, 1);
    if (watch && asked_to_end == 0) watch();
    const bool late = Clock::now() > end_by;
    if (asked_to_end == 0 && (late || caught != 0)) {
      // Gently first: a launcher takes its ranks along.
      outcome.timed_out = late;
      asked_to_end = 1;
      ::kill(-child, SIGTERM);
      end_by = Clock::now() + grace;
    } else if (asked_to_end == 1 && late) {
      asked_to_end = 2;
      ::kill(-child, SIGKILL);
    }
  }
  ::kill(-child, SIGKILL);  // what its leader left behind
  drain(pipe[0], outcome.output);
  ::close(pipe[0]);
  throw_if_interrupted();
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (outcome.output.size() > kept_output) outcome.output.erase(0, outcome.output.size() - kept_output);
  return outcome;
}

std::vector<std::string> through_shell(const std::string& line) {
  return {"/bin/sh", "-c", "exec " + line + " \"$@\"", "sh"};
}

}  // namespace forebay::bench
