// amr: an adaptive mesh that computes, writes checkpoints in several ways, and goes on from one on any number
// of ranks.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <optional>

#include "agree.hpp"
#include "checkpoint.hpp"
#include "digest.hpp"
#include "picture.hpp"
#include "segments.hpp"
#include "step.hpp"

namespace amr {
namespace {

struct Options {
  SegmentSettings segments{.scale = 0.01};
  std::optional<std::int64_t> steps;
  std::string restart, write, picture;
  std::optional<Way> way;
  PictureSettings slice;
  Space space = Space::host;
  int threads = 1;
  bool quiet = false;
};

void add_options(CLI::App& app, Options& options) {
  static const std::vector<std::pair<std::string, Space>> spaces = {{"serial", Space::serial},
                                                                    {"host", Space::host}};
  app.add_option("--scale", options.segments.scale,
                 "times segments of about 2048 root cells; 1 takes gigabytes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--segments", options.segments.segments, "segments, dealt to the ranks in turn")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--steps", options.steps,
                 "compute until so many steps are done, a restart's included; 10, or none after a restart")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--restart", options.restart, "go on from this checkpoint, whatever way and ranks wrote it")
      ->type_name("FILE");
  app.add_option("--write", options.write, "write a checkpoint at the end")->type_name("FILE");
  app.add_option("--way", options.way,
                 "how to write, and to read a file of that kind: tcio, mpiio "
                 "(independent writes), hdf5, "
                 "hdf5-multi, pnetcdf; by default FILE.h5 is hdf5, FILE.nc pnetcdf, any other tcio")
      ->transform(CLI::CheckedTransformer(ways()).description(""))
      ->type_name("WAY");
  app.add_option("--picture", options.picture, "draw a slice of the mesh at the end, as PNG")
      ->type_name("FILE");
  app.add_option("--picture-pixels", options.slice.pixels, "its width and height")
      ->check(CLI::Range(16, 16384))
      ->capture_default_str();
  app.add_option("--picture-height", options.slice.height, "where the slice is, 0 to 1")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--space", options.space,
                 "where Kokkos computes: serial, or host, its default (such as OpenMP)")
      ->transform(CLI::CheckedTransformer(spaces).description(""))
      ->type_name("SPACE");
  app.add_option("--threads", options.threads, "of each rank")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--quiet", options.quiet, "no progress, only the end");
}

class Run {
 public:
  Run(MPI_Comm comm, const Options& options) : comm_(comm), options_(options) { MPI_Comm_rank(comm, &rank_); }

  void run() {
    begin();
    compute();
    state_ = digest(comm_, restart_.mesh, options_.space);
    if (!options_.write.empty()) write();
    if (!options_.picture.empty())
      draw(comm_, options_.picture, *restart_.domain, restart_.mesh, options_.slice);
    tell_state();
  }

 private:
  template <class... Arguments>
  void tell(fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    if (rank_ != 0 || options_.quiet) return;
    fmt::print(text, std::forward<Arguments>(arguments)...);
    std::fflush(stdout);
  }

  void begin() {
    int ranks = 1;
    MPI_Comm_size(comm_, &ranks);
    if (options_.restart.empty()) {
      restart_.domain = std::make_unique<Domain>(segment_lengths(options_.segments));
      restart_.share = std::make_unique<Share>(*restart_.domain, rank_, ranks);
      restart_.mesh = make_mesh(*restart_.domain, *restart_.share, options_.space);
      return;
    }
    const double start = MPI_Wtime();
    Way way = way_of_file(comm_, options_.restart);
    if (options_.way && (way == Way::tcio ? *options_.way == Way::mpiio
                                          : way == Way::hdf5 && *options_.way == Way::hdf5_multi))
      way = *options_.way;
    restart_ = read_checkpoint(comm_, way, options_.restart, options_.space);
    const double took = MPI_Wtime() - start;
    const std::uint64_t found = digest(comm_, restart_.mesh, options_.space);
    if (found != restart_.digest)
      throw Failure(fmt::format("{}: damaged: its digest is {:016x} and should be {:016x}", options_.restart,
                                found, restart_.digest));
    tell("read {} in {:.3f} s, step {}, digest {:016x}\n", options_.restart, took, restart_.mesh.step, found);
    together(comm_, [&] {
      if (options_.steps && restart_.mesh.step > *options_.steps)
        throw Failure(fmt::format("{} is of step {}, and --steps {} is before it", options_.restart,
                                  restart_.mesh.step, *options_.steps));
    });
  }

  void compute() {
    Stepper stepper(comm_, *restart_.domain, options_.space);
    double told = MPI_Wtime();
    const std::int64_t steps = options_.steps.value_or(options_.restart.empty() ? 10 : 0);
    while (restart_.mesh.step < steps) {
      stepper.step(restart_.mesh);
      if (MPI_Wtime() - told < 2) continue;
      told = MPI_Wtime();
      tell("step {} of {}: {} octs on rank 0\n", restart_.mesh.step, steps, restart_.mesh.octs());
    }
  }

  void write() const {
    const double start = MPI_Wtime();
    write_checkpoint(comm_, options_.way.value_or(way_for_name(options_.write)), options_.write,
                     {*restart_.domain, *restart_.share, restart_.mesh, state_});
    tell("wrote {} in {:.3f} s\n", options_.write, MPI_Wtime() - start);
  }

  void tell_state() const {
    std::array<std::int64_t, deepest + 2> sums{};  // octs of each level, arrays
    for (int level = 0; level <= deepest; ++level) {
      const Level& cells = restart_.mesh.levels[static_cast<std::size_t>(level)];
      sums[static_cast<std::size_t>(level)] = cells.octs();
      for (int tree = 0; tree < restart_.mesh.trees(); ++tree)
        if (cells.first(tree + 1) > cells.first(tree)) sums.back() += arrays_of(level);
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_INT64_T, MPI_SUM, comm_);
    if (rank_ != 0) return;
    fmt::print("step {}: {} root cells, octs of levels 1 to {}:", restart_.mesh.step, sums[0], deepest);
    for (int level = 1; level <= deepest; ++level) fmt::print(" {}", sums[static_cast<std::size_t>(level)]);
    fmt::print("; {} arrays\ndigest {:016x}\n", sums.back(), state_);
  }

  MPI_Comm comm_;
  const Options& options_;
  int rank_ = 0;
  Restart restart_;  // from a file or not
  std::uint64_t state_ = 0;
};

}  // namespace
}  // namespace amr

int main(int argc, char** argv) {
  amr::Options options;
  CLI::App app(
      "A cell-based adaptive mesh, refined where moving sources pour gas. It computes, writes a checkpoint, "
      "and goes on from\n"
      "one on any number of ranks to the same answer bit for bit.\n\n"
      "  mpiexec -n 4 amr --steps 8 --write state.amr --picture four.png\n"
      "  mpiexec -n 7 amr --restart state.amr --steps 12 --picture seven.png\n");
  amr::add_options(app, options);
  MPI_Init(&argc, &argv);
  int rank = 0, status = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    app.parse(argc, argv);
    const Kokkos::ScopeGuard kokkos(
        Kokkos::InitializationSettings().set_num_threads(options.threads).set_disable_warnings(true));
    amr::Run(MPI_COMM_WORLD, options).run();
  } catch (const CLI::ParseError& error) {
    status = rank == 0 ? app.exit(error) : static_cast<int>(error.get_exit_code());
  } catch (const amr::Failure& failure) {  // the same on all ranks
    if (rank == 0) fmt::print(stderr, "amr: {}\n", failure.what());
    status = 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "amr: rank {}: {}\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
