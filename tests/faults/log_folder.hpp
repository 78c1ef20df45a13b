// The folder that forebay_log names: what is left there, and a crash that leaves it so.
#pragma once

#include <string>
#include <vector>

namespace faults {

class LogFolder {
 public:
  explicit LogFolder(std::string folder) : folder_(std::move(folder)) {}
  const std::string& name() const { return folder_; }
  /// The logs there, and the mark beside `path`; "": nothing.
  std::string left_of(const std::string& path) const;

  /// Copies of a file, its mark and its logs, as they are at this moment. They go to `folder`.
  void keep_copies(const std::string& path, const std::string& folder);
  /// Once all have closed the file it is, with its logs, as it was then, and nobody uses them. False: not so.
  bool put_back(const std::string& path) const;

  /// `forebay COMMAND PATH`, which FAULTS_FOREBAY names; what it says goes to stderr. Whether it went well.
  static bool run(const char* command, const std::string& path);

 private:
  std::vector<std::string> logs() const;

  std::string folder_;
  std::string file_, mark_;  // their bytes
  std::vector<std::pair<std::string, std::string>> copies_;
};

}  // namespace faults
