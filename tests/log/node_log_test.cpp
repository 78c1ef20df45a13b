// What is put into a log is read back, and comes into the file, as if it had been written there at once.
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "../dice.hpp"
#include "log_tools.hpp"

namespace test {
namespace {

constexpr std::int64_t kFile = 1 << 20;

std::vector<std::byte> some_bytes(Dice& dice, std::int64_t length) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(length));
  for (std::byte& each : bytes) each = static_cast<std::byte>(dice.below(256));
  return bytes;
}

// Ranks take turns; reads, drains and the end of the ring come between, wherever the dice say.
TEST(NodeLog, is_as_the_file) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    LoggedFile logged(dice.one_in(2) ? 1 << 20 : 3 << 20, dice.one_in(2));
    std::vector<std::unique_ptr<NodeLog>> logs;
    std::vector<std::unique_ptr<Storage>> ranks;
    for (int r = 0; r < 3; ++r) {
      logs.push_back(logged.rank(r));
      ranks.push_back(make_logged_storage(*logged.below, *logs.back()));
    }
    // What lies between is nobody's to change.
    std::vector<std::byte> right = some_bytes(dice, kFile);
    const Piece before{0, right.data(), kFile};
    ASSERT_TRUE(logged.below->write({&before, 1}).ok());
    for (int step = 0; step < 300; ++step) {
      const auto rank = static_cast<std::size_t>(dice.below(3));
      if (dice.one_in(4)) {
        const std::int64_t begin = dice.below(kFile),
                           length = dice.between(0, std::min<std::int64_t>(kFile - begin, 70000));
        std::vector<std::byte> got(static_cast<std::size_t>(length));
        ASSERT_TRUE(ranks[rank]->read(begin, got.data(), length).ok());
        ASSERT_EQ(std::memcmp(got.data(), right.data() + begin, got.size()), 0) << "step " << step;
      } else if (dice.one_in(8)) {
        bool blocked = false;
        ASSERT_TRUE(logs[rank]->drain(*logged.below, dice.between(1, 1 << 20), blocked).ok());
        ASSERT_FALSE(blocked);
      } else {
        const std::int64_t count = dice.one_in(3) ? dice.between(1, 3000) : 1;
        const std::int64_t most = count > 1 ? 40 : dice.one_in(3) ? 400000 : 2000;
        std::vector<std::vector<std::byte>> data;
        std::vector<Piece> pieces;
        const std::int64_t stride = count > 1 && dice.one_in(2) ? dice.between(41, 300) : 0;
        const std::int64_t from = dice.below(kFile - stride * count);
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t begin = stride > 0 ? from + i * stride : dice.below(kFile);
          data.push_back(some_bytes(dice, dice.between(0, std::min(most, kFile - begin))));
          pieces.push_back({begin, data.back().data(), static_cast<std::int64_t>(data.back().size())});
          std::copy(data.back().begin(), data.back().end(), right.begin() + begin);
        }
        ASSERT_TRUE(ranks[rank]->write(pieces).ok());
      }
    }
    ASSERT_TRUE(logs[0]->drain_all(*logged.below).ok());
    EXPECT_TRUE(logs[1]->empty());
    EXPECT_EQ(logs[2]->pending(), 0);
    EXPECT_EQ(logged.content(kFile), right);
  }
}

