// forebay-hdf5: Forebay's HDF5 driver against the stock library on models' access patterns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "benchmark_main.hpp"
#include "compare_files.hpp"
#include "find_map.hpp"
#include "hdf5_peers.hpp"
#include "hdf5_rows.hpp"

namespace forebay::bench {
namespace {

class Hdf5Subject final : public Subject {
 public:
  Hdf5Subject() {
    program = "forebay-hdf5";
    library = "HDF5";
    driver = "hdf5";
    suffix = ".h5";
    quick = ": below 50 s";
    rows = hdf5_rows();
    notes =
        "Each peer takes part in the rows that its kind of call can be told apart in: H5Dwrite_multi where a "
        "row has several\n"
        "datasets; row deflate is collective and rows small-independent and independent are independent "
        "whatever the peer. Over "
        "OMPIO not in\n"
        "--quick. Forebay's files have to be those of \"exact\", byte for byte; those of the other peers in "
        "their values.\n"
        "Where Forebay has several peers of one mode, X is that of the fastest of them.\n";
  }

  std::vector<Peer> peers(const std::string&, const std::string& romio) const override {
    return hdf5_peers(romio);
  }

  // About these many MiB, and these many more for each rank.
  std::int64_t bytes_of_rows(Size size, int ranks) const override {
    return (by_size<std::int64_t>(size, 1, 20, 140, 900) +
            by_size<std::int64_t>(size, 1, 20, 80, 200) * ranks)
           << 20;
  }

  FileComparison compare(const std::string& reference, const std::string& path) const override {
    return compare_hdf5_files(reference, path);
  }

  void check_reference(const std::string& path, std::int64_t bytes) const override {
    const std::int64_t held = bytes_put_hdf5(path);
    if (held != bytes) throw std::runtime_error(fmt::format("holds {} bytes instead of {}", held, bytes));
  }

  void add_options(CLI::App& app) override {
    app.add_option("--maps", folder_,
                   "the folder with E3SM's map_f_case_16p.nc, ../shared/data/e3sm beside the checkout; where "
                   "it is not there a map is generated")
        ->capture_default_str();
  }

  std::vector<std::string> writer_options() const override {
    if (map().empty()) return {};
    return {"--f-map", map()};
  }

  std::string input() const override { return "Decomposition: F " + describe_map(map()); }

 private:
  std::string map() const { return find_map(folder_, "map_f_case_16p.nc"); }

  std::string folder_ = FOREBAY_BENCH_MAPS;
};

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
  forebay::bench::Hdf5Subject subject;
  return forebay::bench::benchmark_main(subject, argc, argv);
}
