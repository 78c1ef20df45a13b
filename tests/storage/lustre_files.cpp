// Files on a Lustre (fake_lustre.c): whose stripes they have, that these are set once and in time; that in a
// flush each stripe is written by one rank, no write is in two, and a storage target has as few writers as
// can be; and who opens them.
#include <sys/resource.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "../engine/engine_case_tools.hpp"
#include "lov_values.hpp"
#include "storage/lustre.hpp"

extern "C" void fake_lustre_at(const char* path);
extern "C" void fake_lustre_id(const char* path, char* text, std::size_t size);

namespace forebay::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kKilo = 1 << 10, kMega = 1 << 20;
constexpr std::int64_t kTotal = 12 * kMega;

int rank() {
  int result = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &result);
  return result;
}
int ranks() {
  int result = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &result);
  return result;
}

std::string folder() {
  return fs::current_path().string() + "/lustre";
}

struct Noted {
  std::string what;
  int rank = 0;
  std::string file;
  std::int64_t offset = 0, length = 0;
};

/// What the list says of a file.
std::vector<Noted> noted(const std::string& path, const std::string& what) {
  std::array<char, 80> id{};
  fake_lustre_id(path.c_str(), id.data(), id.size());
  std::vector<Noted> out;
  std::ifstream in(folder() + ".state/log");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Noted each;
    words >> each.what >> each.rank >> each.file >> each.offset >> each.length;
    if (each.what == what && each.file == id.data()) out.push_back(each);
  }
  return out;
}

