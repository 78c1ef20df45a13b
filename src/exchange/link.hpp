// What joins one aggregator to its peers on the other nodes, as a flush sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/counters.hpp"
#include "base/status.hpp"

namespace forebay {

/// One rail: aggregators with one rank a node, numbered by node. All functions are collective over the rail.
class Rail {
 public:
  using Pack = std::function<void(int node, std::span<std::byte> out)>;
  using Unpack = std::function<bool(int node, std::span<const std::byte> message)>;

  virtual ~Rail() = default;

  /// Bytes a second of the slowest rail to the next node while all rails of all nodes send, on all rails
  /// alike; 0: nobody has measured.
  virtual double rate() const { return 0; }

  /// Tells the peers how many bytes they will get (`send_bytes`, an entry a node), and finds the least of all
  /// nodes' `next`.
  virtual Status agree(std::span<const std::int64_t> send_bytes, std::int64_t next, std::int64_t& least) = 0;

  /// Moves the messages agreed on: `pack` fills each, `unpack` gets each that arrives.
  virtual Status transfer(const Pack& pack, const Unpack& unpack, Counters& counters) = 0;

  /// The least of all nodes' values, entry by entry, in place.
  virtual Status least(std::span<std::int64_t> values) = 0;

  struct Letter {
    int node;
    std::span<const std::byte> bytes;  ///< not empty
  };
  /// Sends letters, at most one to a node and none to this one, and gives those that come for this node in
  /// this call to `take`. Nobody says before how many there are: where most nodes have nothing for each
  /// other, nothing is sent.
  virtual Status post(std::span<const Letter> letters, const Unpack& take, Counters& counters) = 0;
};

}  // namespace forebay
