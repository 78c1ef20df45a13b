// One call's use of a window: a file has it for itself from the beginning of a collective call to its end.
#pragma once

#include <functional>

#include "engine/file_context.hpp"

namespace forebay {

/// All ranks of a file make one at the same place of a collective call. A program of one thread has the
/// window at once. Where another thread of some rank has it for another file, the ranks find that out when
/// they agree, and go to another window together.
class WindowUse {
 public:
  explicit WindowUse(FileContext& file);
  ~WindowUse() { leave(); }
  WindowUse(const WindowUse&) = delete;
  WindowUse& operator=(const WindowUse&) = delete;

  /// Null where this rank has none, or none yet.
  Window* get() const { return window_; }

  /// Collective: FileContext::agree, and whether all ranks have the window. Once.
  void agree(Agreement& agreement, const std::function<void()>& meanwhile = nullptr);

  /// Collective, after agree(), where a window is needed: on success all ranks have one; it may be another
  /// than before. What was scattered into that is lost.
  Status settle();
  bool moved() const { return moved_; }

 private:
  void leave();

  FileContext& file_;
  Window* window_ = nullptr;
  bool all_ = false;
  bool moved_ = false;
};

}  // namespace forebay
