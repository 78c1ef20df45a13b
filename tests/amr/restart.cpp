// Checkpoints of 1, 4 and 8 ranks read on 1, 3, 4, 7 and 16, in the ways that the arguments name: each time
// the mesh is, bit for bit, the one that so many ranks compute without a checkpoint, and stays so. Runs on 16
// ranks, parts of which take turns.
#include <fmt/format.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>

#include "agree.hpp"
#include "check.hpp"
#include "checkpoint.hpp"
#include "digest.hpp"

namespace amr_test {
namespace {

using namespace amr;

constexpr int written_at = 7, goes_on_to = 9;

// Calls body(communicator) on the first `count` ranks. The others sleep, since cores are few.
template <class Body>
void on_ranks(int count, const Body& body) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &comm);
  if (comm != MPI_COMM_NULL) {
    body(comm);
    MPI_Comm_free(&comm);
  }
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  for (int done = 0; MPI_Test(&all, &done, MPI_STATUS_IGNORE), !done;) usleep(2000);
}

std::string file(const std::string& way, int writers) {
  return fmt::format("{}_{}.state", way, writers);
}

void write_all(MPI_Comm comm, const std::vector<std::pair<std::string, Way>>& chosen, int writers,
               std::uint64_t& told) {
  const Domain domain = tiny_domain();
  const Mesh mesh = computed(comm, domain, written_at);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const Share share(domain, rank, writers);
  const std::uint64_t state = digest(comm, mesh, Space::host);
  CHECK(told == 0 || told == state);
  told = state;
  for (const auto& [name, way] : chosen)
    write_checkpoint(comm, way, file(name, writers), {domain, share, mesh, state});
}

void read_all(MPI_Comm comm, const std::vector<std::pair<std::string, Way>>& chosen) {
  const Domain domain = tiny_domain();
  const Mesh mesh = computed(comm, domain, written_at), later = computed(comm, domain, goes_on_to);
  CHECK(!same(mesh, later));
  for (const auto& [name, way] : chosen)
    for (const int writers : {1, 4, 8}) {
      Restart restart = read_checkpoint(comm, way, file(name, writers), Space::host);
      const bool good = same(restart.mesh, mesh) && restart.digest == digest(comm, mesh, Space::host);
      Stepper stepper(comm, *restart.domain, Space::host);
      while (restart.mesh.step < goes_on_to) stepper.step(restart.mesh);
      if (good && same(restart.mesh, later)) continue;
      int ranks = 0;
      MPI_Comm_size(comm, &ranks);
      fmt::print(stderr, "{} of {} ranks on {}: {}\n", name, writers, ranks,
                 good ? "goes on otherwise" : "another mesh");
      ++failures;
    }
}

}  // namespace
}  // namespace amr_test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::vector<std::pair<std::string, amr::Way>> chosen;
  for (const auto& way : amr::ways())
    for (int i = 1; i < argc; ++i)
      if (argv[i] == way.first) chosen.push_back(way);
  amr_test::check(!chosen.empty() && static_cast<int>(chosen.size()) == argc - 1, "the ways that are named",
                  __LINE__);
  try {
    const Kokkos::ScopeGuard kokkos(
        Kokkos::InitializationSettings().set_num_threads(1).set_disable_warnings(true));
    std::uint64_t told = 0;
    for (const int writers : {1, 4, 8})
      amr_test::on_ranks(writers, [&](MPI_Comm comm) { amr_test::write_all(comm, chosen, writers, told); });
    for (const int readers : {1, 3, 4, 7, 16})
      amr_test::on_ranks(readers, [&](MPI_Comm comm) { amr_test::read_all(comm, chosen); });
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Allreduce(MPI_IN_PLACE, &amr_test::failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return amr_test::failures == 0 ? 0 : 1;
}
