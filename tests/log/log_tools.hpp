// A file, a folder for its log, and both opened as ranks do.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "log/leftover.hpp"
#include "log/logged_storage.hpp"
#include "log/node_log.hpp"
#include "storage/descriptors.hpp"
#include "storage/storage.hpp"

namespace test {

using namespace forebay;

struct LoggedFile {
  explicit LoggedFile(std::int64_t capacity = 1 << 20, bool fills_holes = false, std::int64_t level1 = 0) {
    std::string name = (std::filesystem::temp_directory_path() / "forebay-log-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    path = folder + "/file.dat";
    file = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    below = make_posix_storage(file.number(), path);
    NodeLog::Wish wish;
    wish.folder = folder;
    wish.path = path;
    EXPECT_TRUE(id_of(file.number(), wish.file));
    wish.generation = 17;
    wish.stripe_bytes = 64 << 10;
    wish.capacity = capacity;
    wish.fills_holes = fills_holes;
    wish.mark = OpenMark::any_number();
    wish.ranks = 4;
    wish.level1 = level1;
    const Status made = NodeLog::create(wish, log_name);
    EXPECT_TRUE(made.ok()) << made.message();
    EXPECT_TRUE(write_mark(path, {{"here", log_name, false}}).ok());
  }
  ~LoggedFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  std::unique_ptr<NodeLog> rank(int number) const {
    std::unique_ptr<NodeLog> log;
    const Status status = NodeLog::attach(log_name, number, log);
    EXPECT_TRUE(status.ok()) << status.message();
    return log;
  }
  std::vector<std::byte> content(std::int64_t bytes) const {
    std::vector<std::byte> all(static_cast<std::size_t>(bytes));
    EXPECT_TRUE(below->read(0, all.data(), bytes).ok());
    return all;
  }

  std::string folder, path, log_name;
  Descriptor file;
  std::unique_ptr<Storage> below;
};

}  // namespace test
