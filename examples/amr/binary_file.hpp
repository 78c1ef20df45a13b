// The checkpoint as one file of the application's own format, written array by array.
//
// header | root cells of each segment, int32 | octs of each level of each tree, int32[6] | the trees' arrays
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "access.hpp"

namespace amr {

inline constexpr char binary_magic[9] = "AMRTREES";

// Machine's byte order; another one is seen by `version`.
struct BinaryHeader {
  char magic[8];
  std::int32_t version, levels, variables, segments;
  std::int64_t roots, step;
  std::uint64_t digest;
  std::int64_t trees_at, bytes;  // where the trees begin; the file's size
};

// A file that takes and gives pieces at any place. All but write_at and read_at are collective, and their
// failures are thrown on all ranks. Its destructor is collective.
class PieceFile {
 public:
  virtual ~PieceFile() = default;
  virtual void write_at(std::int64_t offset, const void* data, std::int64_t bytes) = 0;
  // `data` may be filled as late as by fetch.
  virtual void read_at(std::int64_t offset, void* data, std::int64_t bytes) = 0;
  virtual void fetch() = 0;
  virtual std::int64_t size() = 0;
  virtual void close() = 0;
};

std::unique_ptr<PieceFile> open_tcio(MPI_Comm comm, const std::string& path, Access access);
std::unique_ptr<PieceFile> open_mpiio(MPI_Comm comm, const std::string& path, Access access);

}  // namespace amr
