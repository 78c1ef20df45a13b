// forebay-tcio: the TCIO paper's synthetic benchmark, TCIO against MPI-IO with views and without.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <stdexcept>

#include "benchmark_main.hpp"
#include "compare_bytes.hpp"
#include "tcio_peers.hpp"
#include "tcio_rows.hpp"

namespace forebay::bench {
namespace {

class TcioSubject final : public Subject {
 public:
  TcioSubject() {
    program = "forebay-tcio";
    reads_back = true;
    library = "MPI";
    summary =
        "Writes a file by TCIO and by MPI-IO, in turn, and reads it back; compares the files, the values and "
        "the times.";
    driver = "tcio";
    suffix = ".dat";
    quick = ": below a minute";
    rows = tcio_rows();
    notes =
        "Each rank has an array of ints and one of doubles, blocks of which go to the file in turn. Every "
        "peer reads back\n"
        "what it wrote: rows ROW-read.\n";
  }

  std::vector<Peer> peers(const std::string&, const std::string& romio) const override {
    return tcio_peers(romio);
  }

  // 12 bytes an element, three files.
  std::int64_t bytes_of_rows(Size size, int ranks) const override {
    return (by_size<std::int64_t>(size, 1, 3, 36, 144) * ranks + 1) << 20;
  }

  FileComparison compare(const std::string& reference, const std::string& path) const override {
    return compare_bytes(reference, path);
  }

  void check_reference(const std::string& path, std::int64_t bytes) const override {
    const auto held = static_cast<std::int64_t>(std::filesystem::file_size(path));
    if (held != bytes) throw std::runtime_error(fmt::format("holds {} bytes instead of {}", held, bytes));
  }
};

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
  forebay::bench::TcioSubject subject;
  return forebay::bench::benchmark_main(subject, argc, argv);
}
