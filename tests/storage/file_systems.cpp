// Blocks that were put in part are completed only where that is certain to lose nothing, and files are cut as
// the file system likes it, and nodes see each other's writes; this program tells the library what file
// system its files lie on.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>

#include "../engine/engine_case_tools.hpp"

namespace {

unsigned long pretended = 0;  // 0: what it is
long pretended_block = 0;
int syncs = 0, drops = 0;  // of written bytes, and of pages

}  // namespace

// In place of the C library's.
extern "C" int fstatfs(int descriptor, struct statfs* info) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_fstatfs, descriptor, info));
  if (result == 0 && pretended != 0) info->f_type = static_cast<decltype(info->f_type)>(pretended);
  return result;
}

extern "C" int fstat(int descriptor, struct stat* info) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_fstat, descriptor, info));
  if (result == 0 && pretended_block != 0)
    info->st_blksize = static_cast<decltype(info->st_blksize)>(pretended_block);
  return result;
}

extern "C" int fdatasync(int descriptor) {
  ++syncs;
  return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

extern "C" int posix_fadvise(int descriptor, off_t offset, off_t length, int advice) noexcept {
  if (advice == POSIX_FADV_DONTNEED) ++drops;
  return ::syscall(SYS_fadvise64, descriptor, offset, length, advice) == 0 ? 0 : errno;
}

namespace forebay::test {
namespace {

constexpr unsigned long kFuse = 0x65735546, kNfs = 0x6969, kBeegfs = 0x19830326, kLustre = 0x0BD00BD0,
                        kUnknown = 0x12345678, kExt = 0xEF53;

/// Every other element of each rank is put, so that all blocks have holes. Whether any block was completed.
/// `alone`: each node flushes by itself.
bool completes(const std::string& hints, unsigned long file_system, bool by_node = false,
               bool alone = false) {
  fresh("holes.dat");
  pretended = file_system;
  FileOptions options;
  options.path = "holes.dat";
  options.driver = "test";
  options.keeping = by_node ? Keeping::by_node : Keeping::nothing;
  options.tells_freed_space = options.only_writer = by_node;
  CHECK_OK(parse_hints(options.settings, hints, Origin::call));
  std::unique_ptr<CoreFile> file;
  const Status status =
      mpi::open(MPI_COMM_WORLD, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, options, file);
  pretended = 0;
  check(status.ok(), "open", __LINE__, status.message());
  if (!status.ok()) return false;
  CHECK(file->commits() == by_node);
  CHECK_OK(file->set_size(1 << 20));
  std::vector<Run> runs;
  const std::int64_t ranks = file->ranks();
  for (std::int64_t i = 0; i < 4096; ++i) runs.push_back({8 * (i * ranks + file->rank()), 4 * i, 4});
  const std::vector<std::byte> memory(4 * 4096, std::byte{7});
  RunListCursor cursor(runs);
  MemorySource source(memory.data());
  const Put put{&cursor, &source};
  if (by_node) {
    CHECK_OK(file->write({&put, 1}));
    if (alone) CHECK_OK(file->flush_independent());
    MPI_Barrier(MPI_COMM_WORLD);
    if (!alone) CHECK_OK(file->flush());
  } else {
    CHECK_OK(file->write_all({&put, 1}));
  }
  std::int64_t blocks = file->counters().rmw_blocks;
  MPI_Allreduce(MPI_IN_PLACE, &blocks, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  std::array<std::byte, 16> got{};
  CHECK_OK(file->read_at(0, got.data(), got.size()));
  CHECK(got[0] == std::byte{7} && got[3] == std::byte{7} && got[4] == std::byte{0});
  CHECK_OK(file->close());
  return blocks > 0;
}

/// What the report says of a file that is stored so.
std::string told_stripe(unsigned long file_system, long block, const std::string& hints) {
  fresh("unit.dat");
  fresh("unit.json");
  pretended = file_system;
  pretended_block = block;
  auto file = open_file(MPI_COMM_WORLD, "unit.dat", hints + ";forebay_stats=unit.json");
  pretended = 0;
  pretended_block = 0;
  if (!file) return "";
  CHECK_OK(file->close());
  MPI_Barrier(MPI_COMM_WORLD);
  std::ifstream in("unit.json");
  const std::string report{std::istreambuf_iterator<char>(in), {}};
  const auto value = [&](const std::string& key) {
    const std::size_t begin = report.find("\"" + key + "\": ") + key.size() + 4;
    return report.substr(begin, report.find_first_of(",\n", begin) - begin);
  };
  MPI_Barrier(MPI_COMM_WORLD);
  return value("stripe_bytes") + " " + value("stripe_source") + " " + value("file_system");
}

void units() {
  constexpr long kilo = 1024;
  constexpr unsigned long gpfs = 0x47504653, cifs = 0xFF534D42;
  const auto expect = [](const std::string& got, const std::string& wanted) {
    check(got == wanted, "the stripe", __LINE__, got + ", not " + wanted);
  };
  expect(told_stripe(gpfs, 8192 * kilo, ""), "8388608 \"st_blksize\" \"gpfs\"");
  expect(told_stripe(gpfs, 256 * kilo, ""), "524288 \"st_blksize\" \"gpfs\"");
  expect(told_stripe(cifs, 4 * kilo, ""), "524288 \"default\" \"cifs\"");
  expect(told_stripe(kFuse, 128 * kilo, ""), "524288 \"st_blksize\" \"fuse\"");
  expect(told_stripe(kNfs, 1024 * kilo, "striping_unit=2m"), "2097152 \"hint\" \"nfs\"");
  expect(told_stripe(gpfs, 8192 * kilo, "forebay_stripe_bytes=1m;striping_unit=2m"),
         "1048576 \"hint\" \"gpfs\"");
  // A Lustre that does not tell its layouts.
  expect(told_stripe(kLustre, 4096 * kilo, ""), "4194304 \"st_blksize\" \"lustre\"");
}

/// What one rank's way to a file was.
struct Way {
  bool by_itself = false;  ///< a long run of a collective write past its owner
  int syncs = 0, drops = 0;
};

/// All ranks write long runs together, flush, and read what the next one wrote.
Way way_of(const std::string& hints, unsigned long file_system) {
  constexpr std::int64_t mine = 3 << 20;
  fresh("views.dat");
  pretended = file_system;
  auto file = open_file(MPI_COMM_WORLD, "views.dat", hints);
  pretended = 0;
  if (!file) return {};
  const std::vector<std::byte> memory(mine, std::byte{7});
  RunListCursor cursor({{mine * file->rank(), 0, mine}});
  MemorySource source(memory.data());
  const Put put{&cursor, &source};
  syncs = drops = 0;
  CHECK_OK(file->write_all({&put, 1}));
  Way way{.by_itself = file->counters().bypass_writes > 0};
  CHECK_OK(file->flush());
  way.syncs = syncs;
  MPI_Allreduce(MPI_IN_PLACE, &way.syncs, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  std::byte got{};
  CHECK_OK(file->read_at(mine * ((file->rank() + 1) % file->ranks()), &got, 1));
  CHECK(got == std::byte{7});
  way.drops = drops;
  CHECK_OK(file->read_at(0, &got, 1));
  CHECK(drops == way.drops);  // once is enough
  CHECK_OK(file->close());
  return way;
}

void views(const std::string& several) {
  const auto untouched = [](const Way& way) { return way.by_itself && way.syncs == 0 && way.drops == 0; };
  const std::string long_runs = ";forebay_bypass_bytes=1m";
  for (const unsigned long each : {kFuse, kNfs, kBeegfs, kUnknown}) {
    const Way way = way_of(several + long_runs, each);
    CHECK(!way.by_itself && way.syncs > 0 && way.drops > 0);
    CHECK(untouched(way_of("forebay_ranks_per_node=0" + long_runs, each)));
  }
  CHECK(untouched(way_of(several + long_runs, kLustre)));
}

void run_all() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string several = "forebay_ranks_per_node=" + std::to_string(ranks / 2);
  part("on one node, through one mount", [&] {
    for (const unsigned long each : {0UL, kExt, kFuse, kNfs, kUnknown}) CHECK(completes("", each));
    CHECK(!completes("forebay_fill_holes=disable", kExt));
  });
  part("on several nodes", [&] {
    // Not what this machine's files lie on: two mounts of it would be two devices.
    CHECK(completes(several, 0));
    CHECK(completes(several, kLustre));
    for (const unsigned long each : {kFuse, kNfs, kBeegfs, kUnknown}) CHECK(!completes(several, each));
    CHECK(completes(several + ";forebay_fill_holes=enable", kFuse));
    CHECK(!completes(several + ";forebay_fill_holes=disable", kLustre));
  });
  part("what another node wrote", [&] { views(several); });
  part("the unit in which a file is cut", units);
  part("what a node keeps", [&] {
    const std::string commit = ";forebay_mode=commit";
    CHECK(completes(commit, kFuse, true));
    CHECK(!completes(commit + ";forebay_fill_holes=disable", 0, true));
    CHECK(!completes(several + commit, kFuse, true));
    CHECK(!completes(several + commit, kNfs, true));
    // Under locks, where these reach other nodes; this machine's mount does not say so of Lustre.
    const std::string posix = ";forebay_storage=posix";
    CHECK(completes(several + commit + posix, 0, true, true));
    CHECK(!completes(several + commit + posix, kLustre, true, true));
  });
}

}  // namespace
}  // namespace forebay::test

int main(int argc, char** argv) {
  return forebay::test::run_parts(argc, argv, forebay::test::run_all);
}
