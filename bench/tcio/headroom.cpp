// By the limit that every system has, containers too.
#include "headroom.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace forebay::bench {

void limit_memory(std::int64_t bytes) {
  ::malloc_trim(0);
  std::int64_t pages = 0;
  if (!(std::ifstream("/proc/self/statm") >> pages)) throw std::runtime_error("cannot read /proc/self/statm");
  const auto most = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE) + bytes);
  const rlimit limit{most, most};
  if (::setrlimit(RLIMIT_AS, &limit) != 0)
    throw std::runtime_error(fmt::format("cannot limit memory to {} bytes: {}", most, std::strerror(errno)));
}

}  // namespace forebay::bench
