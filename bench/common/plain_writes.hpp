// The limit everything is held against: the same number of bytes, contiguous, by plain writes into one fresh
// file.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace forebay::bench {

// Each rank writes its share of `bytes`. What fails throws std::runtime_error.
class PlainWrites {
 public:
  PlainWrites(std::int64_t bytes, MPI_Comm comm);

  void create(const std::string& path);  // collective
  void write();
  void close();

 private:
  MPI_Comm comm_;
  std::int64_t begin_ = 0, end_ = 0;
  int descriptor_ = -1;
  std::vector<std::byte> buffer_;
};

}  // namespace forebay::bench
