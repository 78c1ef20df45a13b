// forebay-tcio-writer: writes and reads the rows of the TCIO benchmark.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>

#include "arrays_row.hpp"
#include "headroom.hpp"
#include "row_writer.hpp"

int main(int argc, char** argv) {
  using namespace forebay::bench;
  std::string way = "tcio";
  std::int64_t elements = 0, headroom = 0;
  RowWriter writer;
  writer.program = "forebay-tcio-writer";
  writer.version = fmt::format("{}.{}", MPI_VERSION, MPI_SUBVERSION);
  writer.make_row = [&](const std::string& name, const Setting& setting) {
    std::unique_ptr<Row> row = make_arrays_row(name, setting, parse_arrays_way(way), elements);
    // Once: what a row's calls leave behind is theirs.
    if (headroom > 0) limit_memory(headroom);
    headroom = 0;
    return row;
  };
  writer.add_options = [&](CLI::App& app) {
    app.add_option("--way", way, "views, alone or tcio")->capture_default_str();
    app.add_option("--elements", elements, "of each array; 0: by size")->check(CLI::NonNegativeNumber);
    app.add_option("--headroom", headroom,
                   "bytes of address space that a rank may take beyond its arrays and MPI's; 0: any")
        ->check(CLI::NonNegativeNumber);
  };
  return row_writer_main(writer, argc, argv);
}