// Each rank its own part of the file, all at once, while another one drains.
TEST(NodeLog, takes_all_ranks_at_once) {
  constexpr int ranks = 4;
  constexpr std::int64_t share = 300'000, block = 1'000;
  LoggedFile logged;
  const std::unique_ptr<NodeLog> drainer = logged.rank(-1);
  std::atomic<int> left{ranks};
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      const std::unique_ptr<NodeLog> log = logged.rank(r);
      const auto storage = make_logged_storage(*logged.below, *log);
      std::vector<std::byte> data(block), got(block);
      for (std::int64_t i = 0; i < 3 * share / block; ++i) {
        const std::int64_t at = (i % (share / block) * ranks + r) * block;
        std::fill(data.begin(), data.end(), static_cast<std::byte>(i + r));
        const Piece piece{at, data.data(), block};
        ASSERT_TRUE(storage->write({&piece, 1}).ok());
        ASSERT_TRUE(storage->read(at, got.data(), block).ok());
        ASSERT_EQ(got, data) << "rank " << r << ", block " << i;
      }
      --left;
    });
  }
  while (left > 0) {
    bool blocked = false;
    ASSERT_TRUE(drainer->drain(*logged.below, 100'000, blocked).ok());
    std::this_thread::yield();
  }
  for (std::thread& each : threads) each.join();
  ASSERT_TRUE(drainer->drain_all(*logged.below).ok());
  const std::vector<std::byte> file = logged.content(share * ranks);
  for (std::int64_t b = 0; b < share * ranks / block; ++b) {
    const std::int64_t last = 2 * (share / block) + b / ranks;
    ASSERT_EQ(file[static_cast<std::size_t>(b * block)], static_cast<std::byte>(last + b % ranks))
        << "block " << b;
  }
}

TEST(NodeLog, stays_within_its_bound) {
  LoggedFile logged(1 << 20);
  const auto log = logged.rank(0);
  const auto storage = make_logged_storage(*logged.below, *log);
  const std::vector<std::byte> data(200'000, std::byte{5});
  for (int i = 0; i < 100; ++i) {
    const Piece piece{i * 200'000, data.data(), 200'000};
    ASSERT_TRUE(storage->write({&piece, 1}).ok());
    ASSERT_LE(log->pending(), 1 << 20);
  }
  struct stat status{};
  ASSERT_EQ(::stat(logged.log_name.c_str(), &status), 0);
  EXPECT_LE(status.st_blocks * 512, (1 << 20) + (8 << 20));
  ASSERT_TRUE(log->drain_all(*logged.below).ok());
  EXPECT_EQ(logged.content(20'000'000), std::vector<std::byte>(20'000'000, std::byte{5}));
}

// A reader between whose two steps the ring goes round reads again: what it would find there is something
// else.
TEST(NodeLog, tells_a_reader_whom_the_ring_has_overtaken) {
  LoggedFile logged(1 << 20);
  const auto log = logged.rank(0);
  const std::vector<std::byte> data(200'000, std::byte{5});
  const auto put = [&](std::int64_t at) {
    const Piece piece{at, data.data(), 200'000};
    ASSERT_TRUE(log->append({&piece, 1}, *logged.below).ok());
  };
  put(0);
  const NodeLog::Mark mark = log->mark();
  std::byte byte{};
  Status status;
  EXPECT_TRUE(log->overlay(mark, 0, &byte, 1, status));
  EXPECT_EQ(byte, std::byte{5});
  for (int i = 1; i < 20; ++i) put(i * 200'000);
  EXPECT_FALSE(log->overlay(mark, 0, &byte, 1, status));
}

// Drains wait for an append that a living rank has begun, and pass by one whose rank is dead.
TEST(NodeLog, waits_for_the_living_only) {
  LoggedFile logged;
  auto dead = logged.rank(0);
  const auto living = logged.rank(1);
  const std::vector<std::byte> data(100, std::byte{3});
  for (int i = 0; i < 2; ++i) {
    const Piece piece{i * 1000, data.data(), 100};
    ASSERT_TRUE((i == 0 ? dead : living)->append({&piece, 1}, *logged.below).ok());
  }
  const Descriptor raw(::open(logged.log_name.c_str(), O_RDWR | O_CLOEXEC));
  const SlotState begun = SlotState::reserved;
  ASSERT_EQ(
      ::pwrite(raw.number(), &begun, sizeof begun, kLogPage + static_cast<off_t>(offsetof(LogSlot, state))),
      static_cast<ssize_t>(sizeof begun));
  bool blocked = false;
  ASSERT_TRUE(living->drain(*logged.below, 1 << 20, blocked).ok());
  EXPECT_TRUE(blocked);
  EXPECT_FALSE(living->empty());
  dead.reset();
  ASSERT_TRUE(living->drain(*logged.below, 1 << 20, blocked).ok());
  EXPECT_FALSE(blocked);
  EXPECT_TRUE(living->empty());
  EXPECT_EQ(logged.content(1100)[0], std::byte{0});
  EXPECT_EQ(logged.content(1100)[1000], std::byte{3});
}

// More small appends than a log has slots.
TEST(NodeLog, stays_within_its_slots) {
  LoggedFile logged(8 << 20);
  const auto log = logged.rank(0);
  const std::int64_t count = log->identity().slots + 1000;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto byte = static_cast<std::byte>(i % 251 + 1);
    const Piece piece{i, &byte, 1};
    ASSERT_TRUE(log->append({&piece, 1}, *logged.below).ok());
  }
  ASSERT_TRUE(log->drain_all(*logged.below).ok());
  const auto file = logged.content(count);
  for (std::int64_t i = 0; i < count; ++i)
    ASSERT_EQ(file[static_cast<std::size_t>(i)], static_cast<std::byte>(i % 251 + 1)) << i;
}

TEST(NodeLog, that_cannot_be_drained_keeps_all) {
  LoggedFile logged;
  const auto log = logged.rank(0);
  const auto failing =
      make_failing_storage(make_posix_storage(logged.file.number(), logged.path), logged.path, 0);
  const std::vector<std::byte> data(5'000, std::byte{7});
  const Piece piece{100, data.data(), 5'000};
  ASSERT_TRUE(log->append({&piece, 1}, *failing).ok());
  EXPECT_FALSE(log->drain_all(*failing).ok());
  EXPECT_EQ(log->pending(), 5'000);
  ASSERT_TRUE(log->drain_all(*logged.below).ok());
  EXPECT_EQ(logged.content(5'100)[5'099], std::byte{7});
}

TEST(Recovery, brings_back_all_and_leaves_nothing) {
  LoggedFile logged;
  const std::vector<std::byte> data(5'000, std::byte{9});
  {
    const auto log = logged.rank(0);
    for (int i = 0; i < 20; ++i) {
      const Piece piece{i * 10'000, data.data(), 5'000};
      ASSERT_TRUE(log->append({&piece, 1}, *logged.below).ok());
    }
    Recovered recovered;
    EXPECT_EQ(recover(logged.log_name, false, recovered).code(), Code::access) << "while it is used";
  }
  Recovered dry;
  ASSERT_TRUE(recover(logged.log_name, true, dry).ok());
  EXPECT_EQ(dry.appends, 20);
  EXPECT_EQ(dry.bytes, 100'000);
  EXPECT_EQ(logged.content(1)[0], std::byte{0});
  // Who opens a link to the file opens the file.
  const std::string link = logged.folder + "/link";
  std::filesystem::create_symlink(logged.path, link);
  ASSERT_TRUE(settle_leftover(link).ok());
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(logged.content(200'000)[static_cast<std::size_t>(i * 10'000 + 4'999)], std::byte{9});
  }
  EXPECT_FALSE(std::filesystem::exists(logged.log_name));
  EXPECT_FALSE(std::filesystem::exists(mark_of(logged.path)));
}

// What a rank had copied into its level 1 as it ended is newer than what it had appended.
TEST(Recovery, of_level_1) {
  constexpr std::int64_t unit = 64 << 10;
  LoggedFile logged(1 << 20, false, unit);
  {
    const auto log = logged.rank(2);
    const std::vector<std::byte> older(1'000, std::byte{3}), newer(10, std::byte{4});
    const Piece piece{unit, older.data(), 1'000};
    ASSERT_TRUE(log->append({&piece, 1}, *logged.below).ok());
    Level1Memory memory;
    ASSERT_TRUE(log->level1(memory));
    Level1 level1(unit);
    level1.lie_in(memory);
    level1.align(unit + 5);
    for (int i = 0; i < 40; ++i) level1.copy(unit + 20 * i, newer.data(), 10);
    EXPECT_EQ(log->left_in_level1(), 400);
  }
  Recovered recovered;
  ASSERT_TRUE(recover(logged.log_name, false, recovered).ok());
  EXPECT_EQ(recovered.appends, 2);
  EXPECT_EQ(recovered.bytes, 1'400);
  const auto file = logged.content(unit + 1'000);
  for (std::int64_t i = 0; i < 800; ++i) {
    EXPECT_EQ(file[static_cast<std::size_t>(unit + i)], i % 20 < 10 ? std::byte{4} : std::byte{3}) << i;
  }
  EXPECT_FALSE(std::filesystem::exists(logged.log_name));
}

// Each node removes its own; the mark goes with the last.
TEST(Recovery, of_several_nodes) {
  LoggedFile logged;
  std::string other;
  NodeLog::Wish wish;
  wish.folder = logged.folder;
  wish.path = logged.path;
  ASSERT_TRUE(id_of(logged.file.number(), wish.file));
  wish.stripe_bytes = 64 << 10;
  wish.capacity = 1 << 20;
  std::vector<MarkedLog> logs;
  wish.nodes = 3;
  for (wish.node = 0; wish.node < 3; ++wish.node) {
    std::string name;
    ASSERT_TRUE(NodeLog::create(wish, name).ok());
    logs.push_back({"node" + std::to_string(wish.node), name, false});
    std::unique_ptr<NodeLog> log;
    ASSERT_TRUE(NodeLog::attach(name, 0, log).ok());
    const std::vector<std::byte> data(100, static_cast<std::byte>(wish.node + 1));
    const Piece piece{wish.node * 100, data.data(), 100};
    ASSERT_TRUE(log->append({&piece, 1}, *logged.below).ok());
  }
  ASSERT_TRUE(write_mark(logged.path, logs).ok());
  // The disk of one node is not here.
  const std::string away = logs[1].name + ".away";
  std::filesystem::rename(logs[1].name, away);
  bool elsewhere = false;
  ASSERT_TRUE(settle_leftover(logged.path, &elsewhere).ok());
  EXPECT_TRUE(elsewhere);
  EXPECT_FALSE(std::filesystem::exists(logs[0].name));
  EXPECT_FALSE(std::filesystem::exists(logs[2].name));
  const Status refused = settle_leftover(logged.path);
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(refused.message().find("node1"), std::string::npos) << refused.message();
  ASSERT_TRUE(read_mark(mark_of(logged.path), logs));
  EXPECT_TRUE(logs[0].done && !logs[1].done && logs[2].done);
  std::string last;
  EXPECT_EQ(drained_everywhere(logged.path, last), 0);
  EXPECT_NE(last.find("node1"), std::string::npos) << last;
  std::filesystem::rename(away, logs[1].name);
  ASSERT_TRUE(settle_leftover(logged.path).ok());
  EXPECT_FALSE(std::filesystem::exists(mark_of(logged.path)));
  EXPECT_EQ(drained_everywhere(logged.path, last), 0) << "without a mark";
  const auto file = logged.content(300);
  for (int node = 0; node < 3; ++node)
    EXPECT_EQ(file[static_cast<std::size_t>(node * 100 + 99)], static_cast<std::byte>(node + 1));
}

// One byte of the ring differs from what was appended: that append is left out, and told; the others are not.
TEST(Recovery, leaves_out_what_is_damaged) {
  LoggedFile logged;
  {
    const auto log = logged.rank(0);
    for (int i = 0; i < 3; ++i) {
      const std::vector<std::byte> data(70'000, static_cast<std::byte>(i + 1));
      const Piece piece{i * 100'000, data.data(), 70'000};
      ASSERT_TRUE(log->append({&piece, 1}, *logged.below).ok());
    }
  }
  const Descriptor raw(::open(logged.log_name.c_str(), O_RDWR | O_CLOEXEC));
  std::unique_ptr<NodeLog> log;
  ASSERT_TRUE(NodeLog::attach(logged.log_name, -1, log).ok());
  const LogPlan plan(log->identity());
  const std::byte wrong{77};
  ASSERT_EQ(::pwrite(raw.number(), &wrong, 1, plan.ring + 70'000 + 100), 1);
  log.reset();
  Recovered recovered;
  const Status status = recover(logged.log_name, false, recovered);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(recovered.appends, 2);
  EXPECT_EQ(recovered.torn, 1);
  const auto file = logged.content(300'000);
  EXPECT_EQ(file[0], std::byte{1});
  EXPECT_EQ(file[100'000], std::byte{0});
  EXPECT_EQ(file[200'000], std::byte{3});
}

// A slot, or the first page, says something else than was written: that append, or the log, is left out.
TEST(Recovery, believes_no_damaged_slot_or_page) {
  LoggedFile logged;
  {
    const auto log = logged.rank(0);
    for (int i = 0; i < 2; ++i) {
      const std::vector<std::byte> data(100, static_cast<std::byte>(i + 1));
      const Piece piece{i * 1000, data.data(), 100};
      ASSERT_TRUE(log->append({&piece, 1}, *logged.below).ok());
    }
  }
  const Descriptor raw(::open(logged.log_name.c_str(), O_RDWR | O_CLOEXEC));
  const std::int64_t wrong = 5000;
  const off_t second = kLogPage + static_cast<off_t>(sizeof(LogSlot));
  ASSERT_EQ(::pwrite(raw.number(), &wrong, 8, second + static_cast<off_t>(offsetof(LogSlot, begin))), 8);
  const off_t path = offsetof(LogIdentity, path) + 200;
  const char letter = 'x', nothing = 0;
  ASSERT_EQ(::pwrite(raw.number(), &letter, 1, path), 1);
  Recovered recovered;
  EXPECT_EQ(recover(logged.log_name, false, recovered).code(), Code::unsupported);
  ASSERT_EQ(::pwrite(raw.number(), &nothing, 1, path), 1);
  const Status status = recover(logged.log_name, false, recovered);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(recovered.appends, 1);
  EXPECT_EQ(recovered.torn, 1);
  EXPECT_EQ(logged.content(1100)[99], std::byte{1});
  EXPECT_EQ(logged.content(1100)[1000], std::byte{0});
}

// As a machine that went down may leave it.
TEST(Recovery, of_a_log_that_has_been_cut_off) {
  LoggedFile logged;
  {
    const auto log = logged.rank(0);
    for (int i = 0; i < 3; ++i) {
      const std::vector<std::byte> data(70'000, static_cast<std::byte>(i + 1));
      const Piece piece{i * 100'000, data.data(), 70'000};
      ASSERT_TRUE(log->append({&piece, 1}, *logged.below).ok());
    }
  }
  {
    std::unique_ptr<NodeLog> log;
    ASSERT_TRUE(NodeLog::attach(logged.log_name, -1, log).ok());
    ASSERT_EQ(::truncate(logged.log_name.c_str(), LogPlan(log->identity()).ring + 200'000), 0);
  }
  Recovered recovered;
  const Status status = recover(logged.log_name, false, recovered);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(recovered.appends, 2);
  EXPECT_EQ(recovered.torn, 1);
  const auto file = logged.content(300'000);
  EXPECT_EQ(file[169'999], std::byte{2});
  EXPECT_EQ(file[200'000], std::byte{0});
}

TEST(Recovery, refuses_what_is_not_its_own) {
  LoggedFile logged;
  {
    const auto log = logged.rank(0);
    const std::byte one{1};
    const Piece piece{0, &one, 1};
    ASSERT_TRUE(log->append({&piece, 1}, *logged.below).ok());
  }
  // Another file of that name.
  const std::string moved = logged.path + ".old";
  std::filesystem::rename(logged.path, moved);
  {
    const Descriptor fresh(::open(logged.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  }
  Recovered recovered;
  Status status = recover(logged.log_name, false, recovered);
  EXPECT_EQ(status.code(), Code::unsupported) << status.message();
  EXPECT_TRUE(std::filesystem::exists(logged.log_name));
  EXPECT_FALSE(settle_leftover(logged.path).ok());
  std::filesystem::rename(moved, logged.path);
  // A log of another version.
  const Descriptor raw(::open(logged.log_name.c_str(), O_RDWR | O_CLOEXEC));
  const std::uint32_t version = kLogVersion + 1;
  ASSERT_EQ(::pwrite(raw.number(), &version, sizeof version, offsetof(LogIdentity, version)), 4);
  status = recover(logged.log_name, false, recovered);
  EXPECT_EQ(status.code(), Code::unsupported) << status.message();
  // A log that is gone, of a file that says it has one.
  std::filesystem::remove(logged.log_name);
  status = settle_leftover(logged.path);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("forebay recover"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace test
