// Ranks that read different hints would wait for each other for ever.
#include <array>
#include <cerrno>

#include "engine/agreement.hpp"
#include "engine/core_file.hpp"
#include "layout/extent.hpp"
#include "mpi/collective.hpp"
#include "mpi/handles.hpp"
#include "storage/descriptors.hpp"

namespace forebay {
namespace {

/// What is shared, all but the name of the report.
template <class F>
void for_each_number(Settings& s, F&& f) {
  const auto other = [&](auto& value) {
    auto number = static_cast<std::int64_t>(value);
    f(number);
    value = static_cast<std::remove_reference_t<decltype(value)>>(number);
  };
  other(s.enabled);
  other(s.mode);
  other(s.storage);
  other(s.link);
  other(s.metadata);
  other(s.fill_holes);
  other(s.check);
  other(s.stripe_bytes);
  other(s.window_bytes);
  other(s.memory_bytes);
  other(s.bypass_bytes);
  other(s.pool_bytes);
  other(s.segment_bytes);
  other(s.segments);
  other(s.commit_seconds);
  other(s.patience_seconds);
  other(s.aggregators_per_node);
  other(s.aggregators);
  other(s.aggregator_bytes);
  other(s.ranks_per_node);
}

}  // namespace

Status share_settings(MPI_Comm comm, Status mine, const std::string& path, Settings& settings,
                      std::span<std::int64_t> least) {
  if (mine.ok() && !descriptors_left(kDescriptorsToOpen)) mine = from_errno(EMFILE, "cannot open " + path);
  const bool first = mpi::rank(comm) == 0;
  constexpr std::size_t most = 32;
  std::array<std::int64_t, most> values{};
  std::size_t n = 0;
  // One reduction to the least, to which rank 0 alone gives settings.
  const auto add = [&](std::int64_t value) { values[n++] = value; };
  add(mine.ok() ? 1 : 0);
  for (const std::int64_t value : least) add(value);
  const std::size_t begin = n;
  for_each_number(settings, add);
  add(settings.stats.empty() ? 0 : 1);
  for (std::size_t i = begin; i < n && !first; ++i) values[i] = kNoOffset;
  if (mpi::allreduce(values.data(), static_cast<int>(n), MPI_INT64_T, MPI_MIN, comm) != MPI_SUCCESS)
    return {Code::mpi, "the ranks that open " + path + " cannot reach each other"};
  n = 1;
  for (std::int64_t& value : least) value = values[n++];
  if (values[0] == 0) return spread_failure(comm, mine);
  for_each_number(settings, [&](std::int64_t& number) { number = values[n++]; });
  if (values[n] == 0) settings.stats.clear();
  // Only rank 0 writes; the others must know that it gathers.
  if (values[n] != 0 && settings.stats.empty()) settings.stats = "-";
  return {};
}

}  // namespace forebay
