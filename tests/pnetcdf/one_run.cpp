// One run on the driver that is loaded, which the environment names; what it logged is left beside the file,
// for another run to be compared with.
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "harness.hpp"

namespace forebay::test {

bool same_on_both(const std::string& name, MPI_Comm comm, const Program& program) {
  const char* which = std::getenv("FOREBAY_TEST_RUN");
  const std::string file = file_name_of(name);
  Run run(comm, file + ".nc", which != nullptr && std::strcmp(which, "forebay") == 0);
  program(run);
  std::ofstream(file + ".rank" + std::to_string(run.rank()) + ".log") << run.log();
  return true;
}

void use_forebay(bool) {}

bool can_switch() {
  return false;
}

}  // namespace forebay::test
