// forebay-pnetcdf-writer: writes the benchmark's rows through PnetCDF.
#include <CLI/CLI.hpp>

#include "pnetcdf_row.hpp"
#include "row_writer.hpp"

int main(int argc, char** argv) {
  using namespace forebay::bench;
  Maps maps;
  RowWriter writer;
  writer.program = "forebay-pnetcdf-writer";
  writer.version = ncmpi_inq_libvers();
  writer.make_row = [&](const std::string& name, const Setting& setting) {
    return make_pnetcdf_row(name, setting, maps);
  };
  writer.add_options = [&](CLI::App& app) {
    app.add_option("--f-map", maps.f, "E3SM's F map; else a generated one");
    app.add_option("--g-map", maps.g, "E3SM's G map; else a generated one");
  };
  return row_writer_main(writer, argc, argv);
}
