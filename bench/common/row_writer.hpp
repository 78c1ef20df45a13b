// The main of a program that writes a benchmark's rows one after another, a file each, and says how long each
// took. It knows nothing of Forebay; `forebay run` is put before it, or not.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "row.hpp"

namespace CLI {
class App;
}

namespace forebay::bench {

struct RowWriter {
  std::string program;  // its name
  std::string version;  // the library's, as it is at run time
  // Throws std::runtime_error where there is none of that name.
  std::function<std::unique_ptr<Row>(const std::string& name, const Setting& setting)> make_row;
  std::function<void(CLI::App&)> add_options =
      nullptr;  // more than those that the driver of benchmarks gives
};

// Returns the exit status. What it measures of each row: create up to the end of the definitions, data from
// the first put to the end of close, both from the first rank's start to the last one's end; the peak of
// resident memory over what was there before, summed over the ranks; where asked to, plain writes of as many
// bytes.
int row_writer_main(const RowWriter& writer, int argc, char** argv);

}  // namespace forebay::bench
