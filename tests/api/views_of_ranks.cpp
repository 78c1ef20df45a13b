// Views of no, four and eight dimensions, of extents known when they are compiled, and of elements that are
// no plain numbers.
#include "view_case.hpp"

namespace test {

std::vector<Play> views_of_ranks() {
  return {play<double, Host<double, Right>, Host<double, Left>>,
          play<short, Host<int, Left>, Host<int, Right>>,
          play<float, Host<float****, Right>, Host<float****, Left>>,
          play<double, Host<double********, Left>, Host<double********, Right>>,
          play<Pair, Host<Pair**, Left>, Host<Pair**, Right>>,
          play<Kokkos::complex<double>, Host<Kokkos::complex<double>**, Right>,
               Host<Kokkos::complex<double>**, Left>>};
}

}  // namespace test
