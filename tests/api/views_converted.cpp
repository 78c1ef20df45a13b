// Views whose numbers are of another type in the file.
#include "view_case.hpp"

namespace test {

std::vector<Play> converted_views() {
  return {play<float, Host<double***, Left>, Host<double***, Right>>,
          play<double, Host<float**, Right>, Host<float**, Left>>,
          play<std::int16_t, Host<double**, Left>, Host<double**, Left>>,
          play<std::int64_t, Host<int*, Right>, Host<int*, Right>>,
          play<double, Host<unsigned char**, Left>, Host<unsigned char**, Right>>};
}

}  // namespace test
