// A slow storage on a machine that has none: what a command and all processes that it starts write into one
// folder takes as long as at a given rate. The kernel holds each write until it may go on (seccomp's user
// notifications), so that
// - the rate is that of the sum of all writers, page cache included: ranks, and whatever writes for them
//   without their environment, such as the keeper process;
// - the file system is what it is, and libraries treat it so. A file system in user space would be slow, too,
//   but is none of one machine's to those who know their file systems.
// To look at a write takes some microseconds, wherever it goes. So of pwrite(2)s of less than 4 KiB one in 16
// is looked at and held for 16. What is written to a mapped file is not held, nor are write(2)s of less than
// 512 bytes; io_uring is not to be had.
#pragma once

#include <string>
#include <vector>

namespace forebay::bench {

struct Throttle {
  std::string folder;  // of which links are resolved
  double bytes_per_second = 0;
};

// Returns the command's exit status, or 128 and the signal that ended it, after the last of all processes
// that it started has ended. Throws std::runtime_error where it cannot be started or held.
int run_throttled(const Throttle& throttle, const std::vector<std::string>& command);

}  // namespace forebay::bench
