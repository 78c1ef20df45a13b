// One way of writing the history file: the calls an application would make, split where the demo starts and
// stops its clock.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "workload.hpp"

namespace forebay::bench {

// A call that a library refuses throws std::runtime_error, naming the call and the reason.
class Way {
 public:
  virtual ~Way() = default;

  virtual void create(const std::string& path) = 0;  // timed: create and define
  virtual void aim(std::int64_t record) = 0;         // not timed: starts, counts, selections of the record
  virtual void write(std::int64_t record) = 0;       // timed: from the first put to the last wait
  virtual void close() = 0;                          // timed
};

// iput_varn for each variable, one wait_all a record.
std::unique_ptr<Way> make_pnetcdf_way(Workload& workload, MPI_Comm comm);

// One collective H5Dwrite for each dataset, or one H5Dwrite_multi for all of a record's. `complete`: every
// element gets written, so nothing needs fill values.
enum class Calls { PerDataset, PerRecord };
std::unique_ptr<Way> make_hdf5_way(Workload& workload, MPI_Comm comm, Calls calls, bool complete);

// The machine's limit: each rank's share of `bytes`, contiguous, by plain writes into one fresh file.
std::unique_ptr<Way> make_limit_way(std::int64_t bytes, MPI_Comm comm);

}  // namespace forebay::bench
