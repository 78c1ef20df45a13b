// forebay-hdf5-writer: writes the benchmark's rows through HDF5.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "hdf5_row.hpp"
#include "row_writer.hpp"

int main(int argc, char** argv) {
  using namespace forebay::bench;
  std::string map, transfer = "collective";
  Form form;
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  RowWriter writer;
  writer.program = "forebay-hdf5-writer";
  writer.version = fmt::format("{}.{}.{}", major, minor, release);
  writer.make_row = [&](const std::string& name, const Setting& setting) {
    form.transfer = parse_transfer(transfer);
    return make_hdf5_row(name, setting, form, map);
  };
  writer.add_options = [&](CLI::App& app) {
    app.add_option("--transfer", transfer, "independent, collective or multi")->capture_default_str();
    app.add_flag("--collective-metadata", form.collective_metadata, "read and write metadata collectively");
    app.add_option("--alignment", form.alignment, "H5Pset_alignment, bytes");
    app.add_option("--f-map", map, "E3SM's F map; else a generated one");
  };
  return row_writer_main(writer, argc, argv);
}
