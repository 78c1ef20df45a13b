// What one run of a program saw on this rank: signs of return values and what was read.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <cstdio>
#include <span>
#include <sstream>
#include <string>

namespace test {

class Trace {
 public:
  explicit Trace(bool aloud) : aloud_(aloud) {}

  /// What comes next, for who watches.
  void about_to(const std::string& what) const {
    if (aloud_) std::fprintf(stderr, "  … %s\n", what.c_str());
  }
  /// Logs whether a call succeeded, and gives its result back.
  template <class T>
  T sign(const std::string& what, T result) {
    line(what + (result < 0 ? " fails" : " succeeds"));
    return result;
  }
  template <class T>
  void value(const std::string& what, const T& v) {
    std::ostringstream text;
    text << what << " = " << v;
    line(text.str());
  }
  /// What no library may do, whichever: kept out of the log.
  void wrong(const std::string& what) {
    if (aloud_) std::fprintf(stderr, "  WRONG: %s\n", what.c_str());
    if (wrong_.empty()) wrong_ = where_ + ": " + what;
  }
  /// The step that comes.
  void step(const std::string& what) {
    where_ = what;
    line(what);
  }

  const std::string& log() const { return log_; }
  const std::string& first_wrong() const { return wrong_; }

 private:
  void line(const std::string& text) {
    if (aloud_) std::fprintf(stderr, "%s\n", text.c_str());
    log_ += text + '\n';
  }

  bool aloud_;
  std::string log_, where_, wrong_;
};

inline std::uint64_t hash_of(std::span<const std::int64_t> values) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::int64_t v : values) hash = (hash ^ static_cast<std::uint64_t>(v)) * 0x100000001b3;
  return hash;
}

}  // namespace test
