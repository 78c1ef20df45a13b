// Flushes in which nodes put bytes into parts of the file of their own: each writes its part by itself, and
// only what lies in stripes of several nodes crosses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/status.hpp"
#include "layout/extent.hpp"
#include "request/request.hpp"

namespace forebay {

struct FileContext;
struct Window;

/// Whether it is worth finding out: that takes messages, which flushes of interleaved data take in vain. The
/// same on all ranks.
class OwnPartsGuess {
 public:
  bool worth_it() const { return wait_ == 0; }
  /// After each flush for which it might have been: `tried`: worth_it() before; `found`: they had.
  void learn(bool tried, bool found) {
    if (!tried) {
      --wait_;
    } else if (found) {
      pause_ = 1;
    } else {
      wait_ = pause_;
      pause_ = pause_ < kMost ? 2 * pause_ : kMost;
    }
  }

 private:
  static constexpr int kMost = 32;
  int wait_ = 0;
  int pause_ = 1;
};

/// What the nodes have found out.
struct OwnPart {
  Extent here;         ///< this node's: whole stripes; empty: none
  std::int64_t first;  ///< the lowest offset that is in nobody's part; kNoOffset: there is none
};
/// Collective, over several nodes, by the file that has the window: nothing on all ranks, or something on
/// all.
std::optional<OwnPart> find_own_parts(FileContext& file, Window& window, Extent mine);

/// Collective: the flush of these puts; this node's outcome. As flush_in_rounds.
Status flush_own_parts(FileContext& file, Window& window, std::span<const Put> puts, const OwnPart& part,
                       int shift);

}  // namespace forebay
