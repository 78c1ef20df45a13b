// Collective writes and reads of nodes that have parts of the file of their own: each writes its parts by
// itself, and only what lies in stripes of several nodes crosses; each reads what it wants.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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
  std::vector<Extent> here;  ///< this node's: whole stripes, ascending and apart
  std::int64_t first;        ///< before the first stripe that is in nobody's part; kNoOffset: there is none
  Extent hull;               ///< of this node's requests
};
/// Collective, over several nodes, by the file that has the window: nothing on all ranks, or something on
/// all.
std::optional<OwnPart> find_own_parts(FileContext& file, Window& window, std::span<const Put> puts);
std::optional<OwnPart> find_own_parts(FileContext& file, Window& window, std::span<const Get> gets);

/// Collective: the flush of these puts; this node's outcome. As flush_in_rounds.
Status flush_own_parts(FileContext& file, Window& window, std::span<const Put> puts, const OwnPart& part,
                       int shift);

/// Collective: each node reads what it wants by itself, also of stripes that several want. This rank's
/// outcome.
Status fetch_own_parts(FileContext& file, Window& window, std::span<const Get> gets, std::int64_t gap,
                       const OwnPart& part, int shift);

}  // namespace forebay
