// forebay-demo-writer: one run writes the history file in one way or several, one after another, and says how
// long each part took. It knows nothing of Forebay; `forebay run` is put before it, or not.
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "cases.hpp"
#include "mpi_main.hpp"
#include "stopwatch.hpp"
#include "text_file.hpp"
#include "way.hpp"

namespace forebay::bench {
namespace {

struct Options {
  std::vector<std::string> api, out;  // a file for each way
  std::string json, ready;
  Case of;
  std::int64_t records = 1;
  bool no_puts = false;
};

// Tells whoever watches this run that all is ready and nothing is written yet, and waits for its word.
void wait_for_watcher(const std::string& directory, int rank) {
  namespace fs = std::filesystem;
  const fs::path mine = fs::path(directory) / fmt::format("rank.{}", rank);
  const fs::path draft = mine.string() + ".draft";
  std::ofstream(draft) << ::getpid() << ' ' << machine_id() << '\n';
  fs::rename(draft, mine);
  while (!fs::exists(fs::path(directory) / "go")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool is_complete(const Cutter& cut, int rank, int ranks, MPI_Comm comm) {
  int complete = 1;
  if (rank == 0)
    for (const Coverage& one : cover(cut, ranks)) complete = complete && one.missing() == 0;
  MPI_Bcast(&complete, 1, MPI_INT, 0, comm);
  return complete != 0;
}

std::unique_ptr<Way> make_way(const std::string& api, Workload& workload, MPI_Comm comm, std::int64_t bytes,
                              bool complete) {
  if (api == "pnetcdf") return make_pnetcdf_way(workload, comm);
  if (api == "limit") return make_limit_way(bytes, comm);
  return make_hdf5_way(workload, comm, api == "hdf5" ? Calls::PerDataset : Calls::PerRecord, complete);
}

void run(const Options& options) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);

  const Cutter cut = open_case(options.of);
  const bool complete = is_complete(cut, rank, ranks, comm);
  Workload workload(cut(rank, ranks), options.records, rank);
  const std::int64_t bytes = sum(workload.bytes(), comm), pieces = sum(workload.pieces(), comm);
  nlohmann::json written = nlohmann::json::array();
  for (std::size_t i = 0; i < options.api.size(); ++i) {
    const std::string& api = options.api[i];
    const std::unique_ptr<Way> way = make_way(api, workload, comm, bytes, complete);
    const Stopwatch timed(comm);
    workload.fill(0);
    way->aim(0);
    if (!options.ready.empty()) wait_for_watcher(options.ready, rank);

    const double create = timed([&] { way->create(options.out[i]); });
    double write = 0;
    const std::int64_t rounds = options.no_puts ? 0 : api == "limit" ? 1 : options.records;
    for (std::int64_t record = 0; record < rounds; ++record) {
      if (record > 0) {
        workload.fill(record);
        way->aim(record);
      }
      write += timed([&] { way->write(record); });
    }
    const double close = timed([&] { way->close(); });
    written.push_back({{"api", api}, {"create_s", create}, {"write_s", write}, {"close_s", close}});
  }

  if (rank == 0 && !options.json.empty()) {
    const nlohmann::json result = {{"ranks", ranks},
                                   {"bytes", bytes},
                                   {"pieces", pieces},
                                   {"records", options.records},
                                   {"written", written}};
    write_file(options.json, result.dump(2) + "\n");
  }
}

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
  using namespace forebay::bench;
  Options options;
  CLI::App app("Writes a climate-like history file in one way or several and says how long each took.");
  app.add_option("--api", options.api,
                 "pnetcdf, hdf5 (a call a dataset), hdf5-multi (a call a record), limit; may be repeated")
      ->required()
      ->check(CLI::IsMember({"pnetcdf", "hdf5", "hdf5-multi", "limit"}));
  app.add_option("--map", options.of.map, "\"generated\", or a recorded map (CDF)")->capture_default_str();
  app.add_option("--ne", options.of.ne, "generated: elements along a cube's edge")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--levels", options.of.levels, "generated: levels")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--records", options.records, "time steps")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--out", options.out, "the file to write, for each way")->required();
  app.add_option("--json", options.json, "where to put the timings");
  app.add_option("--ready", options.ready,
                 "a folder to announce each rank's pid in, then wait for a file \"go\" there");
  app.add_flag("--no-puts", options.no_puts, "create, define and close the file, and write nothing to it");
  app.callback([&] {
    if (options.api.size() != options.out.size())
      throw CLI::ValidationError("--out", "each --api needs a file of its own");
  });
  CLI11_PARSE(app, argc, argv);

  return mpi_main(argc, argv, "forebay-demo-writer", [&] { run(options); });
}
