// forebay-tcio-writer: writes and reads the rows of the TCIO benchmark.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>

#include "arrays_row.hpp"
#include "row_writer.hpp"

int main(int argc, char** argv) {
  using namespace forebay::bench;
  std::string way = "tcio";
  RowWriter writer;
  writer.program = "forebay-tcio-writer";
  writer.version = fmt::format("{}.{}", MPI_VERSION, MPI_SUBVERSION);
  writer.make_row = [&](const std::string& name, const Setting& setting) {
    return make_arrays_row(name, setting, parse_arrays_way(way));
  };
  writer.add_options = [&](CLI::App& app) {
    app.add_option("--way", way, "views, alone or tcio")->capture_default_str();
  };
  return row_writer_main(writer, argc, argv);
}
