// A line on a terminal that says how far something has come which takes long.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "base/printable.hpp"

namespace forebay::tools {

/// On stderr, where that is a terminal; elsewhere nothing. It is gone with the object, or before other
/// output.
class Progress {
 public:
  Progress() : begun_(Clock::now()), shows_(::isatty(STDERR_FILENO) != 0) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether it is time for another line: what is done in a moment needs none.
  bool is_due() const { return shows_ && Clock::now() - begun_ > kFirst && Clock::now() - last_ > kBetween; }
  void show(const std::string& text) {
    std::fprintf(stderr, "\r\x1b[K%s", printable(text).c_str());
    std::fflush(stderr);
    shown_ = true;
    last_ = Clock::now();
  }
  void clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kFirst{500}, kBetween{200};

  Clock::time_point begun_, last_{};
  bool shows_;
  bool shown_ = false;
};

}  // namespace forebay::tools
