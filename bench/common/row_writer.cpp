// Times and weighs the rows.
#include "row_writer.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "mpi_main.hpp"
#include "plain_reads.hpp"
#include "plain_writes.hpp"
#include "stopwatch.hpp"
#include "text_file.hpp"

namespace forebay::bench {
namespace {

struct Options {
  std::vector<std::string> rows, outs, hints;  // a file for each row
  std::string json, plain, ready, size = "normal";
  bool read = false, read_back = false, no_puts = false;
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

// Tells whoever watches this run that all is ready and nothing is written yet, and waits for its word.
void wait_for_watcher(const std::string& directory, int rank) {
  namespace fs = std::filesystem;
  const fs::path mine = fs::path(directory) / fmt::format("rank.{}", rank);
  const fs::path draft = mine.string() + ".draft";
  std::ofstream(draft) << ::getpid() << ' ' << machine_id() << '\n';
  fs::rename(draft, mine);
  while (!fs::exists(fs::path(directory) / "go")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

nlohmann::json run_row(const Options& options, std::size_t i, const RowWriter& writer, MPI_Info info,
                       bool read) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const std::unique_ptr<Row> row = writer.make_row(options.rows[i], options.setting);
  const Stopwatch timed(comm);
  const std::int64_t bytes = sum(row->bytes(), comm), pieces = sum(row->pieces(), comm);

  // What malloc kept of the row before is given back, lest the order of the rows matter.
  ::malloc_trim(0);
  if (!options.ready.empty()) wait_for_watcher(options.ready, options.setting.rank);
  forget_peak();
  const std::int64_t before = memory("VmRSS");
  const double create = timed([&] {
    if (read) {
      row->open(options.outs[i], info);
    } else {
      row->create(options.outs[i], info);
    }
  });
  double close = 0;
  const double data = timed([&] {
    if (read) {
      row->read();
    } else if (!options.no_puts) {
      row->write();
    }
    close = -MPI_Wtime();
    row->close();
    close += MPI_Wtime();
  });
  const std::int64_t more = memory("VmHWM") - before;
  nlohmann::json said = {{"row", options.rows[i] + (read && options.read_back ? "-read" : "")},
                         {"bytes", bytes},
                         {"pieces", pieces},
                         {"create_s", create},
                         {"data_s", data},
                         {"close_s", largest(close, comm)},
                         {"extra_memory", sum(more, comm)}};
  if (const auto measured = row->measured(); !measured.empty()) said["measured"] = measured;
  if (read) said["right"] = sum(row->same() ? 0 : 1, comm) == 0;
  if (read && !options.plain.empty()) {
    PlainReads plain(options.outs[i], comm);
    said["plain_s"] = timed([&] { plain.read(); });
  } else if (!options.plain.empty()) {
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

void run(Options& options, const RowWriter& writer) {
  MPI_Comm_rank(MPI_COMM_WORLD, &options.setting.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &options.setting.ranks);
  options.setting.size = parse_size(options.size);
  const Info info(options.hints);
  nlohmann::json result = {
      {"library", writer.version}, {"ranks", options.setting.ranks}, {"rows", nlohmann::json::array()}};
  for (std::size_t i = 0; i < options.rows.size(); ++i) {
    result["rows"].push_back(run_row(options, i, writer, info.get(), options.read));
    if (options.read_back) result["rows"].push_back(run_row(options, i, writer, info.get(), true));
  }
  if (options.setting.rank == 0 && !options.json.empty()) write_file(options.json, result.dump(2) + "\n");
}

}  // namespace

int row_writer_main(const RowWriter& writer, int argc, char** argv) {
  Options options;
  bool library = false;
  CLI::App app("Writes or reads the rows of a benchmark, a file each, and says how long each took.",
               writer.program);
  app.add_option("--row", options.rows, "a row; may be repeated");
  app.add_option("--out", options.outs, "the file to write, for each row");
  app.add_option("--size", options.size, "tiny, quick, normal or full")->capture_default_str();
  app.add_option("--hint", options.hints, "key=value for MPI_Info; may be repeated");
  app.add_option("--json", options.json, "where to put the timings");
  app.add_flag("--read", options.read, "read the files back, which this program wrote on as many ranks");
  app.add_flag("--read-back", options.read_back, "read each file back after it was written");
  app.add_option(
      "--plain", options.plain,
      "a file to write as many bytes to, plainly, after each row; with --read the row's file is read");
  app.add_option("--ready", options.ready,
                 "a folder to announce each rank's pid in, then wait for a file \"go\" there");
  app.add_flag("--no-puts", options.no_puts, "create, define and close the files, and write nothing to them");
  app.add_flag("--library", library, "print the version of the library and end");
  if (writer.add_options) writer.add_options(app);
  app.callback([&] {
    if (options.rows.size() != options.outs.size())
      throw CLI::ValidationError("--out", "each --row needs a file of its own");
  });
  CLI11_PARSE(app, argc, argv);
  if (library) {
    fmt::print("{}\n", writer.version);
    return 0;
  }
  return mpi_main(argc, argv, writer.program, [&] { run(options, writer); });
}

}  // namespace forebay::bench
