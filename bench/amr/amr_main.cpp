// forebay-amr: checkpoint and restart of an adaptive mesh by TCIO, HDF5 and PnetCDF, against what they are
// without Forebay.
#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "amr_peers.hpp"
#include "benchmark_main.hpp"
#include "compare_bytes.hpp"

namespace forebay::bench {
namespace {

constexpr RowInfo amr_rows[] = {
    {"trees", "each tree's arrays behind each other, a call an array", true},
    {"hdf5", "a dataset for each array of each level, ragged; each rank its segments", true},
    {"pnetcdf", "the same as variables, iput_varn and iget_varn, one wait_all", true},
};

class AmrSubject final : public Subject {
 public:
  AmrSubject() {
    program = "forebay-amr";
    reads_back = true;
    library = "HDF5";
    summary =
        "Checkpoints and restarts an adaptive mesh by TCIO and by MPI-IO, and by HDF5 and PnetCDF under\n"
        "`forebay run` and without, in turn; compares the files, the restarted meshes and the times.";
    suffix = ".checkpoint";
    quick = ": below a minute";
    rows = amr_rows;
    notes =
        "The mesh of examples/amr after some steps. Every peer restarts from what it wrote: rows ROW-read, "
        "of\n"
        "which the digest of the restarted mesh is compared. Create is up to the last definition; of a\n"
        "restart, up to where the mesh has room for what is read.\n";
  }

  std::vector<Peer> peers(const std::string&, const std::string& romio) const override {
    return amr_peers(romio);
  }

  // Three files.
  std::int64_t bytes_of_rows(Size size, int) const override {
    return by_size<std::int64_t>(size, 12, 60, 240, 1200) << 20;
  }

  FileComparison compare(const std::string& reference, const std::string& path) const override {
    return compare_bytes(reference, path);
  }

  void check_reference(const std::string& path, std::int64_t bytes) const override {
    const auto held = static_cast<std::int64_t>(std::filesystem::file_size(path));
    if (held < bytes) throw std::runtime_error(fmt::format("holds {} bytes instead of {}", held, bytes));
  }

  std::string driver_of(const std::string& row) const override { return row == "trees" ? "tcio" : row; }
};

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
  forebay::bench::AmrSubject subject;
  return forebay::bench::benchmark_main(subject, argc, argv);
}
