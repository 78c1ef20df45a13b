// Blocks that were put in part are completed only where that is certain to lose nothing; this program tells
// the library what file system its files lie on.
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <string>

#include "../engine/engine_case_tools.hpp"

namespace {

unsigned long pretended = 0;  // 0: what it is

}  // namespace

// In place of the C library's.
extern "C" int fstatfs(int descriptor, struct statfs* info) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_fstatfs, descriptor, info));
  if (result == 0 && pretended != 0) info->f_type = static_cast<decltype(info->f_type)>(pretended);
  return result;
}

namespace forebay::test {
namespace {

constexpr unsigned long kFuse = 0x65735546, kNfs = 0x6969, kBeegfs = 0x19830326, kLustre = 0x0BD00BD0,
                        kUnknown = 0x12345678, kExt = 0xEF53;

/// Every other element of each rank is put, so that all blocks have holes. Whether any block was completed.
bool completes(const std::string& hints, unsigned long file_system, bool by_node = false) {
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
    CHECK_OK(file->flush());
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
  part("what a node keeps", [&] {
    const std::string commit = ";forebay_mode=commit";
    CHECK(completes(commit, kFuse, true));
    CHECK(!completes(commit + ";forebay_fill_holes=disable", 0, true));
    CHECK(!completes(several + commit, kFuse, true));
    CHECK(!completes(several + commit, kNfs, true));
  });
}

}  // namespace
}  // namespace forebay::test

int main(int argc, char** argv) {
  return forebay::test::run_parts(argc, argv, forebay::test::run_all);
}
