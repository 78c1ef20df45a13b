// How a file is cut, and in which rounds it is written, by the numbers of a machine. Open files decide so,
// and `forebay plan` for machines that nobody has yet.
#pragma once

#include <cstdint>
#include <optional>

#include "base/settings.hpp"
#include "layout/file_domains.hpp"
#include "layout/wide_rounds.hpp"

namespace forebay {

/// What a node has for windows.
struct NodeBytes {
  int ranks = 1;                              ///< on the node
  std::int64_t left = 0;                      ///< bytes a rank that windows may claim
  std::int64_t replaced = 0;                  ///< bytes of shared memory that make room for this window
  std::optional<std::int64_t> free_shared{};  ///< bytes; none where ranks share nothing
};

/// Of a node, or the least of all nodes.
struct RoundMemory {
  std::int64_t round_that_fits;  ///< bytes of the file; 0: messages between ranks are better than a window
  std::int64_t window;           ///< bytes a rank, for all that rounds need
};

RoundMemory memory_for_rounds(const Settings& settings, const NodeBytes& node);

/// All ranks of a file.
struct RankCounts {
  OwnerSet owners;       ///< nodes, and aggregators of each
  int ranks_a_node = 1;  ///< of the largest node
};

struct RoundChoice {
  FileDomains layout;
  WideRounds wide{};  ///< possible(): for what does not fit one round of the layout
};

/// How the file is cut, and in which rounds collective writes pass over it.
RoundChoice choose_rounds(const Settings& settings, const RankCounts& ranks, const Striping& striping,
                          const RoundMemory& memory);

/// Whether a round of a window has a stripe for every owner.
bool all_at_work(const FileDomains& layout);

enum class Direction { write, read };

/// Whether a transfer of what lies in `hull` takes wide rounds: not where one round of a window holds it. A
/// read does not overlap its exchange with the file there, and takes them only where owners would be without
/// work.
bool takes_wide(const Settings& settings, const FileDomains& layout, const WideRounds& wide, Extent hull,
                Direction direction);

}  // namespace forebay
