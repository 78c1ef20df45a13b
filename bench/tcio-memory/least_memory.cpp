// Runs with less and less.
#include "least_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "compare_bytes.hpp"
#include "launch.hpp"
#include "peer_command.hpp"

namespace forebay::bench {
namespace {

constexpr std::int64_t kFinest = 256 << 10;

// The line that tells most of why a program ended.
std::string cause(const std::string& output) {
  std::istringstream lines(output);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("The command was")) continue;
    line.erase(0, std::min(line.find_first_not_of(" |"), line.size()));
    if (first.empty()) first = line;
    for (const char* word : {"alloc", "memory", "Segmentation"})
      if (line.find(word) != std::string::npos) return line;
  }
  return first;
}

}  // namespace

LeastMemory::LeastMemory(MemoryOptions options, const Peer& reference, const Scratch& scratch)
    : options_(std::move(options)), scratch_(scratch) {
  const LimitedRun found = run(reference, 0);
  if (!found.fits) throw RunFailed(found.why);
}

LimitedRun LeastMemory::run(const Peer& peer, std::int64_t headroom) const {
  const bool reference = peer.kind == Kind::Reference;
  const std::string out = scratch_.file(reference ? "exact.dat" : "tried.dat"),
                    json = scratch_.file("run.json"), stats = scratch_.file("run.stats.json");
  for (const char* left : {"run.json", "run.stats.json", "tried.dat"}) scratch_.remove(left);
  Command command = peer_command(
      peer, {options_.launcher, options_.ranks, options_.forebay, options_.writer, options_.hints, stats},
      scratch_);
  for (const std::string& word :
       {std::string("--row"), fmt::format("size-{}", options_.blocks), std::string("--out"), out,
        std::string("--json"), json, std::string("--elements"), std::to_string(options_.elements),
        std::string("--headroom"), std::to_string(headroom), std::string("--read-back")})
    command.words.push_back(word);
  Launch launch(peer.title, std::move(command));
  LimitedRun result;
  result.headroom = headroom;
  try {
    const nlohmann::json said = launch.run(options_.limit, json, options_.ranks, "rows", 2);
    if (peer.kind == Kind::Forebay) active_file(stats, out, "tcio");
    result.fits = true;
    result.write = said.at("rows")[0].at("data_s");
    result.read = said.at("rows")[1].at("data_s");
    result.right = said.at("rows")[1].at("right").get<bool>() &&
                   (reference || compare_bytes(scratch_.file("exact.dat"), out).same());
  } catch (const RunFailed& failed) {
    result.why = headroom == 0 ? std::string(failed.what()) : cause(failed.what());
  }
  return result;
}

std::optional<std::int64_t> LeastMemory::least(const Peer& peer, std::int64_t most) const {
  const auto runs_in = [&](std::int64_t headroom) {
    const LimitedRun found = run(peer, headroom);
    if (found.fits && !found.right)
      throw RunFailed(fmt::format("{}: within {} bytes it left a wrong file, or read wrong values",
                                  peer.title, headroom));
    return found.fits;
  };
  if (!runs_in(most)) return std::nullopt;
  // Halves, until it does not fit; then between.
  std::int64_t fits = most, fails = 0;
  while (fits - fails > std::max(kFinest, fits / 8)) {
    const std::int64_t between = fails == 0 ? fits / 2 : (fits + fails) / 2;
    (runs_in(between) ? fits : fails) = between;
  }
  return fits;
}

}  // namespace forebay::bench
