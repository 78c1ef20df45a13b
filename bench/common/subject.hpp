// What a benchmark is about: all that the driver of benchmarks does not know by itself. To make one, derive
// from Subject and call benchmark_main (benchmark_main.hpp), and give row_writer_main (row_writer.hpp) the
// program that writes its rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "peers.hpp"
#include "rows.hpp"

namespace CLI {
class App;
}

namespace forebay::bench {

// A peer's file of a row against the reference.
struct FileComparison {
  std::int64_t differences = 0;  // bytes or values that were put, and the rest of what has to be the same
  std::int64_t untouched = 0;  // bytes that nobody put and that are not as in the reference; stock may do so
  std::string first;           // where the first of either is, in words

  bool same() const { return differences == 0 && untouched == 0; }
  void differs(const std::string& what) {
    if (first.empty()) first = what;
    ++differences;
  }
};

class Subject {
 public:
  virtual ~Subject() = default;

  std::string program;      // the driver's name
  std::string writer;       // the program that writes, and reads; PROGRAM-writer, where empty
  bool reads = false;       // the peers read the reference's files instead of writing their own
  bool reads_back = false;  // each peer reads back what it wrote: rows ROW-read beside ROW
  std::string library;      // "PnetCDF"
  std::string driver;       // its driver as Forebay's report names it: "pnetcdf"
  std::string suffix;       // of the rows' files: ".nc"
  std::string summary;      // the first sentence of --help; made of the library's name, where empty
  std::string quick;        // what --help says of --quick
  std::string notes;        // what --help says at its end, after rows and peers
  std::span<const RowInfo> rows;
  // Rows timed from create get a launch more under each peer of Forebay's: its report tells whether it was
  // active, and how often it wrote.
  bool reports_whole = false;

  // The peers of a version of the library, the reference first; with an empty version those of any, for
  // --help. `romio` is what Open MPI calls its ROMIO.
  virtual std::vector<Peer> peers(const std::string& version, const std::string& romio) const = 0;

  // Bytes that the files of all rows take together.
  virtual std::int64_t bytes_of_rows(Size size, int ranks) const = 0;

  // Throws std::runtime_error where a file cannot be read.
  virtual FileComparison compare(const std::string& reference, const std::string& path) const = 0;

  // Throws std::runtime_error where the reference does not hold the `bytes` that its row puts: "holds …
  // instead of …". Nothing could be told by it.
  virtual void check_reference(const std::string& path, std::int64_t bytes) const = 0;

  // As Forebay's report names the driver of a row.
  virtual std::string driver_of(const std::string&) const { return driver; }

  // Options of its own, what of them the writer gets, and a line about what they come to.
  virtual void add_options(CLI::App&) {}
  virtual std::vector<std::string> writer_options() const { return {}; }
  virtual std::string input() const { return {}; }
};

}  // namespace forebay::bench
