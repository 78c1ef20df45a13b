// forebay-checkpoint-writer: computes and writes checkpoints, through PnetCDF, HDF5 and TCIO.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "burst_buffer.hpp"
#include "checkpoint_row.hpp"
#include "pnetcdf/pnetcdf_row.hpp"
#include "row_writer.hpp"

#if defined(FOREBAY_BENCH_TREES)
constexpr bool has_trees = true;
#else
constexpr bool has_trees = false;
#endif

int main(int argc, char** argv) {
  using namespace forebay::bench;
  CheckpointPlan plan;
  std::string map, binary = "tcio";
  std::vector<std::string> sweeps;
  bool burst_buffer = false;
  RowWriter writer;
  writer.program = "forebay-checkpoint-writer";

  writer.version = ncmpi_inq_libvers();
  const auto make_inner = [&](const std::string& name, const Setting& setting) -> std::unique_ptr<Row> {
    if (name == "f") return make_e3sm_row(setting, map, false, 1);
    if (name == "btio") return make_btio_row(setting);
    if (name == "restart") return make_restart_row(setting);
#if defined(FOREBAY_BENCH_TREES)
    if (name == "trees") return make_trees_row(setting, binary == "tcio");
#endif
    throw std::runtime_error("there is no row " + name + (has_trees ? "" : " (row trees needs Kokkos)"));
  };
  writer.make_row = [&](const std::string& name, const Setting& setting) {
    if (burst_buffer) require_burst_buffer(plan.log);
    return make_checkpoint_row(name, setting, plan,
                               [&](const Setting& mine) { return make_inner(name, mine); });
  };
  writer.add_options = [&](CLI::App& app) {
    app.add_option("--checkpoints", plan.checkpoints, "how many")
        ->capture_default_str()
        ->check(CLI::Range(1, 10000));
    app.add_option_function<std::vector<std::string>>(
        "--sweeps",
        [&](const std::vector<std::string>& all) {
          for (const std::string& one : all) {
            const std::size_t equals = one.find('=');
            if (equals == std::string::npos) throw CLI::ValidationError("--sweeps", "ROW=NUMBER");
            plan.sweeps[one.substr(0, equals)] = std::stoll(one.substr(equals + 1));
          }
        },
        "ROW=NUMBER, of each computation; may be repeated. A row without them does not compute, and measures "
        "what is needed to choose some");
    app.add_option("--log", plan.log, "the folder on the node that copies go to");
    app.add_flag("--burst-buffer", burst_buffer, "end where this PnetCDF has no burst buffer");
    app.add_option("--binary", binary, "row trees: tcio or mpiio")->capture_default_str();
    app.add_option("--f-map", map, "E3SM's F map; else a generated one");
  };
  return row_writer_main(writer, argc, argv);
}
