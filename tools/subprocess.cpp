// fork, exec, two pipes and a deadline.
#include "subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace forebay::tools {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

/// Appends what is there; false at the end.
bool drain(int fd, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

/// Until both pipes end; false where the deadline comes first.
bool collect(Pipe& output, Pipe& errors, Outcome& outcome, Clock::time_point deadline) {
  while (output.ends[0] >= 0 || errors.ends[0] >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> fds{pollfd{output.ends[0], POLLIN, 0}, pollfd{errors.ends[0], POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), static_cast<int>(left)) < 0 && errno != EINTR) return false;
    if (fds[0].revents != 0 && !drain(output.ends[0], outcome.output)) output.close_end(0);
    if (fds[1].revents != 0 && !drain(errors.ends[0], outcome.errors)) errors.close_end(0);
  }
  return true;
}

}  // namespace

Outcome run_program(const std::vector<std::string>& arguments,
                    const std::map<std::string, std::string>& environment, std::chrono::seconds limit) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::vector<std::string> pairs;
  for (const auto& [name, value] : environment) pairs.push_back(name + "=" + value);
  std::vector<char*> envp;
  for (std::string& pair : pairs) envp.push_back(pair.data());
  envp.push_back(nullptr);

  Outcome outcome;
  Pipe output;
  Pipe errors;
  const pid_t child = ::fork();
  if (child < 0) {
    outcome.errors = std::string("cannot start a process: ") + std::strerror(errno);
    return outcome;
  }
  if (child == 0) {
    ::setpgid(0, 0);
    const int null = ::open("/dev/null", O_RDONLY);
    if (null >= 0) ::dup2(null, STDIN_FILENO);
    ::dup2(output.ends[1], STDOUT_FILENO);
    ::dup2(errors.ends[1], STDERR_FILENO);
    ::execvpe(argv[0], argv.data(), envp.data());
    ::dprintf(STDERR_FILENO, "cannot execute %s: %s\n", argv[0], std::strerror(errno));
    ::_exit(127);
  }
  ::setpgid(child, child);
  output.close_end(1);
  errors.close_end(1);
  if (!collect(output, errors, outcome, Clock::now() + limit)) {
    outcome.timed_out = true;
    // mpiexec takes its ranks along when asked kindly.
    ::kill(-child, SIGTERM);
    if (!collect(output, errors, outcome, Clock::now() + std::chrono::seconds(5))) ::kill(-child, SIGKILL);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!outcome.timed_out) outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::map<std::string, std::string> current_environment() {
  std::map<std::string, std::string> result;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string pair = *entry;
    const auto equals = pair.find('=');
    if (equals != pair.npos) result[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return result;
}

}  // namespace forebay::tools
