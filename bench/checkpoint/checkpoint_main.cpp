// forebay-checkpoint: what a program that computes loses to its checkpoints, in memory and on a slow storage.
#include <fmt/format.h>
#include <pnetcdf.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "applications/file_values.hpp"
#include "benchmark.hpp"
#include "benchmark_main.hpp"
#include "checkpoint_peers.hpp"
#include "checkpoint_results.hpp"
#include "checkpoint_rows.hpp"
#include "compare_bytes.hpp"
#include "find_map.hpp"
#include "machine.hpp"
#include "pnetcdf/compare_files.hpp"
#include "row_files.hpp"
#include "text_file.hpp"

namespace forebay::bench {
namespace {

// A drain in the background is behind the program, so it has to have some more time than a plain write takes.
constexpr double compute_of_plain = 1.5;

#if defined(PNETCDF_BURST_BUFFERING) && PNETCDF_BURST_BUFFERING
constexpr bool has_burst_buffer = true;
#else
constexpr bool has_burst_buffer = false;
#endif

// A file is named TAG.ROW.out; its row.
std::string row_of(const std::string& path) {
  const std::string name = std::filesystem::path(path).stem().string();
  return name.substr(name.rfind('.') + 1);
}

class CheckpointSubject final : public Subject {
 public:
  CheckpointSubject() {
    program = "forebay-checkpoint";
    library = "PnetCDF";
    summary =
        "Computes and writes checkpoints through PnetCDF, HDF5 and MPI-IO, with the stock libraries, under\n"
        "`forebay run` and with a log on the node, in turn; compares the files and the time lost to writing.";
    suffix = ".out";
    quick = ": some minutes";
    rows = checkpoint_rows();
    notes =
        "Rows run twice: ROW.memory with files in /dev/shm, and ROW.slow with files in --dir (else TMPDIR or "
        "/tmp), to\n"
        "which all processes together write at --rate. The time lost is the program's without that of its "
        "computations\n"
        "alone; ratios are of times lost. Forebay's files have to be those of \"exact\", byte for byte. Last "
        "lines: `ratio\n"
        "ROW.STORAGE X` with the strict mode, and `ratio ROW.STORAGE.PEER X`.\n";
  }

  std::vector<Peer> peers(const std::string& version, const std::string& romio) const override {
    return checkpoint_peers(romio, log_folder_.empty() ? "FOLDER" : log_folder_,
                            version.empty() || has_burst_buffer);
  }

  std::int64_t bytes_of_rows(Size size, int) const override {
    return bytes_of_checkpoint(size) * checkpoints;
  }

  FileComparison compare(const std::string& reference, const std::string& path) const override {
    const bool classic = driver_of(row_of(path)) == "pnetcdf";
    return compare_row_files(reference, path, classic ? compare_files : compare_bytes);
  }

  void check_reference(const std::string& path, std::int64_t bytes) const override {
    std::int64_t held = 0;
    if (row_of(path) == "trees") {  // of headers, too, and of values that may be zero
      for (const std::string& file : row_files(path))
        held += static_cast<std::int64_t>(std::filesystem::file_size(file));
      held = std::min(held, bytes);
    } else {
      held = bytes_of_values(path);
    }
    if (held != bytes) throw std::runtime_error(fmt::format("holds {} bytes instead of {}", held, bytes));
  }

  std::string driver_of(const std::string& row) const override {
    return row == "trees" ? "tcio" : row == "restart" ? "hdf5" : "pnetcdf";
  }

  void add_options(CLI::App& app) override {
    app.add_option("--checkpoints", checkpoints, "how many the program writes; 5")
        ->check(CLI::Range(1, 10000));
    app.add_option("--compute", compute,
                   "seconds of computation before each; else half as long again as a plain write of a "
                   "checkpoint takes there")
        ->check(CLI::Range(0.001, 3600.0));
    app.add_option("--rate", rate, "of the slow storage, in MB/s; 100")->check(CLI::Range(0.001, 1e6));
    app.add_option("--storage", storages, "memory, slow, or both, comma-separated; both")
        ->delimiter(',')
        ->check(CLI::IsMember({"memory", "slow"}));
    app.add_option("--log", log_parent, "where logs on the node and copies go; else /dev/shm");
    app.add_option("--maps", maps_,
                   "the folder with E3SM's map_f_case_16p.nc, ../shared/data/e3sm beside the checkout; where "
                   "it is not there a map is generated")
        ->capture_default_str();
  }

