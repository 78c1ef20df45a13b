// A view of half a GiB, strided and of another type in the file, is put and got with no more memory than
// staging and windows. Usage: api_memory [STAGING_BYTES]
#include <forebay/kokkos.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

// The most that this process had resident, in KiB.
long peak() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      long kib = 0;
      status >> kib;
      return kib;
    }
  }
  return -1;
}

int run(std::int64_t staging) {
  using View = Kokkos::View<float**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  const std::int64_t rows = 8192, columns = 16384;
  const View all("all", rows + 8, columns);
  const auto view = Kokkos::subview(all, std::make_pair(std::int64_t{8}, rows + 8), Kokkos::ALL);
  Kokkos::deep_copy(all, 1.0F);
  view(0, 0) = 7, view(rows - 1, columns - 1) = 9, view(5000, 777) = 11;

  constexpr long kForebay = 16 << 20;
  using forebay::Mode;
  forebay::File file(MPI_COMM_WORLD, "memory.dat", Mode::read_write | Mode::create | Mode::truncate,
                     forebay::Hints().memory_bytes(kForebay).mode(forebay::Gather::strict));
  const long before = peak();
  forebay::Puts puts;
  puts.staging_bytes(staging);
  puts.add({}, forebay::kokkos::as<std::uint8_t>(view));
  file.put_all(puts);
  const long put = peak() - before;
  Kokkos::deep_copy(all, 0.0F);
  forebay::Gets gets;
  gets.staging_bytes(staging);
  gets.add({}, forebay::kokkos::as<std::uint8_t>(view));
  file.get_all(gets);
  const long got = peak() - before;
  file.close();
  std::remove("memory.dat");

  const long bound =
      (kForebay + (8 << 20) + (4 << 20)) >> 10;  // with the default staging, and what a run of anything takes
  const bool right =
      view(0, 0) == 7 && view(rows - 1, columns - 1) == 9 && view(5000, 777) == 11 && view(1, 1) == 1;
  std::printf("put: %ld KiB more, get: %ld KiB more, bound %ld KiB%s\n", put, got, bound,
              right ? "" : ", wrong elements");
  return before > 0 && right && put <= bound && got <= bound ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int result = 0;
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    result = run(argc > 1 ? std::atoll(argv[1]) : 8 << 20);
  }
  MPI_Finalize();
  return result;
}
