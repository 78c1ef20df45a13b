// forebay-applications-writer: makes the calls of real programs, through HDF5 and PnetCDF.
#include <fmt/format.h>
#include <hdf5.h>

#include <CLI/CLI.hpp>

#include "application_row.hpp"
#include "row_writer.hpp"

int main(int argc, char** argv) {
  using namespace forebay::bench;
  bool collective_metadata = false;
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  RowWriter writer;
  writer.program = "forebay-applications-writer";
  writer.version = fmt::format("{}.{}.{}", major, minor, release);
  writer.make_row = [&](const std::string& name, const Setting& setting) {
    return make_application_row(name, setting, collective_metadata);
  };
  writer.add_options = [&](CLI::App& app) {
    app.add_flag("--collective-metadata", collective_metadata, "read and write HDF5's metadata collectively");
  };
  return row_writer_main(writer, argc, argv);
}
