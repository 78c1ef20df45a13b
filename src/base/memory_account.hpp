// What all open files of this process take together, so that forebay_memory_bytes bounds their sum and not
// each of them.
#pragma once

#include <cstdint>

#include "base/settings.hpp"

namespace forebay {

/// Bytes that count while this lives; of memory that ranks share, a rank's share. Any thread may make one.
class MemoryClaim {
 public:
  /// `keeping`: what an open file keeps in commit mode; others are windows and the like.
  enum class Kind { window, keeping };

  MemoryClaim() = default;
  MemoryClaim(Kind kind, std::int64_t bytes);
  ~MemoryClaim();
  MemoryClaim(MemoryClaim&& other) noexcept;
  MemoryClaim& operator=(MemoryClaim&& other) noexcept;
  MemoryClaim(const MemoryClaim&) = delete;
  MemoryClaim& operator=(const MemoryClaim&) = delete;

  std::int64_t bytes() const { return bytes_; }
  void resize(std::int64_t bytes);

 private:
  Kind kind_ = Kind::window;
  std::int64_t bytes_ = 0;
};

/// What a file alone keeps at most in commit mode, on a rank: forebay_pool_bytes, or a quarter of
/// forebay_memory_bytes.
std::int64_t pool_bound(const Settings& settings);

/// Bytes that a rank's files may still claim: of forebay_memory_bytes, and what forebay_pool_bytes adds to it
/// where it asks for more than its quarter.
std::int64_t memory_left(const Settings& settings);

/// Bytes that a rank's windows may still claim: half of forebay_memory_bytes is for them.
std::int64_t memory_left_for_windows(const Settings& settings);

/// How much one more file may keep on this rank: all that its settings say where no other file keeps
/// anything, else a share of what is left, smaller and smaller, so that hundreds of files find something.
/// `least`: with less a file can do nothing; 0 where not even that is left.
std::int64_t share_of_next_file(const Settings& settings, std::int64_t least);

/// Files that keep something now: those with a claim of that kind.
int keeping_files();

}  // namespace forebay
