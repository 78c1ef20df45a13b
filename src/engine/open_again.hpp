// A file that this process opens once more while it has it open. Where a library puts bytes at once, the
// second one sees what the first has written; so what commit mode keeps goes to the file before, and nothing
// is kept while both are open.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "storage/descriptors.hpp"

namespace forebay {

/// One open file in the list of those that this process has.
class OpenAgain {
 public:
  /// What is kept of the others that are the same file is written.
  OpenAgain(const FileId& id, std::function<void()> write_what_is_kept);
  ~OpenAgain();
  OpenAgain(const OpenAgain&) = delete;
  OpenAgain& operator=(const OpenAgain&) = delete;

  /// Whether this process has another one open that is the same file.
  bool twice() const { return others_.load(std::memory_order_relaxed) > 0; }

 private:
  friend void write_what_is_kept_of(const std::string& path);

  FileId id_;
  std::function<void()> write_what_is_kept_;
  std::atomic<int> others_ = 0;
};

/// Before a file of that name is opened, by whomever.
void write_what_is_kept_of(const std::string& path);

}  // namespace forebay
