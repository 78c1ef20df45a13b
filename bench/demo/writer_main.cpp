// forebay-demo-writer: writes the whole history file as the benchmarks' rows write parts of it.
#include <CLI/CLI.hpp>
#include <utility>

#include "cases.hpp"
#include "hdf5/hdf5_row.hpp"
#include "pnetcdf/pnetcdf_row.hpp"
#include "row_writer.hpp"

int main(int argc, char** argv) {
  using namespace forebay::bench;
  Case of;
  std::int64_t records = 1;
  RowWriter writer;
  writer.program = "forebay-demo-writer";
  writer.version = ncmpi_inq_libvers();
  writer.make_row = [&](const std::string& name, const Setting& setting) {
    std::vector<Decomposition> cuts = open_case(of)(setting.rank, setting.ranks);
    for (Decomposition& one : cuts) one.pieces = ascending(std::move(one.pieces));
    if (name == "pnetcdf") return make_history_row(setting, std::move(cuts), records);
    Form form{name == "hdf5" ? Transfer::Collective : Transfer::Multi, true};
    form.since_18 = true;
    return make_history_row(setting, form, std::move(cuts), records);
  };
  writer.add_options = [&](CLI::App& app) {
    app.add_option("--map", of.map, "\"generated\", or a recorded map (CDF)")->capture_default_str();
    app.add_option("--ne", of.ne, "generated: elements along a cube's edge")->capture_default_str();
    app.add_option("--levels", of.levels, "generated: levels")->capture_default_str();
    app.add_option("--records", records, "time steps")->capture_default_str();
  };
  return row_writer_main(writer, argc, argv);
}
