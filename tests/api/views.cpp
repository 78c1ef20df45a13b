// Views of doubles, and random cases of all types: usage api_views [--seed N] [--count N].
#include "view_case.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &test::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &test::ranks);
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    using namespace test;
    unsigned first = 1;
    int count = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
      if (std::strcmp(argv[i], "--seed") == 0) first = static_cast<unsigned>(std::atoi(argv[i + 1]));
      if (std::strcmp(argv[i], "--count") == 0) count = std::atoi(argv[i + 1]);
    }
    std::vector<Play> plays{play<double, Host<double*, Right>, Host<double*, Left>>,
                            play<double, Host<double**, Left>, Host<double**, Right>>,
                            play<double, Host<double***, Right>, Host<double***, Left>>,
                            play<double, Host<double***, Left>, Host<double***, Left>>};
    for (const auto& more : {converted_views(), views_of_ranks()})
      plays.insert(plays.end(), more.begin(), more.end());
    if (count == 0) count = 12 * static_cast<int>(plays.size());
    try {
      views_by_members();
    } catch (const std::exception& error) {
      fail(error.what());
    }
    for (int i = 0; i < count; ++i) {
      test::seed = first + static_cast<unsigned>(i);
      Dice dice(test::seed);
      try {
        plays[test::seed % plays.size()](dice);
      } catch (const std::exception& error) {
        fail(error.what());
      }
    }
    if (test::rank == 0) std::printf("%d cases from seed %u: ok\n", count, first);
  }
  MPI_Finalize();
  return 0;
}
