// TCIO in C++: pieces of any range, the file pointer, what is thrown, and what a destructor does.
#include <forebay/tcio.hpp>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

namespace {

using forebay::Mode;
using forebay::Tcio;

int failures = 0;

void check(bool good, int line) {
  if (good) return;
  std::fprintf(stderr, "line %d: %s\n", line, forebay_last_error());
  ++failures;
}
#define CHECK(x) check(x, __LINE__)

template <class Body>
int thrown(Body&& body) {
  try {
    body();
    return FOREBAY_SUCCESS;
  } catch (const forebay::Error& error) {
    return error.code();
  }
}

void run(int rank, int ranks, forebay::Gather gather) {
  const auto hints = forebay::Hints().mode(gather).segment_bytes(4096);
  constexpr int n = 500;
  {
    Tcio file(MPI_COMM_WORLD, "tcio_pieces.dat", Mode::read_write | Mode::create | Mode::truncate, hints);
    for (int i = 0; i < n; ++i) {
      const std::array<int, 2> pair{i, rank};
      file.write_at(std::int64_t{12} * (i * ranks + rank), pair);
      file.seek(std::int64_t{12} * (i * ranks + rank) + 8);
      file.write(std::string("end\n"));
      CHECK(file.tell() == std::int64_t{12} * (i * ranks + rank + 1));
    }
    const int other = (rank + 1) % ranks;
    std::vector<std::array<int, 3>> got(n);
    for (int i = 0; i < n; ++i)
      file.read_at(std::int64_t{12} * (i * ranks + other), std::span(&got[static_cast<std::size_t>(i)], 1));
    file.fetch_all();
    for (int i = 0; i < n; ++i) {
      const auto& one = got[static_cast<std::size_t>(i)];
      CHECK(one[0] == i && one[1] == other && std::memcmp(&one[2], "end\n", 4) == 0);
    }
    file.seek(5);
    file.seek(-12, Tcio::From::end);
    std::array<int, 2> last{};
    file.read(last);
    file.seek(4, Tcio::From::current);
    file.fetch();
    CHECK(last[0] == n - 1 && file.tell() == file.size());
    file.flush();
    CHECK(file.size() == std::int64_t{12} * n * ranks);
    CHECK(thrown([&] { file.write_at(-1, last); }) == FOREBAY_ERR_ARGUMENT);
    Tcio moved(std::move(file));
    CHECK(!file.is_open() && moved.is_open() && moved.path() == "tcio_pieces.dat");
    CHECK(thrown([&] { file.flush(); }) == FOREBAY_ERR_FILE);
    moved.set_size(std::int64_t{12} * n * ranks - 4);
    moved.sync();
  }  // closes
  std::ifstream in("tcio_pieces.dat", std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  CHECK(bytes.size() == static_cast<std::size_t>(12 * n * ranks - 4));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(thrown([&] { Tcio(MPI_COMM_WORLD, "no/such/folder", Mode::read); }) == FOREBAY_ERR_NO_FILE);
  CHECK(thrown([&] { Tcio(MPI_COMM_WORLD, "tcio_pieces.dat", Mode::read | Mode::truncate); }) ==
        FOREBAY_ERR_ARGUMENT);
  Tcio reading(MPI_COMM_WORLD, "tcio_pieces.dat", Mode::read, hints);
  std::array<int, 1> value{};
  CHECK(thrown([&] { reading.write_at(0, value); }) == FOREBAY_ERR_MODE);
  reading.read_at(4, value);
  reading.close();
  CHECK(value[0] == 0);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    for (const auto gather : {forebay::Gather::automatic, forebay::Gather::strict}) run(rank, ranks, gather);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  // An exception of one rank passes by: its file is not closed, and nobody waits for it.
  std::optional<Tcio> file(std::in_place, MPI_COMM_SELF, "tcio_left" + std::to_string(rank) + ".dat",
                           Mode::write | Mode::create);
  try {
    const Tcio mine = std::move(*file);
    throw 7;
  } catch (int) {
  }
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
