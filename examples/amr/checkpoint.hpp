// Checkpoints: the ways to write one and to read it again, on any number of ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "layout.hpp"

namespace amr {

// What is written; nothing of it changes. `digest`: of the mesh (digest.hpp).
struct State {
  const Domain& domain;
  const Share& share;
  const Mesh& mesh;
  std::uint64_t digest;
};

// A checkpoint that was opened, and how its trees are shared among the ranks that read it.
struct Restart {
  std::unique_ptr<Domain> domain;
  std::unique_ptr<Share> share;
  Mesh mesh;
  std::uint64_t digest = 0;
};

enum class Way { tcio, mpiio, hdf5, hdf5_multi, pnetcdf };

const std::vector<std::pair<std::string, Way>>& ways();

// Both are collective, and throw Failure on all ranks. The file is replaced. A restart has the whole mesh,
// threaded; whether its digest is that of its mesh, the caller looks. They are all the phases below in turn.
void write_checkpoint(MPI_Comm comm, Way way, const std::string& path, const State& state);
Restart read_checkpoint(MPI_Comm comm, Way way, const std::string& path, Space space);

// The way for a name: .h5 HDF5, .nc PnetCDF, any other tcio.
Way way_for_name(const std::string& path);
// Collective: the way for a file, by its first bytes. Throws Failure on all ranks where it is no checkpoint.
Way way_of_file(MPI_Comm comm, const std::string& path);

// A checkpoint in phases, for who wants to time them. Each phase is called once, in this order; all are
// collective and throw Failure on all ranks, and so is the end of a writer or reader, which closes the file
// where close was not called. The communicator and what the State names outlive it.

// The file is created, and all in it defined.
class CheckpointWriter {
 public:
  virtual ~CheckpointWriter() = default;
  virtual void put() = 0;  // all data
  virtual void close() = 0;
};

// The file is open, its head is read, and what is to be read found; the mesh has room for its trees.
class CheckpointReader {
 public:
  virtual ~CheckpointReader() = default;
  virtual void get() = 0;  // the arrays of all the rank's trees
  virtual void close() = 0;

  Restart& restart() { return restart_; }

 protected:
  Restart restart_;
};

std::unique_ptr<CheckpointWriter> create_checkpoint(MPI_Comm comm, Way way, const std::string& path,
                                                    const State& state);
std::unique_ptr<CheckpointReader> open_checkpoint(MPI_Comm comm, Way way, const std::string& path);

// What a mesh lacks after get. Collective; throws Failure on all ranks where trees do not hang together.
void thread_checkpoint(MPI_Comm comm, const std::string& path, Mesh& mesh, Space space);

// The ways; for create_checkpoint and open_checkpoint.
std::unique_ptr<CheckpointWriter> create_binary(MPI_Comm comm, bool tcio, const std::string& path,
                                                const State& state, const Layout& layout);
std::unique_ptr<CheckpointReader> open_binary(MPI_Comm comm, bool tcio, const std::string& path);
std::unique_ptr<CheckpointWriter> create_hdf5(MPI_Comm comm, bool multi, const std::string& path,
                                              const State& state, const Layout& layout);
std::unique_ptr<CheckpointReader> open_hdf5(MPI_Comm comm, bool multi, const std::string& path);
std::unique_ptr<CheckpointWriter> create_pnetcdf(MPI_Comm comm, const std::string& path, const State& state,
                                                 const Layout& layout);
std::unique_ptr<CheckpointReader> open_pnetcdf(MPI_Comm comm, const std::string& path);

// For readers: what else a header says has to be so. Throw Failure.
inline constexpr std::int32_t format_version = 1;
std::unique_ptr<Domain> make_domain(const std::string& path, const std::vector<std::int32_t>& segment_lengths,
                                    std::int64_t roots);
void check_header(const std::string& path, std::int64_t version, std::int64_t levels, std::int64_t variables);

}  // namespace amr
