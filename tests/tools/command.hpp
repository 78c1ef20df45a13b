// The `forebay` command as a child process, and a folder of a test's own.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "subprocess.hpp"

namespace forebay::tools {

using Variables = std::map<std::string, std::string>;

inline Outcome forebay_with(Variables more, std::vector<std::string> arguments) {
  auto environment = current_environment();
  for (const char* name :
       {"FOREBAY_HINTS", "FOREBAY_STATS", "FOREBAY_TRACE", "FOREBAY_ENABLE", "FOREBAY_LIBDIR",
        "FOREBAY_DROPIN", "LD_PRELOAD", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"}) {
    environment.erase(name);
  }
  for (auto& [name, value] : more) environment[name] = value;
  arguments.insert(arguments.begin(), FOREBAY);
  return run_program(arguments, environment, std::chrono::seconds(60));
}

inline Outcome forebay_command(std::vector<std::string> arguments) {
  return forebay_with({}, std::move(arguments));
}

inline std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class InFolder : public testing::Test {
 protected:
  InFolder() {
    std::string name = std::filesystem::temp_directory_path() / "forebay-command-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~InFolder() override {
    chmod(folder_.c_str(), 0700);
    std::filesystem::remove_all(folder_);
  }
  std::string operator/(const std::string& name) const { return folder_ + "/" + name; }
  std::string folder_;
};

}  // namespace forebay::tools
