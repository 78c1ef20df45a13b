// A program that ends with pieces still in its level 1 and 2: `tcio_ending HOW`; `tcio_ending check RANKS`
// then looks whether they are in the file.
#include <forebay/tcio.h>

#include <mpi.h>
#include <unistd.h>
#include <forebay/file.hpp>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

constexpr int kPieces = 200, kPiece = 10;
constexpr const char* kFile = "ending.dat";

char value_of(int rank, int piece) {
  return static_cast<char>(1 + (rank * 31 + piece * 7) % 120);
}

int check(int ranks) {
  std::ifstream in(kFile, std::ios::binary);
  const std::vector<char> got((std::istreambuf_iterator<char>(in)), {});
  int missing = 0;
  for (int i = 0; i < kPieces; ++i)
    for (int rank = 0; rank < ranks; ++rank)
      for (int k = 0; k < kPiece; ++k) {
        const auto at = static_cast<std::size_t>((i * ranks + rank) * kPiece + k);
        missing += at < got.size() && got[at] == value_of(rank, i) ? 0 : 1;
      }
  std::printf("%d bytes are missing\n", missing);
  return missing == 0 ? 0 : 1;
}

// Ends the program from the middle of a put.
class Aborting final : public forebay::Stager {
 public:
  void* reserve(std::int64_t bytes) override {
    memory_.resize(static_cast<std::size_t>(bytes));
    return memory_.data();
  }
  void release() noexcept override {}
  void begin(int, std::int64_t first, std::int64_t, void*) override {
    if (first > 256) MPI_Abort(MPI_COMM_WORLD, 3);  // not the first pieces, which come before any copy
  }
  void finish(int) override {}

 private:
  std::vector<char> memory_;
};

void abort_in_a_put() {
  forebay::File file(MPI_COMM_SELF, "other.dat", forebay::Mode::read_write | forebay::Mode::create);
  const std::vector<double> older(3, 1);  // in the segment that the next put is in the middle of
  file.put({.offset = 2048}, older);
  forebay::Puts puts;
  puts.staging_bytes(2048);
  const forebay::Box box{.shape = {8192}, .count = {4096}, .stride = {2}};
  puts.add(box, 8, {4096}, std::make_unique<Aborting>());
  file.put(puts);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "check") return check(std::atoi(argv[2]));
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) std::remove(kFile);
  MPI_Barrier(MPI_COMM_WORLD);
  tcio_file file = TCIO_FILE_NULL;
  if (tcio_open(MPI_COMM_WORLD, kFile, FOREBAY_CREATE | FOREBAY_RDWR, MPI_INFO_NULL, &file) !=
      FOREBAY_SUCCESS)
    return 2;
  for (int i = 0; i < kPieces; ++i) {
    const std::vector<char> piece(kPiece, value_of(rank, i));
    if (tcio_write_at(file, static_cast<std::int64_t>(i * ranks + rank) * kPiece, piece.data(), kPiece) !=
        FOREBAY_SUCCESS)
      return 2;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (how == "abort") {
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    sleep(60);
  }
  if (how == "abort_in_put") abort_in_a_put();
  if (how == "signal") raise(SIGTERM);
  if (how == "exit") std::exit(0);
  MPI_Finalize();
  return 0;
}
