// Runs one PnetCDF program on PnetCDF's own driver and on Forebay's, and compares everything that the program
// could see: every return code and value it logged, on every rank, and the file, byte for byte. Both runs in
// one process (two_runs.cpp), or one of them, to be compared from outside (one_run.cpp).
#pragma once

#include <mpi.h>
#include <pnetcdf.h>

#include <cstdint>
#include <functional>
#include <sstream>
#include <string>

namespace forebay::test {

/// One of the two runs.
class Run {
 public:
  Run(MPI_Comm comm, std::string path, bool forebay);

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const std::string& path() const { return path_; }
  bool is_forebay() const { return forebay_; }

  /// Logs a return code and gives it back.
  int code(const std::string& what, int err);
  /// Logs a value.
  template <class T>
  void value(const std::string& what, const T& v) {
    std::ostringstream line;
    line << what << " = " << v << '\n';
    log_ += line.str();
  }
  const std::string& log() const { return log_; }

  /// What no library may do. Where PnetCDF's own driver did it, there is nothing to compare with.
  void defect(const std::string& what) {
    defect_ = what;
    if (forebay_) value("defect", what);
  }
  const std::string& defect() const { return defect_; }

  /// Fails the test on the spot if `file` is not on the driver that this run is about.
  void expect_driver(int file);

 private:
  MPI_Comm comm_;
  std::string path_;
  bool forebay_;
  int rank_ = 0;
  int ranks_ = 1;
  std::string log_;
  std::string defect_;
};

/// Whether this is PnetCDF 1.15, for what its own driver does wrong or otherwise than before and than ours:
///   - after an independent wait the first rank writes the count of records at once, and counts its bytes as
///   put;
///   - a blocking vars or varm forgets the stride of records (1.15.1);
///   - a varn whose last piece is empty sets to none how many pieces the next request in the list has, which
///   are then written behind the end of what was allocated for them (1.15.1).
bool is_pnetcdf_1_15();

using Program = std::function<void(Run&)>;

/// Collective over `comm`. Runs the program twice and compares; says what differs on stderr. Both files are
/// removed when they are equal; else the logs are left beside them.
bool same_on_both(const std::string& name, MPI_Comm comm, const Program& program);

/// Which driver PnetCDF gets at the next create or open; where that can be chosen.
void use_forebay(bool on);
bool can_switch();

/// `name` as part of a file's name.
std::string file_name_of(std::string name);

/// A hash of memory, to log what was read.
std::uint64_t hash_of(const void* data, std::size_t bytes);

}  // namespace forebay::test
