// forebay-pnetcdf-writer: writes the benchmark's rows one after another, a file each, and says how long each
// took. It knows nothing of Forebay; `forebay run` is put before it, or not.
#include <fmt/format.h>
#include <malloc.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "plain_writes.hpp"
#include "pnetcdf_call.hpp"
#include "row.hpp"
#include "stopwatch.hpp"

namespace forebay::bench {
namespace {

struct Options {
  std::vector<std::string> rows, outs, hints;  // a file for each row
  std::string json, plain, size = "normal";
  Setting setting;
};

// MPI_Info from "key=value"s.
class Info {
 public:
  explicit Info(const std::vector<std::string>& hints) {
    if (hints.empty()) return;
    MPI_Info_create(&info_);
    for (const std::string& hint : hints) {
      const std::size_t equals = hint.find('=');
      if (equals == std::string::npos) throw std::runtime_error("no hint of the form key=value: " + hint);
      MPI_Info_set(info_, hint.substr(0, equals).c_str(), hint.substr(equals + 1).c_str());
    }
  }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  ~Info() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

// This process's own memory, in bytes: `what` is VmRSS, or VmHWM since the last forget_peak.
std::int64_t memory(const std::string& what) {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::int64_t kilobytes = 0;
  while (status >> word)
    if (word == what + ":" && status >> kilobytes) return kilobytes * 1024;
  return 0;
}

void forget_peak() {
  std::ofstream("/proc/self/clear_refs") << "5\n";
}

template <typename T>
T reduce(T value, MPI_Datatype type, MPI_Op op) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, type, op, MPI_COMM_WORLD);
  return value;
}

nlohmann::json write_row(const Options& options, std::size_t i, MPI_Info info) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const std::unique_ptr<Row> row = make_row(options.rows[i], options.setting);
  const Stopwatch timed(comm);
  const auto bytes = reduce(row->bytes(), MPI_INT64_T, MPI_SUM);
  const auto pieces = reduce(row->pieces(), MPI_INT64_T, MPI_SUM);

  // What malloc kept of the row before is given back, lest the order of the rows matter.
  ::malloc_trim(0);
  forget_peak();
  const std::int64_t before = memory("VmRSS");
  int file = -1;
  const double create = timed([&] {
    check(ncmpi_create(comm, options.outs[i].c_str(), NC_CLOBBER | NC_64BIT_DATA, info, &file),
          "ncmpi_create");
    row->define(file);
    check(ncmpi_enddef(file), "ncmpi_enddef");
  });
  double close = 0;
  const double data = timed([&] {
    row->put(file);
    close = -MPI_Wtime();
    check(ncmpi_close(file), "ncmpi_close");
    close += MPI_Wtime();
  });
  const std::int64_t more = memory("VmHWM") - before;
  nlohmann::json said = {{"row", options.rows[i]},
                         {"bytes", bytes},
                         {"pieces", pieces},
                         {"create_s", create},
                         {"data_s", data},
                         {"close_s", reduce(close, MPI_DOUBLE, MPI_MAX)},
                         {"extra_memory", reduce(more, MPI_INT64_T, MPI_SUM)}};
  if (!options.plain.empty()) {
    PlainWrites plain(bytes, comm);
    plain.create(options.plain);
    said["plain_s"] = timed([&] {
      plain.write();
      plain.close();
    });
    if (options.setting.rank == 0) std::filesystem::remove(options.plain);
    MPI_Barrier(comm);
  }
  return said;
}

void run(Options& options) {
  MPI_Comm_rank(MPI_COMM_WORLD, &options.setting.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &options.setting.ranks);
  options.setting.size = parse_size(options.size);
  const Info info(options.hints);
  nlohmann::json result = {
      {"library", ncmpi_inq_libvers()}, {"ranks", options.setting.ranks}, {"rows", nlohmann::json::array()}};
  for (std::size_t i = 0; i < options.rows.size(); ++i)
    result["rows"].push_back(write_row(options, i, info.get()));
  if (options.setting.rank == 0 && !options.json.empty()) {
    std::ofstream file(options.json);
    file << result.dump(2) << '\n';
    if (!file.flush()) throw std::runtime_error("cannot write " + options.json);
  }
}

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
  using namespace forebay::bench;
  Options options;
  bool library = false;
  CLI::App app("Writes the rows of forebay-pnetcdf, a file each, and says how long each took.");
  app.add_option("--row", options.rows, "a row; may be repeated");
  app.add_option("--out", options.outs, "the file to write, for each row");
  app.add_option("--size", options.size, "tiny, quick, normal or full")->capture_default_str();
  app.add_option("--f-map", options.setting.f_map, "E3SM's F map; else a generated one");
  app.add_option("--g-map", options.setting.g_map, "E3SM's G map; else a generated one");
  app.add_option("--hint", options.hints, "key=value for MPI_Info; may be repeated");
  app.add_option("--json", options.json, "where to put the timings");
  app.add_option("--plain", options.plain, "a file to write as many bytes to, plainly, after each row");
  app.add_flag("--library", library, "print the version of PnetCDF and end");
  app.callback([&] {
    if (options.rows.size() != options.outs.size())
      throw CLI::ValidationError("--out", "each --row needs a file of its own");
  });
  CLI11_PARSE(app, argc, argv);
  if (library) {
    fmt::print("{}\n", ncmpi_inq_libvers());
    return 0;
  }

  MPI_Init(&argc, &argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fmt::print(stderr, "forebay-pnetcdf-writer: rank {}: {}\n", rank, error.what());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
