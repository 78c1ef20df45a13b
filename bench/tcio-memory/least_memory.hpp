// In how little memory a peer can do its work.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "peers.hpp"
#include "scratch.hpp"

namespace forebay::bench {

struct MemoryOptions {
  int ranks = 4, blocks = 4;        // blocks: elements of one
  std::int64_t elements = 4 << 20;  // of each array of a rank
  std::string launcher, hints;      // as everywhere
  std::string forebay, writer;      // the programs
  std::chrono::seconds limit{120};  // of one launch
  std::int64_t array_bytes() const { return elements * 12; }
};

// One run within a limit: nothing of the times where it did not fit.
struct LimitedRun {
  std::int64_t headroom = 0;  // bytes; 0: no limit
  bool fits = false, right = false;
  double write = 0, read = 0;  // seconds
  std::string why;             // what it said as it ended otherwise
};

class LeastMemory {
 public:
  // Writes the reference. Throws RunFailed.
  LeastMemory(MemoryOptions options, const Peer& reference, const Scratch& scratch);

  // Writes the file and reads it back within `headroom` bytes a rank; whatever ends it counts as not fitting.
  LimitedRun run(const Peer& peer, std::int64_t headroom) const;

  // The least that it runs in, within an eighth, of at most `most` bytes; nothing where that is too little.
  std::optional<std::int64_t> least(const Peer& peer, std::int64_t most) const;

 private:
  MemoryOptions options_;
  const Scratch& scratch_;
};

}  // namespace forebay::bench
