// In memory that the preloaded library looks at.
#include "armed.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace faults {

bool Faults::begin(int rank) {
  rank_ = rank;
  const char* const path = std::getenv("FAULTS_CONTROL");
  const int fd = path != nullptr ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return false;
  void* const at = ::mmap(nullptr, kFaultControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED) return false;
  shared_ = static_cast<fault_shared*>(at);
  return true;
}

void Faults::doing(int cell, const std::string& what) {
  fault_progress& mine = shared_->ranks[rank_];
  std::snprintf(mine.doing, sizeof mine.doing, "%s", what.c_str());
  mine.cell = cell;
  __atomic_add_fetch(&mine.steps, 1, __ATOMIC_RELEASE);
}

void Faults::arm(const Cell& cell, const std::string& path, const std::string& log, int ranks) {
  static const std::map<std::string, int> calls{{"write", kFaultWrite}, {"read", kFaultRead},
                                                {"sync", kFaultSync},   {"size", kFaultSize},
                                                {"open", kFaultOpen},   {"close", kFaultClose}};
  fault_control& c = shared_->control;
  std::memset(&c, 0, sizeof c);
  const std::string place = cell.place == "file"   ? path
                            : cell.place == "log"  ? log + "/*"
                            : cell.place == "mark" ? path + ".forebay*"
                                                   : "/dev/shm/forebay-*";
  std::snprintf(c.place, sizeof c.place, "%s", place.c_str());
  c.calls = calls.at(cell.call);
  c.kind = cell.fault == "short" ? kFaultShort : cell.fault == "slow" ? kFaultSlow : kFaultError;
  c.error = cell.error;
  c.rank = cell.rank == "first"    ? 0
           : cell.rank == "last"   ? ranks - 1
           : cell.rank == "owner"  ? kFaultOwner
           : cell.rank == "keeper" ? kFaultKeeper
                                   : kFaultEveryRank;
  c.number = std::atoi(cell.number.c_str());
  // A call that is interrupted goes well when it is made again.
  c.again = cell.again == "once" ? 0 : cell.fault == "EINTR" ? 2 : 1;
  __atomic_store_n(&c.armed, 1, __ATOMIC_RELEASE);
}

void Faults::disarm() {
  __atomic_store_n(&shared_->control.armed, 0, __ATOMIC_RELEASE);
}

}  // namespace faults
