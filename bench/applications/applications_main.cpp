// forebay-applications: the calls that real programs make, under `forebay run` and without.
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "application_peers.hpp"
#include "application_rows.hpp"
#include "benchmark_main.hpp"
#include "compare_bytes.hpp"
#include "file_values.hpp"
#include "row_files.hpp"

namespace forebay::bench {
namespace {

class ApplicationsSubject final : public Subject {
 public:
  ApplicationsSubject() {
    program = "forebay-applications";
    library = "HDF5";
    driver = "hdf5";
    summary =
        "Makes the calls of real programs through HDF5 and PnetCDF, with the stock library and under "
        "`forebay\n"
        "run`, in turn; compares the files and the times.";
    suffix = ".out";
    quick = ": about two minutes";
    rows = application_rows();
    reports_whole = true;
    notes =
        "Each row makes a program's own calls, in its order and its mode, whatever the peer. All are timed "
        "from create\n"
        "to the end of close. Forebay's files have to be those of \"exact\", byte for byte; those of the "
        "other "
        "peers\n"
        "wherever something was written.\n";
  }

  std::vector<Peer> peers(const std::string&, const std::string& romio) const override {
    return application_peers(romio);
  }

  // About these many MiB, and these many more for each rank.
  std::int64_t bytes_of_rows(Size size, int ranks) const override {
    return (by_size<std::int64_t>(size, 2, 20, 70, 200) + by_size<std::int64_t>(size, 1, 20, 60, 90) * ranks)
           << 20;
  }

  FileComparison compare(const std::string& reference, const std::string& path) const override {
    return compare_row_files(reference, path, compare_bytes);
  }

  void check_reference(const std::string& path, std::int64_t bytes) const override {
    std::int64_t held = 0;
    for (const std::string& file : row_files(path)) held += bytes_of_values(file);
    if (held != bytes) throw std::runtime_error(fmt::format("holds {} bytes instead of {}", held, bytes));
  }

  std::string driver_of(const std::string& row) const override {
    return row == "lammps" ? "pnetcdf" : driver;
  }
};

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
  forebay::bench::ApplicationsSubject subject;
  return forebay::bench::benchmark_main(subject, argc, argv);
}
