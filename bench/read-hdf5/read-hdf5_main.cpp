// forebay-read-hdf5: reading back through HDF5 what models wrote, Forebay's driver against the stock library.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "benchmark_main.hpp"
#include "compare_files.hpp"
#include "find_map.hpp"
#include "hdf5_peers.hpp"
#include "hdf5_rows.hpp"

namespace forebay::bench {
namespace {

// As for writing, but that the tuned peers differ in what they do when they read.
std::vector<Peer> read_peers(const std::string& romio) {
  std::vector<Peer> peers = hdf5_peers(romio);
  for (Peer& peer : peers) {
    std::string& title = peer.title;
    for (std::string& hint : peer.hints) {
      if (peer.kind == Kind::Reference) continue;
      if (const std::size_t at = hint.find("_write="); at != std::string::npos) hint.replace(at, 7, "_read=");
    }
    for (const char* from : {"H5Dwrite", "cb_write", "ds_write"}) {
      std::string to = from;
      to.replace(to.find("write"), 5, "read");
      for (std::size_t at = title.find(from); at != std::string::npos; at = title.find(from))
        title.replace(at, std::string(from).size(), to);
    }
  }
  return peers;
}

class ReadHdf5Subject final : public Subject {
 public:
  ReadHdf5Subject() {
    program = "forebay-read-hdf5";
    writer = "../hdf5/forebay-hdf5-writer";
    reads = true;
    library = "HDF5";
    driver = "hdf5";
    suffix = ".h5";
    quick = ": below 50 s";
    rows = hdf5_rows();
    // Those behind them are programs that write.
    while (rows.back().alone) rows = rows.first(rows.size() - 1);
    notes =
        "The stock library writes the files once; every peer reads them on as many ranks, and compares each "
        "value.\n"
        "Each peer takes part in the rows that its kind of call can be told apart in.\n";
  }

  std::vector<Peer> peers(const std::string&, const std::string& romio) const override {
    return read_peers(romio);
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
  forebay::bench::ReadHdf5Subject subject;
  return forebay::bench::benchmark_main(subject, argc, argv);
}
