// One trial of forebay doctor: a probe program under `forebay run`, and what its report and its file prove.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "doctor_folder.hpp"
#include "installation.hpp"

namespace forebay::tools {

struct ProbeResult {
  std::map<std::string, std::string>
      facts;                  ///< what the program told: library, library_path, mpi, thread_level, …
  bool active = false;        ///< the report has this file, written through Forebay
  bool file_correct = false;  ///< the file holds what was written, as the stock library reads it
  std::int64_t ranks = 0;
  std::int64_t pieces = 0;
  std::int64_t file_writes = 0;
  Written written;
  std::string problem;
  std::string advice;
};

/// Why a program failed, from what it wrote: the lines of Forebay, else that of the probe, else the first
/// paragraph of the launcher's first banner, else the last line of whoever wrote any.
std::string reason_in(std::string errors);

class Prober {
 public:
  Prober(const Installation& installation, std::string folder);

  /// How parallel programs are started: "mpiexec -n 2"; "" where no launcher was found.
  std::string launcher() const;

  /// `library`: "hdf5" or "pnetcdf".
  ProbeResult try_library(const std::string& library) const;

  /// Empty where HDF5 takes the driver by its name from the folder; else why not.
  std::string try_plugin(const std::string& plugins) const;

 private:
  std::string probe_program(const std::string& library) const;

  const Installation& installation_;
  std::string folder_;
  std::vector<std::string> launcher_;
  std::map<std::string, std::string> environment_;
};

}  // namespace forebay::tools
