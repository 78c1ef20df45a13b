// A rank that comes late to a collective call is named by those that wait, once; the call then ends as it
// should. The late rank comes when it has read its name in what the others print, so nothing here depends on
// how busy a machine is.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "engine/opening.hpp"
#include "engine_case_tools.hpp"
#include "mpi/communicator.hpp"

using namespace forebay;
using namespace forebay::test;

namespace {

std::atomic<int> notes = 0;  // messages by which ranks tell each other that they wait

}  // namespace

// In the good case none may go.
extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  constexpr int roll_tag = 4712;
  if (tag == roll_tag) ++notes;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

namespace {

const std::string patient = "forebay_patience_seconds=1;";

std::string printed_by(int rank) {
  std::ifstream in("printed." + std::to_string(rank));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// What rank prints from here on goes to a file that all can read.
class Printed {
 public:
  explicit Printed(int rank) : kept_(dup(STDERR_FILENO)) {
    const int file = ::open(("printed." + std::to_string(rank)).c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    dup2(file, STDERR_FILENO);
    ::close(file);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Printed() {
    dup2(kept_, STDERR_FILENO);
    ::close(kept_);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  /// All lines of all ranks; collective.
  std::string all(int ranks) const {
    MPI_Barrier(MPI_COMM_WORLD);
    std::string text;
    for (int r = 0; r < ranks; ++r) text += printed_by(r);
    MPI_Barrier(MPI_COMM_WORLD);
    return text;
  }

 private:
  int kept_;
};

// Of the rank that is late: until somebody says so.
void be_late(int ranks, const std::string& until) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(40);
  while (std::chrono::steady_clock::now() < end) {
    for (int r = 0; r < ranks; ++r) {
      if (printed_by(r).find(until) != std::string::npos) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Whether a line says that `rank` has not come, and how many others it says that of: on a busy machine one
// that waits may not get to say so in time.
bool names(const std::string& text, int rank, int& others) {
  const std::size_t end = std::min(text.find(" has not come to it"), text.find(" have not come to it"));
  if (end == std::string::npos) return false;
  const std::size_t begin = text.rfind(": rank", end);
  if (begin == std::string::npos) return false;
  bool named = false;
  others = 0;
  std::istringstream words(text.substr(begin + 1, end - begin));
  for (std::string word; words >> word;) {
    if (word.find_first_of("0123456789") != 0) continue;
    int first = 0, last = 0;
    const int read = std::sscanf(word.c_str(), "%d-%d", &first, &last);
    if (read == 1) last = first;
    for (int r = first; r <= last; ++r) r == rank ? named = true : ++others != 0;
  }
  return named;
}

int fewest_others = 1 << 20;

template <class Call>
void late_rank_is_named(int rank, int ranks, const std::string& name_of_call, Call&& call) {
  const int late = ranks - 1;
  const std::string said = "not come to it";
  std::string text;
  {
    const Printed printed(rank);
    if (rank == late) be_late(ranks, said);
    call();
    text = printed.all(ranks);
  }
  int others = 0;
  check(names(text, late, others), "the late rank is named", __LINE__, text);
  fewest_others = std::min(fewest_others, others);
  check(text.find("in " + name_of_call) != std::string::npos, name_of_call.c_str(), __LINE__, text);
  check(count_of(text, "long wait") == 1, "said once", __LINE__, text);
}

void a_late_rank(int rank, int ranks) {
  for (const char* nodes : {"", "forebay_ranks_per_node=2;"}) {
    auto file = open_file(MPI_COMM_WORLD, "patience.dat", patient + nodes + "forebay_stripe_bytes=4k");
    late_rank_is_named(rank, ranks, "the collective write of patience.dat",
                       [&] { CHECK_OK(put_interleaved(*file, 0, 40000, 12, 5)); });
    CHECK(holds_interleaved(*file, 0, 40000, 5));
    if (*nodes == '\0')
      CHECK_OK(file->close());
    else
      late_rank_is_named(rank, ranks, "the close of patience.dat", [&] { CHECK_OK(file->close()); });
  }
  // Before the ranks of a communicator have met for the first time.
  MPI_Comm fresh = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  std::unique_ptr<CoreFile> file;
  late_rank_is_named(rank, ranks, "the open of other.dat", [&] {
    Settings settings;
    CHECK_OK(agree_to_open({mpi::Communicator(fresh), "open", "other.dat", 1}, {}, settings));
    file = open_file(fresh, "other.dat", patient);
  });
  CHECK_OK(file->close());
  MPI_Comm_free(&fresh);
}

void nobody_is_late() {
  const int before = notes;
  for (const char* nodes : {"", "forebay_ranks_per_node=1;"}) {
    auto file = open_file(MPI_COMM_WORLD, "good.dat", std::string("forebay_stripe_bytes=4k;") + nodes);
    for (int i = 0; i < 20; ++i)
      CHECK_OK(put_interleaved(*file, i * 1000, 20000, 20, static_cast<unsigned>(i)));
    CHECK_OK(file->sync());
    CHECK(holds_interleaved(*file, 19000, 20000, 19));
    CHECK_OK(file->close());
  }
  CHECK(notes == before);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  nobody_is_late();
  if (ranks > 1) a_late_rank(rank, ranks);
  if (ranks > 1) CHECK(fewest_others == 0);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
