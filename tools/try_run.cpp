// A process group of its own, and a descriptor that tells when it ends.
#include "try_run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace forebay::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
std::atomic<int> came{0};
std::array<struct sigaction, signals.size()> before;

void note(int number) {
  came.store(number);
}

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

[[noreturn]] void become(const std::vector<char*>& argv, const std::vector<char*>& envp,
                         const std::string& folder, const std::string& output, const std::string& errors) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // where the command is killed
  for (const int number : signals) ::signal(number, SIG_DFL);
  const auto put = [](const char* path, int flags, int target) {
    const int fd = ::open(path, flags | O_CLOEXEC, 0666);
    if (fd < 0 || ::dup2(fd, target) < 0) ::_exit(127);
  };
  put("/dev/null", O_RDONLY, STDIN_FILENO);
  put(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  put(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
  if (::chdir(folder.c_str()) == 0) ::execvpe(argv[0], argv.data(), envp.data());
  ::dprintf(STDERR_FILENO, "cannot execute %s: %s\n", argv[0], std::strerror(errno));
  ::_exit(127);
}

/// Waits up to `limit` milliseconds for the end of the process.
bool has_ended(int fd, pid_t child, int limit) {
  if (fd >= 0) {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, limit) > 0;
  }
  // An old kernel.
  ::usleep(10'000);
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == child;
}

}  // namespace

Interruptible::Interruptible() {
  came = 0;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    struct sigaction action{};
    action.sa_handler = note;
    ::sigaction(signals[i], &action, &before[i]);
  }
}

Interruptible::~Interruptible() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before[i], nullptr);
}

int Interruptible::signal() {
  return came.load();
}

TimedRun run_in_folder(const std::vector<std::string>& command,
                       const std::map<std::string, std::string>& environment, const std::string& folder,
                       const std::string& output, const std::string& errors,
                       const std::function<void(double)>& meanwhile) {
  std::vector<char*> argv, envp;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::vector<std::string> pairs;
  for (const auto& [name, value] : environment) pairs.push_back(name + "=" + value);
  for (std::string& pair : pairs) envp.push_back(pair.data());
  envp.push_back(nullptr);

  TimedRun run;
  const Clock::time_point begin = Clock::now();
  const pid_t child = ::fork();
  if (child < 0) return run;
  if (child == 0) become(argv, envp, folder, output, errors);
  ::setpgid(child, child);
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  double asked = -1;  // when the command was told to end
  for (double told = 0; !has_ended(fd, child, 200);) {
    const double now = since(begin);
    if (Interruptible::signal() != 0 && asked < 0) {
      asked = now;
      ::kill(-child, SIGTERM);  // mpiexec takes its ranks along when asked kindly
    }
    if (asked >= 0 && now - asked > 5) ::kill(-child, SIGKILL);
    if (now - told >= 1) {
      told = now;
      meanwhile(now);
    }
  }
  run.seconds = since(begin);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (fd >= 0) ::close(fd);
  if (asked >= 0) ::kill(-child, SIGKILL);  // what it has left behind
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}

}  // namespace forebay::tools
