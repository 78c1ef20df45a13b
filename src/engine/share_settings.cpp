// Ranks that read different hints would wait for each other for ever.
#include <array>
#include <cassert>
#include <cerrno>

#include "engine/agreement.hpp"
#include "engine/core_file.hpp"
#include "layout/extent.hpp"
#include "storage/descriptors.hpp"

namespace forebay {

Status share_settings(const Communicator& ranks, Status mine, const std::string& path, Settings& settings,
                      std::span<std::int64_t> least) {
  if (mine.ok() && !descriptors_left(kDescriptorsToOpen)) mine = from_errno(EMFILE, "cannot open " + path);
  const bool first = ranks.rank() == 0;
  constexpr std::size_t most_least = 16;
  assert(least.size() <= most_least);
  std::array<std::int64_t, 1 + most_least + agreed_settings + 1> values{};
  std::size_t n = 0;
  // One reduction to the least, to which rank 0 alone gives settings.
  const auto add = [&](std::int64_t value) { values[n++] = value; };
  add(mine.ok() ? 1 : 0);
  for (const std::int64_t value : least) add(value);
  const std::size_t begin = n;
  for_each_agreed(settings, add);
  add(settings.stats.empty() ? 0 : 1);
  for (std::size_t i = begin; i < n && !first; ++i) values[i] = kNoOffset;
  if (!ranks.reduce({values.data(), n}, Communicator::Op::minimum))
    return {Code::mpi, "the ranks that open " + path + " cannot reach each other"};
  n = 1;
  for (std::int64_t& value : least) value = values[n++];
  if (values[0] == 0) return spread_failure(ranks, mine);
  for_each_agreed(settings, [&](std::int64_t& number) { number = values[n++]; });
  if (values[n] == 0) settings.stats.clear();
  // Only rank 0 writes; the others must know that it gathers.
  if (values[n] != 0 && settings.stats.empty()) settings.stats = "-";
  return {};
}

}  // namespace forebay
