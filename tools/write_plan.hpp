// What a collective write does on a machine that need not be there, by the functions that decide it in an
// open file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "layout/file_domains.hpp"
#include "layout/wide_rounds.hpp"
#include "topology/aggregators.hpp"

namespace forebay::tools {

/// All ranks put as much, in pieces of one size, which interleave: piece after piece, rank after rank. The
/// file has no holes.
struct WriteQuestion {
  int nodes = 1;
  int ranks_per_node = 1;
  std::int64_t rank_bytes = 0;
  std::int64_t rank_pieces = 0;
  std::int64_t stripe_count = 0;  ///< storage targets; 0: not known
  int domains = 1;                ///< NUMA domains of a node, all with ranks
  int cards = 0;                  ///< network cards of a node; 0: not known
  Settings settings{};

  std::int64_t ranks() const { return std::int64_t{nodes} * ranks_per_node; }
  std::int64_t bytes() const { return ranks() * rank_bytes; }
};

struct WritePlan {
  AggregatorCount aggregators;  ///< a node
  std::vector<int> owning{};    ///< the nodes that may own; empty: all
  FileDomains layout{{kDefaultStripe}, kDefaultStripe, {}};
  WideRounds wide{};
  bool takes_wide = false;

  std::int64_t rounds = 0;
  std::int64_t round_bytes = 0;   ///< of the file, in a full round
  int owners_at_work = 0;         ///< in a full round
  std::int64_t owner_rounds = 0;  ///< owners at work, of all rounds together

  // Between nodes. Where a piece is so long that an owner's part of a round has none of some nodes, the
  // messages are at most so many.
  std::int64_t messages = 0;
  bool messages_exact = true;
  std::int64_t data_bytes = 0;
  std::int64_t most_header_bytes = 0;

  std::int64_t window_bytes = 0;  ///< a node
  std::int64_t outbox_bytes = 0;  ///< a node

  double messages_an_owner_and_round() const;
  std::int64_t payload_a_message() const { return messages == 0 ? 0 : data_bytes / messages; }
  std::int64_t node_memory() const { return window_bytes + outbox_bytes; }

  std::string why;     ///< why rounds are of this kind
  std::string bound;   ///< what bounds the write
  std::string change;  ///< what would help
};

/// Code::bad_hint: why there is no such machine, or write.
Status plan_write(const WriteQuestion& question, WritePlan& out);

}  // namespace forebay::tools
