// Fields of a structured grid in C++: a slab of rows a rank, and cells chosen by number. Usage: file_fields
// FILE
#include <forebay/file.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

int run(const std::string& path) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::int64_t nx = 300, rows = 20, ny = rows * ranks;
  const std::vector<double> u(static_cast<std::size_t>(rows * nx), 1.0 + rank);
  const std::vector<float> v(u.size(), 0.5F);
  const std::vector<std::int64_t> first{rank * rows * nx + 5, rank * rows * nx}, length{2, 1};
  const std::vector<double> changed{7, 8, 9};
  std::vector<double> row(static_cast<std::size_t>(nx));

  // [put]
  using forebay::Mode;
  const auto hints = forebay::Hints().mode(forebay::Gather::commit).stripe_bytes(1 << 20);
  forebay::File file(MPI_COMM_WORLD, path, Mode::read_write | Mode::create, hints);

  // A slab of rows of an array of ny × nx doubles at the beginning of the file.
  const forebay::Box slab{.shape = {ny, nx}, .start = {rank * rows, 0}, .count = {rows, nx}};
  file.put_all(slab, u);

  // A second field behind it, as big-endian floats, and one line of this rank's alone.
  forebay::Box behind = slab;
  behind.offset = ny * nx * 8;
  file.put_all(behind, v, forebay::ByteOrder::big);
  file.put({.offset = ny * nx * 12 + 32 * rank}, std::string("a line of 32 characters at most\n"));
  // [put]

  // [later]
  // Cells by their numbers: `length` of them from `first` on. Memory and lists must stay until the wait.
  file.iput(forebay::Pieces{first, length}, changed);
  file.iget({.shape = {ny, nx}, .start = {rank * rows, 0}, .count = {1, nx}}, row);
  file.wait_all();  // all puts of all ranks, then all gets, which see them
  file.close();
  // [later]
  return row[0] == 9 && row[5] == 7 && row[6] == 8 && row[7] == 1.0 + rank ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int result = 1;
  try {
    result = run(argc > 1 ? argv[1] : "fields.dat");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return result;
}
