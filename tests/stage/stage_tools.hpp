// A file that counts how it is read, and a folder for its stage.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "stage/node_stage.hpp"
#include "stage/stages.hpp"
#include "storage/storage.hpp"

namespace test {

using namespace forebay;

constexpr std::int64_t kUnit = 64 << 10;

/// What the file has at a place, in its version of that number.
inline std::byte byte_at(std::int64_t at, int version = 0) {
  const auto x = static_cast<std::uint64_t>(at) * 0x9E3779B97F4A7C15u;
  return static_cast<std::byte>((x >> 33 ^ x >> 17) + static_cast<unsigned>(version) * 77);
}

/// Counts what goes to the file.
class CountingStorage final : public Storage {
 public:
  explicit CountingStorage(std::unique_ptr<Storage> below) : below_(std::move(below)) {}
  Status write(std::span<const Piece>) override { return {Code::internal, "a stage writes nothing"}; }
  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override {
    if (before) before(offset, length);
    ++reads;
    bytes += length;
    if (fails) return {Code::io, "injected"};
    return below_->read(offset, data, length);
  }
  std::int64_t reads = 0, bytes = 0;
  bool fails = false;
  std::function<void(std::int64_t, std::int64_t)> before;

 private:
  std::unique_ptr<Storage> below_;
};

struct StagedFile {
  explicit StagedFile(std::int64_t bytes, const char* under = nullptr) : size(bytes) {
    std::string name =
        (std::filesystem::path(under != nullptr ? under : std::filesystem::temp_directory_path().c_str()) /
         "forebay-stage-XXXXXX")
            .string();
    folder = ::mkdtemp(name.data());
    path = folder + "/file.dat";
    stages = folder + "/stages";
    std::filesystem::create_directory(stages);
    write_version(0);
    wish.folder = stages;
    wish.stripe_bytes = kUnit;
    wish.bytes = 64 << 20;
    look();
  }
  ~StagedFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  /// In place; `at`: the modification time, in seconds since 1970.
  void write_version(int version, std::int64_t at = 1'600'000'000) {
    std::vector<std::byte> data(static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < size; ++i) data[static_cast<std::size_t>(i)] = byte_at(i, version);
    const Descriptor out(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(::pwrite(out.number(), data.data(), data.size(), 0), static_cast<ssize_t>(data.size()));
    set_time(at);
  }
  void set_time(std::int64_t at, long nanoseconds = 0) const {
    const struct timespec times[2] = {{0, UTIME_NOW}, {at, nanoseconds}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  /// As a program that opens it sees it.
  void look() {
    file = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(stamp_of(file.number(), path, wish.file));
    below = std::make_unique<CountingStorage>(make_posix_storage(file.number(), path));
  }

  std::string find() const { return stage()->name(); }
  std::unique_ptr<NodeStage> attach(const std::string& name) const {
    std::unique_ptr<NodeStage> stage;
    const Status status = NodeStage::attach(name, wish.file, stage);
    EXPECT_TRUE(status.ok()) << status.message();
    return stage;
  }
  std::unique_ptr<NodeStage> stage() const {
    std::unique_ptr<NodeStage> found;
    const Status status = find_stage(wish, found);
    EXPECT_TRUE(status.ok()) << status.message();
    return found;
  }

  /// Reads, and compares with that version.
  void expect(NodeStage& stage, std::int64_t offset, std::int64_t length, int version = 0) {
    std::vector<std::byte> data(static_cast<std::size_t>(length), std::byte{0xEE});
    const Status status = stage.read(offset, data.data(), length, *below, tally);
    ASSERT_TRUE(status.ok()) << status.message();
    for (std::int64_t i = 0; i < length; ++i)
      ASSERT_EQ(data[static_cast<std::size_t>(i)],
                offset + i < size ? byte_at(offset + i, version) : std::byte{0})
          << "byte " << offset + i << " of [" << offset << ", " << offset + length << ")";
  }
  std::vector<FoundStage> list() const {
    std::vector<FoundStage> found;
    EXPECT_TRUE(list_stages(stages, found).ok());
    return found;
  }

  std::int64_t size;
  std::string folder, path, stages;
  Descriptor file;
  std::unique_ptr<CountingStorage> below;
  StageWish wish;
  StageTally tally;
};

}  // namespace test
