// Hints by the ways on which each MPI-IO library gets them.
#include "peer_command.hpp"

#include "launch.hpp"
#include "text_file.hpp"

namespace forebay::bench {
namespace {

// ROMIO's own hints, as a file that it reads: those in MPI_Info do not reach the ROMIO of every Open MPI 5.
std::string romio_hints(const Peer& peer) {
  std::string text;
  for (const std::string& hint : peer.hints) {
    const std::size_t equals = hint.find('=');
    if (hint.starts_with("romio_") || hint.starts_with("cb_"))
      text += hint.substr(0, equals) + " " + hint.substr(equals + 1) + "\n";
  }
  return text;
}

}  // namespace

Command peer_command(const Peer& peer, const PeerLaunch& launch, const Scratch& scratch) {
  Command command{launch.before, peer.environment};
  const auto add = [&](const std::vector<std::string>& words) {
    command.words.insert(command.words.end(), words.begin(), words.end());
  };
  add(launcher_words(launch.launcher, launch.ranks));
  if (peer.kind == Kind::Forebay) {
    add({launch.forebay, "run"});
    if (!launch.stats.empty()) add({"--stats", launch.stats});
    if (!peer.mode.empty()) add({"--mode", peer.mode});
    const std::string hints =
        peer.run_hints + (peer.run_hints.empty() || launch.hints.empty() ? "" : ";") + launch.hints;
    if (!hints.empty()) add({"--hints", hints});
  }
  add({launch.writer});
  add(peer.options);
  for (const std::string& hint : peer.hints) add({"--hint", hint});
  if (const std::string hints = romio_hints(peer); !hints.empty()) {
    const std::string file = scratch.file(peer.name + ".hints");
    write_file(file, hints);
    command.environment.emplace_back("ROMIO_HINTS", file);
  }
  return command;
}

}  // namespace forebay::bench
