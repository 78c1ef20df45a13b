// Without Forebay's own code: a log is a file there.
#include "log_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace faults {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The same file, whoever has it.
bool overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return out.flush().good();
}

std::string mark_of(const std::string& path) {
  return path + ".forebay";
}

// Holes stay holes.
bool copy(const std::string& from, const std::string& to) {
  return std::system(("cp --sparse=always '" + from + "' '" + to + "' >&2").c_str()) == 0;
}

}  // namespace

std::vector<std::string> LogFolder::logs() const {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) names.push_back(entry.path().string());
  return names;
}

std::string LogFolder::left_of(const std::string& path) const {
  std::string left;
  for (const std::string& name : logs()) left += " " + name;
  std::error_code error;
  if (fs::exists(mark_of(path), error)) left += " " + mark_of(path);
  return left;
}

// The logs before the file: what is in neither at its time is lost then.
void LogFolder::keep_copies(const std::string& path, const std::string& folder) {
  copies_.clear();
  mark_ = bytes_of(mark_of(path));
  for (const std::string& name : logs()) {
    const std::string kept = folder + "/copy" + std::to_string(copies_.size());
    if (copy(name, kept)) copies_.emplace_back(name, kept);
  }
  file_ = bytes_of(path);
}

bool LogFolder::put_back(const std::string& path) const {
  bool good = overwrite(path, file_) && (mark_.empty() || overwrite(mark_of(path), mark_));
  std::error_code error;
  for (const auto& [name, kept] : copies_) {
    fs::rename(kept, name, error);
    good = good && !error;
  }
  return good;
}

bool LogFolder::run(const char* command, const std::string& path) {
  const char* const forebay = std::getenv("FAULTS_FOREBAY");
  if (forebay == nullptr) return false;
  return std::system((std::string("'") + forebay + "' " + command + " '" + path + "' >&2").c_str()) == 0;
}

}  // namespace faults
