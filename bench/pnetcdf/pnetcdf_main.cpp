// forebay-pnetcdf: Forebay's PnetCDF driver against the stock library on models' access patterns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "benchmark_main.hpp"
#include "compare_files.hpp"
#include "find_map.hpp"
#include "pnetcdf_peers.hpp"
#include "pnetcdf_rows.hpp"

namespace forebay::bench {
namespace {

class PnetcdfSubject final : public Subject {
 public:
  PnetcdfSubject() {
    program = "forebay-pnetcdf";
    library = "PnetCDF";
    driver = "pnetcdf";
    suffix = ".nc";
    quick = ": below 50 s";
    rows = pnetcdf_rows();
    notes =
        "With PnetCDF 1.15 and later those over ROMIO and OMPIO get nc_driver=mpiio. Forebay's files have to "
        "be those of\n"
        "\"exact\", byte for byte; those of the other peers as far as bytes were put.\n";
  }

  std::vector<Peer> peers(const std::string& version, const std::string& romio) const override {
    return pnetcdf_peers(version.empty() ? "1.15" : version, romio);
  }

  // About these many MiB, and these many more for each rank.
  std::int64_t bytes_of_rows(Size size, int ranks) const override {
    return (by_size<std::int64_t>(size, 1, 140, 450, 1000) +
            by_size<std::int64_t>(size, 1, 8, 25, 60) * ranks)
           << 20;
  }

  FileComparison compare(const std::string& reference, const std::string& path) const override {
    return compare_files(reference, path);
  }

  void check_reference(const std::string& path, std::int64_t bytes) const override {
    const std::int64_t held = bytes_put(path);
    if (held != bytes) throw std::runtime_error(fmt::format("holds {} bytes instead of {}", held, bytes));
  }

  void add_options(CLI::App& app) override {
    app.add_option(
           "--maps", folder_,
           "the folder with E3SM's map_f_case_16p.nc and map_g_case_16p.nc, ../shared/data/e3sm beside the "
           "checkout; maps that are not there "
           "are generated")
        ->capture_default_str();
  }

  std::vector<std::string> writer_options() const override {
    std::vector<std::string> words;
    if (!f_map().empty()) words.insert(words.end(), {"--f-map", f_map()});
    if (!g_map().empty()) words.insert(words.end(), {"--g-map", g_map()});
    return words;
  }

  std::string input() const override {
    return fmt::format("Decompositions: F {}; G {}", describe_map(f_map()), describe_map(g_map()));
  }

 private:
  std::string f_map() const { return find_map(folder_, "map_f_case_16p.nc"); }
  std::string g_map() const { return find_map(folder_, "map_g_case_16p.nc"); }

  std::string folder_ = FOREBAY_BENCH_MAPS;
};

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
  forebay::bench::PnetcdfSubject subject;
  return forebay::bench::benchmark_main(subject, argc, argv);
}