Striping laid_out(const std::string& path) {
  std::vector<std::byte> value(64 << 10);
  const ssize_t bytes = ::getxattr(path.c_str(), "lustre.lov", value.data(), value.size());
  return bytes > 0 ? stripes_in(std::span(value).first(static_cast<std::size_t>(bytes)), 0) : Striping{0, 0};
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Two nodes.
OwnerSet owner_set() {
  return {2, std::max(1, ranks() / 2)};
}

/// Rank 0: what came of one flush, of `unit` bytes on `targets`.
void check_writes(const std::vector<Noted>& writes, std::int64_t unit, std::int64_t targets) {
  std::map<std::int64_t, std::set<int>> of_stripe, of_target;
  std::map<int, std::set<std::int64_t>> targets_of;
  std::set<int> writers;
  std::int64_t bytes = 0, unaligned = 0;
  const std::int64_t owners = owner_set().count(targets);
  for (const Noted& write : writes) {
    const std::int64_t stripe = write.offset / unit, end = write.offset + write.length;
    // An only owner writes several stripes at once: there is nobody whom it could meet in one.
    check(owners == 1 ? write.offset % unit == 0 : stripe == (end - 1) / unit, "straddles", __LINE__,
          std::to_string(write.offset) + " + " + std::to_string(write.length));
    of_stripe[stripe].insert(write.rank);
    if (targets > 0 && owners > 1) {
      of_target[stripe % targets].insert(write.rank);
      targets_of[write.rank].insert(stripe % targets);
    }
    writers.insert(write.rank);
    bytes += write.length;
    if (unit % write.length != 0 && write.length % unit != 0 && end != kTotal) ++unaligned;
  }
  CHECK(bytes == kTotal);
  CHECK(unaligned == 0);
  CHECK(static_cast<std::int64_t>(writers.size()) == owners);
  for (const auto& [stripe, by] : of_stripe)
    check(by.size() == 1, "writers of a stripe", __LINE__, std::to_string(by.size()));
  // One of the two is 1 where one number divides the other.
  for (const auto& [target, by] : of_target)
    CHECK(static_cast<std::int64_t>(by.size()) == std::max<std::int64_t>(1, owners / targets));
  for (const auto& [writer, its] : targets_of)
    CHECK(static_cast<std::int64_t>(its.size()) == std::max<std::int64_t>(1, targets / owners));
}

struct Expected {
  std::int64_t unit, targets;
  const char* source = "lustre.lov";
  int layouts_set = 0;
};

std::string owners_hints() {
  const std::string half = std::to_string(owner_set().rails);
  return ";forebay_stats=stats.json;forebay_ranks_per_node=" + half + ";forebay_aggregators_per_node=" + half;
}

/// A file of tiny pieces of all ranks, written in two flushes.
void write_file(const std::string& path, const std::string& hints, const Expected& expected) {
  fresh("stats.json");
  auto file = open_file(MPI_COMM_WORLD, path, hints + owners_hints());
  if (!file) return;
  for (const unsigned salt : {3U, 5U}) {
    const std::size_t before = noted(path, "write").size();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(put_interleaved(*file, 0, kTotal, 32, salt));
    CHECK_OK(file->flush());
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) {
      std::vector<Noted> writes = noted(path, "write");
      writes.erase(writes.begin(), writes.begin() + static_cast<std::ptrdiff_t>(before));
      check_writes(writes, expected.unit, expected.targets);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK_OK(file->close());
  file.reset();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) {
    CHECK(noted(path, "set").size() == static_cast<std::size_t>(expected.layouts_set));
    CHECK(noted(path, "kept").empty());
    std::string report = contents("stats.json");
    std::erase(report, ' ');
    const std::string bytes = contents(path);
    const auto says = [&](const std::string& text) {
      check(report.find(text) != std::string::npos, "the report says", __LINE__, text);
    };
    says("\"file_system\":\"lustre\"");
    says("\"stripe_source\":\"" + std::string(expected.source) + "\"");
    says("\"stripe_bytes\":" + std::to_string(expected.unit));
    says("\"storage_targets\":" + std::to_string(expected.targets));
    bool right = static_cast<std::int64_t>(bytes.size()) == kTotal;
    for (std::size_t i = 0; right && i < bytes.size(); ++i) right = bytes[i] == static_cast<char>(i * 7 + 5);
    CHECK(right);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void make_folder(const std::string& path, const std::vector<std::byte>& layout) {
  if (rank() == 0) {
    fs::create_directory(path);
    if (!layout.empty()) CHECK(::setxattr(path.c_str(), "lustre.lov", layout.data(), layout.size(), 0) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void layouts_that_are_there() {
  write_file("lustre/usual", "", {kMega, 1});
  write_file("lustre/usual", "forebay_mode=commit;striping_factor=4;striping_unit=2m", {kMega, 1});
  make_folder("lustre/four", record(3, 256 * kKilo, 4));
  write_file("lustre/four/a", "", {256 * kKilo, 4});
  write_file("lustre/four/b", "forebay_stripe=2x1m;striping_factor=8;striping_unit=1m", {256 * kKilo, 4});
  write_file("lustre/four/c", "forebay_stripe_bytes=256k", {256 * kKilo, 4, "hint"});
  write_file("lustre/four/d", "forebay_stripe_bytes=512k", {512 * kKilo, 0, "hint"});
  make_folder("lustre/progressive", composite({{0, 64 * kKilo, record(1, 64 * kKilo, 1)},
                                               {64 * kKilo, ~std::uint64_t{0}, record(1, 128 * kKilo, 2)}}));
  write_file("lustre/progressive/a", "", {128 * kKilo, 2});
}

void layouts_that_are_set() {
  write_file("lustre/set", "striping_factor=4;striping_unit=512k", {512 * kKilo, 4, "lustre.lov", 1});
  write_file("lustre/factor", "striping_factor=2", {kMega, 2, "lustre.lov", 1});
  write_file("lustre/unit", "striping_unit=130k", {192 * kKilo, 1, "lustre.lov", 1});
  write_file("lustre/three", "forebay_stripe=3x192k;striping_factor=8", {192 * kKilo, 3, "lustre.lov", 1});
  write_file("lustre/auto", "forebay_stripe=auto", {kMega, 4, "lustre.lov", 1});
  write_file("lustre/posix", "forebay_stripe=4x128k;forebay_storage=posix",
             {128 * kKilo, 4, "lustre.lov", 1});
  // More than there are.
  write_file("lustre/many", "forebay_stripe=2000x64k;forebay_mode=commit", {64 * kKilo, 8, "lustre.lov", 1});
}

// A stripe that the windows do not hold is written in parts that it has a whole number of.
void stripes_larger_than_memory() {
  for (const char* memory : {"1m", "700k", "1500000"}) {
    const std::string hints = std::string(";forebay_memory_bytes=") + memory;
    write_file("lustre/large" + std::string(memory), "forebay_stripe=2x2560k" + hints,
               {2560 * kKilo, 2, "lustre.lov", 1});
  }
}

// As an old server, or one that is asked for more than it has.
void layouts_that_are_refused() {
  ::setenv("FAKE_LUSTRE_REFUSES", "1", 1);
  for (const char* storage : {"mpiio", "posix"}) {
    const std::string name = std::string("lustre/refused-") + storage;
    write_file(name, std::string("forebay_stripe=4x2m;forebay_storage=") + storage, {kMega, 1});
  }
  if (rank() == 0) {
    Status why;
    CHECK(make_with_layout("lustre/refused", {kMega, 2}, why) == Made::without_layout);
    CHECK(why.message().find("Operation not supported") != std::string::npos);
    // Who opens it next finds it laid out all the same.
    CHECK(laid_out("lustre/refused").factor == 1);
  }
  ::unsetenv("FAKE_LUSTRE_REFUSES");
}

std::set<int> openers(const std::string& path) {
  std::set<int> out;
  for (const Noted& each : noted(path, "open")) out.insert(each.rank);
  return out;
}

// By POSIX calls, ranks that own nothing open the file with their first access, whatever it is called by
// then.
void ranks_that_own_nothing() {
  if (ranks() < 4) return;
  const std::string hints = "forebay_storage=posix;forebay_ranks_per_node=2;forebay_aggregators_per_node=1";
  for (const char* more : {"", ";forebay_stripe=2x1m"}) {
    const std::string name = std::string("lustre/late") + (*more == '\0' ? "1" : "2");
    auto file = open_file(MPI_COMM_WORLD, name, hints + more);
    if (!file) return;
    CHECK_OK(put_interleaved(*file, 0, kTotal, 32, 3));
    CHECK_OK(file->sync());
    MPI_Barrier(MPI_COMM_WORLD);
    const std::set<int> owners{0, 2};
    CHECK(openers(name) == owners);
    CHECK(size_of(*file) == kTotal);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string moved = name + "moved";
    if (rank() == 0) {
      fs::rename(name, moved);
      std::ofstream(name) << "another";
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const char mine[] = "late";
    if (rank() == 3) CHECK_OK(file->write_at(kTotal, mine, 4));
    MPI_Barrier(MPI_COMM_WORLD);
    std::array<char, 4> got{};
    CHECK_OK(file->read_at(kTotal, got.data(), 4));
    CHECK(std::string(got.data(), 4) == "late");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(openers(moved).size() == 4);
    CHECK_OK(file->close());
    CHECK(contents(name) == "another");
  }
  // It says so where it cannot, and the others go on.
  auto file = open_file(MPI_COMM_WORLD, "lustre/late3", hints);
  if (!file) return;
  struct rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  std::vector<int> taken;
  if (rank() == 1) {
    struct rlimit few = before;
    few.rlim_cur = 256;
    setrlimit(RLIMIT_NOFILE, &few);
    for (int each = ::dup(2); each >= 0; each = ::dup(2)) taken.push_back(each);
  }
  const Status status = file->write_at(8 * rank(), "12345678", 8);
  check(status.ok() == (rank() != 1), "a descriptor", __LINE__, status.message());
  if (rank() == 1) CHECK(status.message().find("Too many open files") != std::string::npos);
  for (const int each : taken) ::close(each);
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK_OK(file->write_at(8 * rank(), "12345678", 8));
  CHECK_OK(file->close());
  // What fails at once fails on every rank.
  Status outcome;
  FileOptions options;
  options.path = "lustre/none";
  CHECK_OK(parse_hints(options.settings, hints, Origin::call));
  outcome = mpi::open(MPI_COMM_WORLD, MPI_MODE_RDWR, MPI_INFO_NULL, options, file);
  check(outcome.code() == Code::no_such_file, "the reason", __LINE__, outcome.message());
}

// The first rank makes the file, whoever owns it.
void nodes_that_own_nothing() {
  if (ranks() < 4) return;
  for (const auto& [choice, owner] : {std::pair{"1", 0}, {"1-1", 2}}) {
    const std::string name = std::string("lustre/node") + choice;
    auto file = open_file(MPI_COMM_WORLD, name,
                          "forebay_storage=posix;forebay_ranks_per_node=2;forebay_aggregators_per_node=1;"
                          "forebay_mode=strict;forebay_owner_nodes=" +
                              std::string(choice));
    if (!file) return;
    CHECK_OK(put_interleaved(*file, 0, kTotal, 32, 3));
    CHECK_OK(put_interleaved(*file, 0, kTotal, 300'000, 5));
    MPI_Barrier(MPI_COMM_WORLD);
    std::set<int> writers;
    for (const Noted& each : noted(name, "write")) writers.insert(each.rank);
    CHECK(writers == std::set<int>{owner});
    CHECK(openers(name) == (std::set<int>{0, owner}));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(holds_interleaved(*file, 0, kTotal, 5));
    CHECK_OK(file->close());
  }
}

void a_file_that_is_there_already() {
  if (rank() == 0) std::ofstream("lustre/there") << "before";
  MPI_Barrier(MPI_COMM_WORLD);
  FileOptions options;
  options.path = "lustre/there";
  options.driver = "test";
  CHECK_OK(parse_hints(options.settings, "forebay_stripe=4x1m", Origin::call));
  std::unique_ptr<CoreFile> file;
  const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL;
  CHECK(!mpi::open(MPI_COMM_WORLD, amode, MPI_INFO_NULL, options, file).ok());
  CHECK(!file && contents("lustre/there") == "before");
  options.path = "lustre/nowhere/a";
  Status status = mpi::open(MPI_COMM_WORLD, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, options, file);
  check(status.code() == Code::no_such_file, "the reason", __LINE__, status.message());
  // And one that is not, exclusively: Forebay has made it before MPI-IO opens it.
  options.path = "lustre/exclusive";
  CHECK_OK(mpi::open(MPI_COMM_WORLD, amode, MPI_INFO_NULL, options, file));
  if (file) CHECK_OK(file->close());
  file.reset();
  const Striping striping = laid_out("lustre/exclusive");
  CHECK(striping.unit == kMega && striping.factor == 4);
  // Not on Lustre: nothing to set.
  fresh("elsewhere");
  file =
      open_file(MPI_COMM_WORLD, "elsewhere", "forebay_stripe=4x1m;striping_factor=3;forebay_storage=mpiio");
  if (file) CHECK_OK(file->close());
}

void run_all() {
  if (rank() == 0) {
    for (const char* name : {"lustre", "lustre.state"}) {
      fs::remove_all(name);
      fs::create_directory(name);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  fake_lustre_at(folder().c_str());
  MPI_Barrier(MPI_COMM_WORLD);
  part("layouts that are there", layouts_that_are_there);
  part("layouts that are set", layouts_that_are_set);
  part("layouts that are refused", layouts_that_are_refused);
  part("stripes larger than memory", stripes_larger_than_memory);
  part("ranks that own nothing", ranks_that_own_nothing);
  part("nodes that own nothing", nodes_that_own_nothing);
  part("a file that is there already", a_file_that_is_there_already);
}

}  // namespace
}  // namespace forebay::test

int main(int argc, char** argv) {
  return forebay::test::run_parts(argc, argv, forebay::test::run_all);
}
