// The folder a program's files live in: made for one run of it, and gone after it, however it ends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace forebay::bench {

class Scratch {
 public:
  // Its name begins with `program`. In `parent`, or where that is empty in /dev/shm, if it has room for
  // `bytes`, or in $TMPDIR or /tmp. Throws std::runtime_error where the folder cannot be made or has no room.
  Scratch(const std::string& program, const std::string& parent, std::int64_t bytes, bool keep);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  // An empty folder of that name.
  std::string folder(const std::string& name) const;
  void remove(const std::string& name) const;

 private:
  std::filesystem::path path_;
  bool keep_;
};

}  // namespace forebay::bench
