// forebay-tcio-memory: how little memory TCIO needs beside a program's arrays, against MPI-IO with the buffer
// that combines them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "driver_main.hpp"
#include "launch.hpp"
#include "least_memory.hpp"
#include "machine.hpp"
#include "tcio_peers.hpp"
#include "tcio_rows.hpp"
#include "text_file.hpp"

namespace forebay::bench {
namespace {

struct Found {
  Peer peer;
  std::optional<std::int64_t> least;
  LimitedRun half;  // in half as much as the arrays take
};

std::string mib(std::int64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) / (1 << 20));
}

std::string table(const MemoryOptions& options, const std::vector<Found>& all) {
  const auto arrays = static_cast<double>(options.array_bytes());
  std::string text =
      fmt::format("{:<68}{:>9}{:>14}  in half as much as the arrays\n", "", "MiB/rank", "of the arrays");
  for (const Found& found : all) {
    const std::string least = found.least ? mib(*found.least) : "more",
                      part = found.least ? fmt::format("{:.2f}", static_cast<double>(*found.least) / arrays)
                                         : "";
    text += fmt::format("{:<68}{:>9}{:>14}  ", found.peer.title, least, part);
    text += !found.half.fits    ? "does not fit: " + found.half.why.substr(0, 72)
            : !found.half.right ? "WRONG VALUES"
                                : fmt::format("written in {:.2f} s, read in {:.2f} s, as it has to be",
                                              found.half.write, found.half.read);
    text += '\n';
  }
  return text;
}

nlohmann::json to_json(const MemoryOptions& options, const std::vector<Found>& all) {
  nlohmann::json peers = nlohmann::json::array();
  for (const Found& found : all) {
    peers.push_back({{"peer", found.peer.name},
                     {"title", found.peer.title},
                     {"least_bytes", found.least ? nlohmann::json(*found.least) : nlohmann::json()},
                     {"half",
                      {{"bytes", found.half.headroom},
                       {"fits", found.half.fits},
                       {"right", found.half.right},
                       {"write_s", found.half.write},
                       {"read_s", found.half.read},
                       {"why", found.half.why}}}});
  }
  return {{"ranks", options.ranks},        {"elements", options.elements},
          {"block", options.blocks},       {"array_bytes", options.array_bytes()},
          {"machine", describe_machine()}, {"peers", peers}};
}

std::vector<Peer> choose(const std::vector<Peer>& all, const std::vector<std::string>& names) {
  std::vector<Peer> chosen;
  for (const Peer& peer : all) {
    const bool named = std::find(names.begin(), names.end(), peer.name) != names.end();
    // A call a piece over OMPIO takes minutes.
    if (peer.kind != Kind::Reference && (names.empty() ? peer.name != "ompio-alone" : named))
      chosen.push_back(peer);
  }
  return chosen;
}

int run(const MemoryOptions& options, const std::vector<std::string>& names, const std::string& directory,
        const std::string& json) {
  require_programs({options.writer, options.forebay});
  const std::int64_t bytes = options.array_bytes();
  const Scratch scratch("forebay-tcio-memory", directory, 2 * bytes * options.ranks + (64 << 20), false);
  allow_oversubscription(options.ranks);
  const std::vector<Peer> peers = tcio_peers(find_romio());
  fmt::print(
      "{} ranks with two arrays of {} elements each ({} MiB a rank), in blocks of {}; files in {}\n{}\n\n",
      options.ranks, options.elements, mib(bytes), options.blocks, scratch.path().parent_path().string(),
      describe_machine());
  std::fflush(stdout);
  const LeastMemory memory(options, peers.front(), scratch);
  std::vector<Found> all;
  for (const Peer& peer : choose(peers, names)) {
    fmt::print(stderr, "{} ... ", peer.title);
    std::fflush(stderr);
    Found found{peer, memory.least(peer, 8 * bytes + (std::int64_t{256} << 20)), memory.run(peer, bytes / 2)};
    fmt::print(stderr, "{}\n", found.least ? mib(*found.least) + " MiB" : "does not run");
    all.push_back(std::move(found));
  }
  if (!json.empty()) write_file(json, to_json(options, all).dump(2) + "\n");
  fmt::print("{}\n", table(options, all));
  bool right = true;
  for (const Found& found : all) {
    right = right && (!found.half.fits || found.half.right);
    fmt::print("least {} {}\n", found.peer.name, found.least ? mib(*found.least) : "-");
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
  using namespace forebay::bench;
  MemoryOptions options;
  options.forebay = find_program("forebay");
  options.writer = find_program("../tcio/forebay-tcio-writer");
  std::vector<std::string> names, peer_names;
  std::string directory, json, footer = "\nPeers:\n";
  for (const Peer& peer : tcio_peers("romio")) {
    if (peer.kind == Kind::Reference) continue;
    peer_names.push_back(peer.name);
    footer += fmt::format("  {:<12} {}\n", peer.name, peer.title);
  }
  footer +=
      "\nAt the end a line `least PEER MIB` a peer, - where it did not run in 8 times as much as the arrays. "
      "Exit\nstatus: 0 what was written and read is right, 1 some is wrong, 2 a run without a limit "
      "failed.\n";
  int limit = 120;
  bool quick = false;
  CLI::App app(
      "Writes and reads the file of the TCIO paper's benchmark under a limit of memory for each rank (ulimit "
      "-v,\n"
      "set when MPI has started and the arrays are there), and looks for the least in which each peer can do "
      "it.",
      "forebay-tcio-memory");
  app.footer(footer);
  CLI::Option* elements = app.add_option("--elements", options.elements,
                                         "of each of the two arrays of a rank (12 bytes for both); 4 Mi")
                              ->check(CLI::Range(std::int64_t{1024}, std::int64_t{1} << 32));
  app.add_flag("--quick", quick, "1 Mi elements, 12 MiB a rank")->excludes(elements);
  app.add_option("--block", options.blocks, "elements of a block: 1, 4 or 64; 4")
      ->check(CLI::IsMember({1, 4, 64}));
  app.add_option("--ranks", options.ranks, "MPI ranks; 4")->check(CLI::Range(1, 4096));
  app.add_option("--peers", names, "these peers alone, comma-separated; all but ompio-alone")
      ->delimiter(',')
      ->check(CLI::IsMember(peer_names));
  app.add_option("--dir", directory, "where to put the files; else /dev/shm where it has room, else TMPDIR");
  app.add_option(
      "--launcher", options.launcher,
      "what starts the ranks, instead of \"mpirun -n RANKS\"; --ranks has to tell how many it starts");
  app.add_option("--hints", options.hints, "more hints for the runs under Forebay, k=v;k=v");
  app.add_option("--json", json, "write the results to this file, too");
  app.add_option("--timeout", limit, "seconds after which a launch counts as not fitting; 120")
      ->check(CLI::Range(1, 86400));
  app.add_option("--forebay", options.forebay, "the forebay command")->group("");
  app.add_option("--writer", options.writer, "the program that writes")->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (quick) options.elements = 1 << 20;
  options.limit = std::chrono::seconds(limit);
  return driver_main("forebay-tcio-memory", {json}, [&] { return run(options, names, directory, json); });
}
