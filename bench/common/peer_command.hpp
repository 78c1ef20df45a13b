// How a writer is started under a peer.
#pragma once

#include <string>
#include <vector>

#include "peers.hpp"
#include "process.hpp"
#include "scratch.hpp"

namespace forebay::bench {

struct PeerLaunch {
  std::string launcher;  // a command line, or empty: mpirun
  int ranks = 1;
  std::string forebay, writer;           // the programs
  std::string hints;                     // more of them for runs under Forebay, k=v;k=v
  std::string stats;                     // where Forebay's report goes; "": nowhere
  std::vector<std::string> before = {};  // words before the launcher's
};

// The launcher, `forebay run` where the peer is Forebay's, the writer, and what of its options the peer
// gives; others may be added. A file for ROMIO is left in `scratch`.
Command peer_command(const Peer& peer, const PeerLaunch& launch, const Scratch& scratch);

}  // namespace forebay::bench
