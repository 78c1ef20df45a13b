// The keeper process. The library, or `forebay run`, starts it with a socket that listens as descriptor 0.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "keeper/keeper.hpp"

namespace {

// Pipes of the program's, above all, whose readers would wait for this process, too.
void close_from(int first) {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  for (int i = first; i < static_cast<int>(::sysconf(_SC_OPEN_MAX)); ++i) ::close(i);
}

}  // namespace

int main(int argc, char** argv) {
  int listening = 0;
  socklen_t size = sizeof listening;
  if (argc != 2 || ::getsockopt(0, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 || listening == 0) {
    std::fputs("forebay-keeper: a part of Forebay, which starts it itself (forebay_keeper in forebay(1))\n",
               stderr);
    return 2;
  }
  if (const pid_t child = ::fork(); child != 0) ::_exit(child < 0 ? 1 : 0);
  const int listener = ::fcntl(0, F_DUPFD, 3);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, 0);
  ::dup2(nothing, 1);
  if (listener != 3) ::dup2(listener, 3);
  close_from(4);
  ::fcntl(3, F_SETFL, O_NONBLOCK);
  if (::chdir("/") != 0) return 1;
  try {
    return forebay::run_keeper(3, std::atoi(argv[1]));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "forebay: the keeper of what ranks keep cannot go on: %s\n", failure.what());
    return 1;
  }
}
