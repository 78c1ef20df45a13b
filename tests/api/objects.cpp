// One file that several file objects write at once, each other elements of the same blocks: on communicators
// of one rank and of half of them. Whoever completes a block must not write back what another one changes.
#include <forebay/file.hpp>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

namespace {

constexpr std::int64_t each = 4000, calls = 8;

// Rank r's are the elements whose remainder is r.
int run(MPI_Comm comm, bool together, const char* mode, const char* what) {
  const char* path = "objects.dat";
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::int64_t all = each * calls * ranks;
  if (rank == 0) {
    const std::vector<int> old(static_cast<std::size_t>(all), -7);
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(old.data()), all * static_cast<std::int64_t>(sizeof(int)));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "forebay_mode", mode);
  {
    forebay::File file(comm, path, forebay::Mode::read_write, info);
    MPI_Info_free(&info);
    for (std::int64_t call = 0; call < calls; ++call) {
      std::vector<int> mine(each);
      for (std::int64_t i = 0; i < each; ++i)
        mine[static_cast<std::size_t>(i)] = static_cast<int>((call * each + i) * ranks + rank);
      if (!together) MPI_Barrier(MPI_COMM_WORLD);  // all in one block
      const std::int64_t first = call * each * ranks + rank;
      const forebay::Box box{.shape = {all}, .start = {first}, .count = {each}, .stride = {ranks}};
      if (together) {
        file.put_all(box, mine);
      } else if ((call + rank) % 3 > 0) {
        file.put(box, mine);
      } else {
        // One by one, while others complete blocks with these elements in them.
        for (std::int64_t i = 0; i < each; ++i)
          file.put({.shape = {all}, .start = {first + i * ranks}, .count = {1}},
                   std::span<const int>(&mine[static_cast<std::size_t>(i)], 1));
      }
    }
    file.close();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int lost = 0;
  if (rank == 0) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
    std::vector<int> got(bytes.size() / sizeof(int));
    std::memcpy(got.data(), bytes.data(), got.size() * sizeof(int));
    for (std::int64_t i = 0; i < all; ++i)
      lost += got.size() == static_cast<std::size_t>(all) && got[static_cast<std::size_t>(i)] == i ? 0 : 1;
    if (lost > 0) std::printf("%s, %s, %s: %d lost\n", what, together ? "together" : "alone", mode, lost);
  }
  MPI_Bcast(&lost, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return lost;
}

// Rank 0 has closed the file already, and rank 1 still puts elements one by one, when rank 2 begins to
// complete blocks through an object of its own.
int run_early(const char* mode) {
  const char* path = "objects_early.dat";
  constexpr std::int64_t all = 3 * each;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    const std::vector<int> old(static_cast<std::size_t>(all), -7);
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(old.data()), all * static_cast<std::int64_t>(sizeof(int)));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "forebay_mode", mode);
  {
    forebay::File file(MPI_COMM_WORLD, path, forebay::Mode::read_write, info);
    if (rank == 1) {
      for (std::int64_t i = 0; i < each; ++i) {
        const int value = static_cast<int>(3 * i + 1);
        file.put({.shape = {all}, .start = {value}, .count = {1}}, std::span<const int>(&value, 1));
      }
    } else if (rank == 2) {
      forebay::File other(MPI_COMM_SELF, path, forebay::Mode::read_write, info);
      std::vector<int> mine(each);
      for (std::int64_t i = 0; i < each; ++i) mine[static_cast<std::size_t>(i)] = static_cast<int>(3 * i + 2);
      for (int again = 0; again < 30; ++again)
        other.put({.shape = {all}, .start = {2}, .count = {each}, .stride = {3}}, mine);
      other.close();
    }
    file.close();
  }
  MPI_Info_free(&info);
  MPI_Barrier(MPI_COMM_WORLD);
  int lost = 0;
  if (rank == 0) {
    std::vector<int> got(static_cast<std::size_t>(all));
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(got.data()), all * static_cast<std::int64_t>(sizeof(int)));
    for (int i = 0; i < all; ++i) lost += i % 3 == 0 || got[static_cast<std::size_t>(i)] == i ? 0 : 1;
    if (lost > 0) std::printf("rank 0 closes early, %s: %d lost\n", mode, lost);
  }
  MPI_Bcast(&lost, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return lost;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, lost = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
  for (const char* mode : {"strict", "commit"}) {
    for (const bool together : {true, false}) {
      lost += run(MPI_COMM_SELF, together, mode, "each its own");
      lost += run(half, together, mode, "two at a time");
      lost += run(MPI_COMM_WORLD, together, mode, "all");
    }
  }
  MPI_Comm_free(&half);
  lost += run_early("strict") + run_early("commit");
  MPI_Finalize();
  return lost == 0 ? 0 : 1;
}