  std::vector<std::string> writer_options() const override {
    std::vector<std::string> words = {"--checkpoints", std::to_string(checkpoints), "--log", log_folder_};
    for (const auto& [row, number] : sweeps_)
      words.insert(words.end(), {"--sweeps", fmt::format("{}={}", row, number)});
    if (!map().empty()) words.insert(words.end(), {"--f-map", map()});
    return words;
  }

  std::string input() const override { return "Decomposition: F " + describe_map(map()); }

  void log_to(const std::string& folder) { log_folder_ = folder; }

  // Before the reference is written nothing is known of how long anything takes.
  void forget_sweeps() { sweeps_.clear(); }
  // By what the reference's launch measured: seconds of computation before each checkpoint.
  double choose_sweeps(const RowResult& row) {
    const double seconds = compute > 0 ? compute : compute_of_plain * row.reference.at("plain_s");
    sweeps_[row.name] = std::max<std::int64_t>(1, std::llround(seconds / row.reference.at("sweep_s")));
    return seconds;
  }

  int checkpoints = 5;
  double compute = 0, rate = 100;  // 0: as long as it needs to be; MB/s
  std::vector<std::string> storages = {"memory", "slow"};
  std::string log_parent = "/dev/shm";

 private:
  std::string map() const { return find_map(maps_, "map_f_case_16p.nc"); }

  std::string maps_ = FOREBAY_BENCH_MAPS, log_folder_;
  std::map<std::string, std::int64_t> sweeps_;
};

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

// All rows on one storage, named for it.
void run_on(const std::string& storage, CheckpointSubject& subject, BenchmarkOptions options,
            CheckpointResults& results) {
  fmt::print(stderr, "storage: {}\n", storage);
  std::unique_ptr<Scratch> slow;
  if (storage == "memory") {
    options.directory = "/dev/shm";
  } else {
    if (options.directory.empty()) options.directory = temporary_folder();
    slow = std::make_unique<Scratch>(subject.program + "-slow", options.directory, 0, options.keep);
    options.directory = slow->path().string();
    const std::string throttle = find_program("forebay-throttle");
    require_programs({throttle});
    options.before = {throttle, "--folder", options.directory, "--rate", fmt::format("{}", subject.rate)};
  }
  subject.forget_sweeps();
  Benchmark benchmark(subject, options);
  benchmark.write_reference();
  for (const RowResult& row : benchmark.results().rows)
    results.compute[row.name + "." + storage] = subject.choose_sweeps(row);
  BenchmarkResults measured = benchmark.run();
  for (RowResult& row : measured.rows) row.name += "." + storage;
  if (results.measured.rows.empty()) {
    results.measured = std::move(measured);
    return;
  }
  results.measured.place += ", " + measured.place;
  std::move(measured.rows.begin(), measured.rows.end(), std::back_inserter(results.measured.rows));
}

int measure(CheckpointSubject& subject, const BenchmarkOptions& options, const std::string& json,
            const std::string& plot) {
  const Scratch log(subject.program + "-log", subject.log_parent,
                    2 * subject.bytes_of_rows(options.size, options.ranks), options.keep);
  subject.log_to(log.path().string());
  CheckpointResults results;
  results.checkpoints = subject.checkpoints;
  results.megabytes_per_second = subject.rate;
  results.log = log.path().parent_path().string();
  for (const std::string& storage : subject.storages) run_on(storage, subject, options, results);
  if (!json.empty()) write_file(json, to_json(results).dump(2) + "\n");
  if (!plot.empty()) write_file(plot, to_svg(results));
  fmt::print("\n{}\n{}", table(results), closing_lines(results));
  std::fflush(stdout);
  return results.measured.all_identical() ? 0 : 1;
}

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
  using namespace forebay::bench;
  CheckpointSubject subject;
  return benchmark_main(subject, argc, argv,
                        [&](const BenchmarkOptions& options, const std::string& json,
                            const std::string& plot) { return measure(subject, options, json, plot); });
}
