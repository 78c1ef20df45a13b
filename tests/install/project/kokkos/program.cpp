// Puts a view, a column a rank, and gets it back.
#include <forebay/kokkos.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    using View = Kokkos::View<double*, Kokkos::HostSpace>;
    const View put("put", 100), got("got", 100);
    for (int i = 0; i < 100; ++i) put(i) = rank + 0.5 * i;
    forebay::File file(MPI_COMM_WORLD, argv[1], forebay::Mode::read_write | forebay::Mode::create);
    const forebay::Box box{0, {100, ranks}, {0, rank}, {100, 1}};
    file.put_all(box, forebay::kokkos::as<float>(put));
    file.get_all(box, forebay::kokkos::as<float>(got));
    file.close();
    for (int i = 0; i < 100; ++i) wrong += got(i) != put(i);
  }
  MPI_Finalize();
  return wrong;
}
