// TCIO and Forebay's own files in a program that never calls MPI_Init: MPI sessions. Two sessions one after
// the other, and what was kept is in the file.
#include <forebay/file.h>
#include <forebay/tcio.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace {

int failures = 0;

void check(bool good, const char* what, int line, const char* why) {
  if (good) return;
  std::fprintf(stderr, "line %d: %s (%s)\n", line, what, why);
  ++failures;
}
#define CHECK(x) check((x), #x, __LINE__, forebay_last_error())

#if MPI_VERSION >= 4 || defined(MPI_SESSION_NULL)
bool in_session(const char* mode, int round) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS ||
      MPI_Group_from_session_pset(session, "mpi://WORLD", &group) != MPI_SUCCESS ||
      MPI_Comm_create_from_group(group, "forebay", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) != MPI_SUCCESS)
    return false;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  setenv("FOREBAY_HINTS", mode, 1);

  tcio_file t = TCIO_FILE_NULL;
  CHECK(tcio_open(comm, "sessions.tcio", FOREBAY_CREATE | FOREBAY_RDWR | FOREBAY_TRUNC, MPI_INFO_NULL, &t) ==
        0);
  forebay_file f = FOREBAY_FILE_NULL;
  CHECK(forebay_open(comm, "sessions.dat", FOREBAY_CREATE | FOREBAY_RDWR | FOREBAY_TRUNC, MPI_INFO_NULL,
                     &f) == 0);
  std::vector<int> mine(500);
  const std::int64_t shape = 500 * ranks, start = rank, count = 500, stride = ranks;
  for (int i = 0; i < 500; ++i) {
    mine[static_cast<std::size_t>(i)] = round * 1000000 + i * ranks + rank;
    CHECK(tcio_write_at(t, 4LL * (i * ranks + rank), &mine[static_cast<std::size_t>(i)], 4) == 0);
  }
  forebay_request q{};
  q.size = sizeof q;
  q.element_bytes = 4;
  q.ndims = 1;
  q.shape = &shape;
  q.start = &start;
  q.count = &count;
  q.stride = &stride;
  q.memory = mine.data();
  CHECK(forebay_put_all(f, &q, 1) == 0);
  CHECK(tcio_flush(t) == 0);
  CHECK(forebay_close(&f) == 0);
  CHECK(tcio_close(&t) == 0);
  MPI_Barrier(comm);
  for (const char* name : {"sessions.tcio", "sessions.dat"}) {
    std::vector<int> all(static_cast<std::size_t>(shape));
    std::ifstream(name, std::ios::binary).read(reinterpret_cast<char*>(all.data()), 4 * shape);
    for (int i = 0; i < shape; ++i) CHECK(all[static_cast<std::size_t>(i)] == round * 1000000 + i);
  }
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, comm);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return true;
}
#endif

}  // namespace

int main() {
  // Without a session, and without MPI_Init, there is only an error.
  tcio_file t = TCIO_FILE_NULL;
  CHECK(tcio_open(MPI_COMM_WORLD, "sessions.tcio", FOREBAY_RDONLY, MPI_INFO_NULL, &t) == FOREBAY_ERR_MPI);
#if MPI_VERSION >= 4 || defined(MPI_SESSION_NULL)
  int round = 0;
  // That with windows first: MPICH 4.2 aborts in MPI_Win_allocate once a session has ended.
  for (const char* mode :
       {"forebay_mode=commit;forebay_ranks_per_node=1", "forebay_mode=strict", "forebay_mode=commit"}) {
    if (in_session(mode, ++round)) continue;
    std::puts("MPI sessions do not work here");
    return 77;
  }
  return failures == 0 ? 0 : 1;
#else
  std::puts("this MPI has no sessions");
  return 77;
#endif
}
