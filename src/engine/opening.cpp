// One message in the good case; names are exchanged where they differ.
#include "engine/opening.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "engine/open_again.hpp"
#include "keeper/connection.hpp"
#include "layout/extent.hpp"
#include "log/leftover.hpp"
#include "ranks/agreement.hpp"
#include "ranks/collective_call.hpp"
#include "storage/descriptors.hpp"
#include "storage/file_system.hpp"

namespace forebay {
namespace {

// The file that a name leads to, also one that does not exist yet; the name itself where that cannot be told,
// as with a prefix for MPI-IO.
std::string resolved(const std::string& name) {
  const auto real = [](const char* path) {
    const std::unique_ptr<char, decltype(&std::free)> found(::realpath(path, nullptr), &std::free);
    return found ? std::string(found.get()) : std::string();
  };
  if (std::string path = real(name.c_str()); !path.empty()) return path;
  const std::string path = real(folder_of(name).c_str());
  return path.empty() ? name : path + "/" + name.substr(name.rfind('/') + 1);
}

constexpr std::size_t kMostValues = 6;

using Name = std::array<char, 4096>;

Name name_of(const std::string& text) {
  Name name{};
  text.copy(name.data(), name.size() - 1);
  return name;
}

Status compare_names(const Opening& o) {
  const int rank = o.ranks.rank();
  const int ranks = o.ranks.size();
  const auto from = [&](int root, const std::string& text) {
    Name name = name_of(text);
    o.ranks.broadcast(name.data(), name.size(), root);
    return std::string(name.data());
  };
  const std::string mine = resolved(o.path);
  const std::string first = from(0, mine);
  const auto other =
      static_cast<int>(o.ranks.minimum(mine.substr(0, Name().size() - 1) == first ? ranks : rank));
  if (other == ranks) return {};
  const std::string theirs = from(other, o.path);
  const std::string root = from(0, o.path);
  return {Code::bad_argument, std::string(o.call) +
                                  ": ranks that open a file together name different ones: rank 0 " + root +
                                  ", rank " + std::to_string(other) + " " + theirs +
                                  (*o.remedy != '\0' ? std::string(". ") + o.remedy : "")};
}

// Each node brings what its own logs have of the file into it; what lies on nodes that take no part stays.
Status settle_on_all_nodes(const Opening& o, const std::string& path) {
  Status status;
  bool elsewhere = true;
  if (o.ranks.split_by_node()->rank() == 0) status = settle_leftover(path, &elsewhere);
  const bool well = o.ranks.all(status.ok());
  const bool settled = !o.ranks.all(elsewhere);
  if (!well) return spread_failure(o.ranks, status);
  if (!settled && o.ranks.rank() == 0) status = settle_leftover(path);
  return o.ranks.all(status.ok()) ? Status{} : spread_failure(o.ranks, status);
}

}  // namespace

// Ranks that read different hints would wait for each other for ever.
Status share_settings(const Communicator& ranks, Status mine, const std::string& path, Settings& settings,
                      std::span<std::int64_t> least) {
  if (mine.ok() && !descriptors_left(kDescriptorsToOpen)) mine = from_errno(EMFILE, "cannot open " + path);
  const bool first = ranks.rank() == 0;
  constexpr std::size_t most_least = 16;
  assert(least.size() <= most_least);
  std::array<std::int64_t, 2 + most_least + agreed_settings + 5> values{};
  std::size_t n = 0;
  // One reduction to the least, to which rank 0 alone gives settings.
  const auto add = [&](std::int64_t value) { values[n++] = value; };
  add(mine.ok() ? 1 : 0);
  add(ranks.is_on_one_node() ? 1 : 0);
  for (const std::int64_t value : least) add(value);
  const std::size_t begin = n;
  for_each_agreed(settings, add);
  add(settings.stats.empty() ? 0 : 1);
  add(settings.trace.empty() ? 0 : 1);
  add(keeper_is_expected(settings.keeper) ? 1 : 0);
  add(settings.log.empty() ? 0 : 1);
  add(settings.stage.empty() ? 0 : 1);
  for (std::size_t i = begin; i < n && !first; ++i) values[i] = kNoOffset;
  if (!ranks.reduce({values.data(), n}, Communicator::Op::minimum))
    return {Code::mpi, "the ranks that open " + path + " cannot reach each other"};
  settings.one_node = values[1] != 0;
  n = 2;
  for (std::int64_t& value : least) value = values[n++];
  if (values[0] == 0) return spread_failure(ranks, mine);
  for_each_agreed(settings, [&](std::int64_t& number) { number = values[n++]; });
  // Only rank 0 writes; the others must know that it gathers.
  for (std::string* const output : {&settings.stats, &settings.trace}) {
    const bool gathers = values[n++] != 0;
    if (!gathers) output->clear();
    if (gathers && output->empty()) *output = "-";
  }
  settings.has_keeper = values[n++] != 0;
  settings.has_log = values[n++] != 0;
  settings.has_stage = values[n] != 0;
  if (auto& nodes = settings.owner_nodes.ranges;
      !nodes.empty() && !ranks.broadcast(nodes.data(), nodes.size() * sizeof nodes.front(), 0))
    return {Code::mpi, "the ranks that open " + path + " cannot reach each other"};
  if (settings.has_log) settings.mode = Mode::commit;
  settings.was_automatic = settings.mode == Mode::automatic;
  if (settings.was_automatic && !settings.has_keeper) settings.mode = settings.without_keeper;
  return {};
}

Status agree_to_open(const Opening& o, Status mine, Settings& settings, std::span<std::int64_t> values) {
  const std::string path = o.path != nullptr ? o.path : "";
  const CollectiveCall call({o.call, path, &o.ranks, false, o.patience_seconds, o.remedy});
  if (!path.empty()) write_what_is_kept_of(path);
  bool elsewhere = false;
  if (!path.empty() && o.ranks.rank() == 0 && mine.ok()) mine = settle_leftover(path, &elsewhere);
  // Of all the least is taken; a name's number and its complement differ where any two names do.
  enum : std::size_t { kName, kNotName, kSettled, kValues };
  std::array<std::int64_t, kValues + kMostValues> all{};
  const auto name = static_cast<std::int64_t>(std::hash<std::string>()(path) >> 1);
  all[kName] = name;
  all[kNotName] = ~name;
  all[kSettled] = elsewhere ? 0 : 1;
  std::copy(values.begin(), values.end(), all.begin() + kValues);
  Status status =
      share_settings(o.ranks, std::move(mine), path, settings, {all.data(), kValues + values.size()});
  std::copy_n(all.begin() + kValues, values.size(), values.begin());
  if (status.ok() && all[kSettled] == 0) status = settle_on_all_nodes(o, path);
  if (!status.ok()) return status;
  const bool same = all[kName] == ~all[kNotName] || (!values.empty() && values.front() == 0);
  return same ? Status{} : compare_names(o);
}

}  // namespace forebay
