// An open file is the one that MPI-IO has opened, whatever its name looks like and whatever becomes of it; it
// takes one descriptor of ours; and where there are none left, all ranks hear why.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "../engine/engine_case_tools.hpp"
#include "mpi/communicator.hpp"
#include "mpi/handles.hpp"
#include "storage/descriptors.hpp"

namespace {

struct Calls {
  int reductions = 0, broadcasts = 0, duplicates = 0, opens = 0, syncs = 0;
} calls;

}  // namespace

// In place of the MPI library's.
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++calls.reductions;
  return PMPI_Allreduce(from, to, count, type, op, comm);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ++calls.broadcasts;
  return PMPI_Bcast(data, count, type, root, comm);
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  ++calls.duplicates;
  return PMPI_Comm_dup(comm, made);
}
int MPI_File_open(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File* file) {
  ++calls.opens;
  return PMPI_File_open(comm, name, amode, info, file);
}
// In place of the C library's.
extern "C" int fsync(int descriptor) {
  ++calls.syncs;
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace forebay::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBytes = 4096;

int rank() {
  return mpi::rank(MPI_COMM_WORLD);
}

/// Who opens a file: TCIO, which leaves it to Forebay; HDF5, whose MPI-IO handle is wanted; PnetCDF, which
/// has opened it before.
enum class Way { own, handle, opened };
constexpr std::array kWays{Way::own, Way::handle, Way::opened};
constexpr std::array kHints{"", "forebay_mode=commit"};

struct Opened {
  std::unique_ptr<CoreFile> core;
  mpi::File other;  ///< of who has opened it before
  Status status;
};

Opened open_as(Way way, const std::string& name, const std::string& hints) {
  Opened out;
  FileOptions options;
  options.path = name;
  int amode = MPI_MODE_RDWR | MPI_MODE_CREATE;
  options.driver = "test";
  options.keeping = way == Way::opened ? Keeping::by_rank : Keeping::by_node;
  options.needs_handle = way == Way::handle;
  std::optional<BeforeOpen> before;
  if (way == Way::opened) {
    before.emplace(name);
    const int error = MPI_File_open(MPI_COMM_WORLD, name.c_str(), amode, MPI_INFO_NULL, out.other.address());
    if (error != MPI_SUCCESS) {
      *out.other.address() = MPI_FILE_NULL;
      out.status = {Code::io, "MPI-IO cannot open it"};
      return out;
    }
    amode = MPI_MODE_RDWR;
    options.opened = &*before;
  }
  CHECK_OK(parse_hints(options.settings, hints, Origin::call));
  out.status = mpi::open(MPI_COMM_WORLD, amode, MPI_INFO_NULL, options, out.core);
  return out;
}

void close(Opened& file) {
  CHECK_OK(file.core->close());
  file.core.reset();
  file.other.reset();
}

std::string contents(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool holds_interleaved(const std::string& name, unsigned salt) {
  const std::string got = contents(name);
  bool good = static_cast<std::int64_t>(got.size()) == kBytes;
  for (std::size_t i = 0; good && i < got.size(); ++i) good = got[i] == static_cast<char>(i * 7 + salt);
  return good;
}

/// What MPI-IO makes of a name; empty where it refuses it. `rest`: the name behind a colon.
std::string meant_by_mpi(const std::string& name, const std::string& rest) {
  std::string meant;
  if (rank() == 0) {
    MPI_File file = MPI_FILE_NULL;
    if (MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file) ==
        MPI_SUCCESS) {
      MPI_File_close(&file);
      meant = fs::exists(name) ? name : rest;
    }
    fs::remove(name);
    if (!rest.empty()) std::ofstream(rest) << "not this one";
  }
  int length = static_cast<int>(meant.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  meant.resize(static_cast<std::size_t>(length));
  MPI_Bcast(meant.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  return meant;
}

void names() {
  struct Name {
    const char* name;
    const char* rest;
  };
  for (const Name& each : {Name{"case1:out", "out"}, Name{"ufs:out", "out"}, Name{"./x:out", "out"},
                           Name{"wrfout_d01_2005-08-28_00:00:00", "00:00"}, Name{"a 'quoted\"\n.dat", ""}}) {
    for (const Way way : kWays) {
      for (const char* hints : kHints) {
        const std::string meant = meant_by_mpi(each.name, each.rest);
        Opened file = open_as(way, each.name, hints);
        if (meant.empty()) {
          CHECK(!file.status.ok());
          continue;
        }
        CHECK_OK(file.status);
        if (!file.status.ok()) continue;
        CHECK(file.core->settings().storage == StorageKind::posix);
        CHECK(file.core->settings().mode == (*hints != '\0' ? Mode::commit : Mode::strict));
        if (rank() == 0 && meant == each.rest) fs::resize_file(meant, 0);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(put_interleaved(*file.core, 0, kBytes, 4, 3));
        close(file);
        if (rank() == 0) {
          CHECK(holds_interleaved(meant, 3));
          if (*each.rest != '\0' && meant != each.rest) CHECK(contents(each.rest) == "not this one");
          fs::remove(meant);
        }
        MPI_Barrier(MPI_COMM_WORLD);
      }
    }
  }
}

/// `change` is done by rank 0 while the file is open; afterwards `where` holds what was put, and the name
/// that it had belongs to another file.
void while_open(const std::function<void()>& change, const char* where) {
  for (const Way way : kWays) {
    for (const char* hints : kHints) {
      fresh("name.dat");
      fresh("moved.dat");
      Opened file = open_as(way, "name.dat", hints);
      CHECK_OK(file.status);
      if (!file.status.ok()) continue;
      CHECK_OK(put_interleaved(*file.core, 0, kBytes, 4, 1));
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank() == 0) change();
      MPI_Barrier(MPI_COMM_WORLD);
      CHECK_OK(put_interleaved(*file.core, 0, kBytes, 4, 5));
      CHECK_OK(file.core->sync());
      CHECK(size_of(*file.core) == kBytes);
      MPI_Barrier(MPI_COMM_WORLD);
      CHECK_OK(file.core->set_size(2 * kBytes));
      CHECK_OK(file.core->set_size(kBytes));
      close(file);
      if (rank() == 0) {
        if (where != nullptr) CHECK(holds_interleaved(where, 5));
        CHECK(contents("name.dat") == "another");
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

void links_and_folders() {
  for (const Way way : kWays) {
    for (const char* hints : kHints) {
      fresh("link.dat");
      fresh("target.dat");
      if (rank() == 0) {
        fs::create_directory("elsewhere");
        std::ofstream("target.dat").flush();
        fs::create_symlink("target.dat", "link.dat");
      }
      MPI_Barrier(MPI_COMM_WORLD);
      Opened file = open_as(way, "link.dat", hints);
      CHECK_OK(file.status);
      if (!file.status.ok()) continue;
      CHECK_OK(put_interleaved(*file.core, 0, kBytes, 4, 1));
      fs::current_path("elsewhere");
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank() == 0) {
        fs::remove("../link.dat");
        fs::create_symlink("elsewhere/none.dat", "../link.dat");
      }
      MPI_Barrier(MPI_COMM_WORLD);
      close(file);
      fs::current_path("..");
      if (rank() == 0) CHECK(holds_interleaved("target.dat", 1));
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

// As where a launcher starts ranks in folders of their own: nothing could be gathered.
void different_files() {
  if (mpi::size(MPI_COMM_WORLD) == 1) return;
  const std::string mine = rank() == 0 ? "first" : "others";
  fs::create_directory(mine);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() <= 1) std::ofstream(mine + "/same.dat") << mine;
  MPI_Barrier(MPI_COMM_WORLD);
  for (const Way way : kWays) {
    fs::current_path(mine);
    Opened file = open_as(way, "same.dat", "");
    check(file.status.code() == Code::unsupported, "refused", __LINE__, file.status.message());
    CHECK(file.status.message().find("different files") != std::string::npos);
    file.other.reset();
    fs::current_path("..");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(contents(mine + "/same.dat") == mine);
  }
}

int descriptors() {
  return static_cast<int>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

void one_descriptor() {
  for (const Way way : kWays) {
    for (const char* hints : kHints) {
      fresh("count.dat");
      const int before = descriptors();
      Opened file = open_as(way, "count.dat", hints);
      CHECK_OK(file.status);
      if (!file.status.ok()) continue;
      CHECK_OK(put_interleaved(*file.core, 0, kBytes, 4, 1));
      // With shared memory mapped, nothing else is open.
      check(descriptors() - before == (way == Way::own ? 1 : 2), "descriptors", __LINE__,
            std::to_string(descriptors() - before));
      close(file);
      CHECK(descriptors() == before);
    }
  }
}

// Programs reopen their files for each frame.
void few_calls() {
  for (const Way way : kWays) {
    fresh("calls.dat");
    for (int i = 0; i < 3; ++i) {
      calls = {};
      Opened file = open_as(way, "calls.dat", "");
      CHECK_OK(file.status);
      if (!file.status.ok()) return;
      close(file);
      if (i == 0) continue;  // the first makes what is kept
      const int opens = way == Way::own ? 0 : 1;
      check(calls.opens == opens && calls.duplicates == 0 && calls.broadcasts <= 1 && calls.reductions <= 3,
            "calls", __LINE__,
            std::to_string(calls.opens) + " opens, " + std::to_string(calls.duplicates) + " duplicates, " +
                std::to_string(calls.broadcasts) + " broadcasts, " + std::to_string(calls.reductions) +
                " reductions");
    }
  }
}

// The ranks of a node have one file, which is waited for once.
void one_sync_a_node() {
  for (const Way way : kWays) {
    for (const char* mode : kHints) {
      for (const char* nodes : {"", ";forebay_ranks_per_node=2"}) {
        fresh("sync.dat");
        Opened file = open_as(way, "sync.dat", std::string(mode) + nodes);
        CHECK_OK(file.status);
        if (!file.status.ok()) return;
        CHECK_OK(put_interleaved(*file.core, 0, kBytes, 4, 1));
        calls = {};
        CHECK_OK(file.core->sync());
        int syncs = calls.syncs;
        MPI_Allreduce(MPI_IN_PLACE, &syncs, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        check(syncs == file.core->nodes(), "syncs", __LINE__, std::to_string(syncs));
        close(file);
      }
    }
  }
}

// Files that are open at once have communicators of their own, and give them back; where one thread at a time
// may call MPI, those of one set have one together.
void many_at_once() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  std::vector<Opened> open;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 7; ++i) {
      const std::string name = "many" + std::to_string(i) + ".dat";
      open.push_back(open_as(Way::own, name, kHints[static_cast<std::size_t>(i % 2)]));
      CHECK_OK(open.back().status);
      if (!open.back().status.ok()) return;
      for (int j = 0; j < i; ++j) {
        int result = MPI_IDENT;
        MPI_Comm_compare(mpi::comm_of(open[static_cast<std::size_t>(j)].core->comm()),
                         mpi::comm_of(open.back().core->comm()), &result);
        CHECK(result == MPI_CONGRUENT || (level != MPI_THREAD_MULTIPLE && result == MPI_IDENT));
      }
    }
    for (Opened& file : open) CHECK_OK(put_interleaved(*file.core, 0, kBytes, 4, 9));
    for (Opened& file : open) close(file);
    open.clear();
    for (int i = 0; i < 7; ++i) CHECK(holds_interleaved("many" + std::to_string(i) + ".dat", 9));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

void none_left() {
  struct rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  for (const Way way : {Way::own, Way::handle}) {
    for (const int unlucky : {0, mpi::size(MPI_COMM_WORLD) - 1}) {
      fresh("none.dat");
      std::vector<int> taken;
      if (rank() == unlucky) {
        struct rlimit few = before;
        few.rlim_cur = 256;
        setrlimit(RLIMIT_NOFILE, &few);
        for (int each = ::dup(2); each >= 0; each = ::dup(2)) taken.push_back(each);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      Opened file = open_as(way, "none.dat", "");
      const std::string& text = file.status.message();
      CHECK(!file.status.ok());
      check(text.find("Too many open files") != std::string::npos &&
                text.find("ulimit -n") != std::string::npos,
            "the reason", __LINE__, text);
      for (const int each : taken) ::close(each);
      setrlimit(RLIMIT_NOFILE, &before);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

void run_all() {
  part("names", names);
  part("another file takes the name", [] {
    while_open(
        [] {
          fs::rename("name.dat", "moved.dat");
          std::ofstream("name.dat") << "another";
        },
        "moved.dat");
  });
  part("the file is deleted", [] {
    while_open(
        [] {
          fs::remove("name.dat");
          std::ofstream("name.dat") << "another";
        },
        nullptr);
  });
  part("links and folders", links_and_folders);
  part("different files", different_files);
  part("one descriptor", one_descriptor);
  part("few calls", few_calls);
  part("one sync a node", one_sync_a_node);
  part("many at once", many_at_once);
  part("none left", none_left);
}

}  // namespace
}  // namespace forebay::test

int main(int argc, char** argv) {
  return forebay::test::run_parts(argc, argv, forebay::test::run_all);
}
