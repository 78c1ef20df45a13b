// What reading a file costs without any pattern: each rank its contiguous share.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace forebay::bench {

class PlainReads {
 public:
  // Collective; opens the file. What fails throws std::runtime_error.
  PlainReads(const std::string& path, MPI_Comm comm);
  ~PlainReads();
  PlainReads(const PlainReads&) = delete;
  PlainReads& operator=(const PlainReads&) = delete;

  void read();

 private:
  int descriptor_ = -1;
  std::int64_t begin_ = 0, end_ = 0;
  std::vector<std::byte> buffer_;  // the share: as in a program that needs it
};

}  // namespace forebay::bench
