// Rails that are made together measure together: all of them find one link and one rate. Each pair of ranks
// stands for a node with two rails.
#include <vector>

#include "engine_case_tools.hpp"
#include "mpi/communicator.hpp"

using namespace forebay;
using namespace forebay::test;

namespace {

// The least and the greatest of all ranks' values.
bool the_same_everywhere(double value) {
  double extremes[] = {-value, value};
  MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return -extremes[0] == extremes[1];
}

void agree_on_a_link(const Communicator& all, Link wanted) {
  const auto line = all.split(all.rank() % 2, all.rank() / 2);
  Link used = Link::automatic;
  const auto rail = line->make_rail(all, wanted, used);
  CHECK(used != Link::automatic);
  CHECK(wanted == Link::automatic || used == wanted);
  CHECK(the_same_everywhere(static_cast<double>(used)));
  // No two rails alone take the same time to the last bit.
  CHECK(the_same_everywhere(rail->rate()));
  CHECK((rail->rate() > 0) == (wanted == Link::automatic));
  // It carries bytes as agreed.
  const int nodes = line->size(), next = (line->rank() + 1) % nodes;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(nodes), 0);
  sizes[static_cast<std::size_t>(next)] = 1000;
  std::int64_t least = 0;
  CHECK_OK(rail->agree(sizes, 5 + all.rank(), least));
  CHECK(least == 5 + all.rank() % 2);
  Counters counters;
  int come = 0;
  CHECK_OK(rail->transfer(
      [&](int, std::span<std::byte> out) {
        std::fill(out.begin(), out.end(), static_cast<std::byte>(all.rank()));
      },
      [&](int from, std::span<const std::byte> message) {
        come += message.size() == 1000 && message[999] == static_cast<std::byte>(2 * from + all.rank() % 2);
        return true;
      },
      counters));
  CHECK(come == 1);
  CHECK((counters.puts > 0) == (used == Link::put));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const mpi::Communicator world(MPI_COMM_WORLD);
    const auto all = world.duplicate();
    for (const Link wanted : {Link::message, Link::put, Link::automatic, Link::automatic})
      agree_on_a_link(*all, wanted);
  }
  int all_failures = 0;
  MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all_failures == 0 ? 0 : 1;
}
