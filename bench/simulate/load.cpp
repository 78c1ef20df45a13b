// Values by place.
#include "load.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace forebay::simulate {
namespace {

// Of the four bytes at a multiple of four. Never 0, which is what nobody has put.
std::uint32_t value_at(std::int64_t offset) {
  const std::uint32_t mixed = static_cast<std::uint32_t>(offset / 4) * 0x9E3779B1U;
  return mixed == 0 ? 1 : mixed;
}

// Calls f(run, index of its request) for all runs.
template <class F>
void for_each_run(std::vector<std::unique_ptr<Cursor>>& cursors, F&& f) {
  std::array<Run, 256> batch;
  for (std::size_t r = 0; r < cursors.size(); ++r) {
    cursors[r]->start(4096);
    while (const std::size_t n = cursors[r]->take(kNoOffset, batch)) {
      for (std::size_t i = 0; i < n; ++i) f(batch[i], r);
    }
  }
}

// The offset of the first wrong byte of a run, -1: none; `count`: adds how many are wrong.
std::int64_t check(const Run& run, const std::byte* bytes, std::int64_t& count) {
  std::int64_t first = -1;
  for (std::int64_t i = 0; i < run.length; i += 4) {
    const std::uint32_t wanted = value_at(run.file + i);
    if (std::memcmp(bytes + i, &wanted, 4) == 0) continue;
    for (std::int64_t b = 0; b < 4; ++b) {
      if (std::memcmp(bytes + i + b, reinterpret_cast<const std::byte*>(&wanted) + b, 1) == 0) continue;
      if (first < 0) first = run.file + i + b;
      ++count;
    }
  }
  return first;
}

}  // namespace

Load::Load(const Pattern& pattern, int rank, bool filled) : cursors_(pattern.requests(rank)) {
  std::size_t bytes = 0;
  for (const auto& cursor : cursors_) {
    begins_.push_back(bytes);
    bytes += static_cast<std::size_t>(cursor->stream_bytes());
  }
  memory_.resize(bytes);
  for_each_run(cursors_, [&](const Run& run, std::size_t r) {
    ++pieces_;
    if (!filled) return;
    std::byte* const at = memory(r) + run.stream;
    for (std::int64_t i = 0; i < run.length; i += 4) {
      const std::uint32_t value = value_at(run.file + i);
      std::memcpy(at + i, &value, 4);
    }
  });
}

std::vector<Item> Load::items() {
  std::vector<Item> items;
  items.reserve(static_cast<std::size_t>(pieces_));
  for_each_run(cursors_, [&](const Run& run, std::size_t r) {
    items.push_back({run.file, run.length, memory(r) + run.stream});
  });
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.offset < b.offset; });
  return items;
}

std::int64_t Load::first_wrong() {
  std::int64_t first = -1, count = 0;
  for_each_run(cursors_, [&](const Run& run, std::size_t r) {
    const std::int64_t wrong = check(run, memory(r) + run.stream, count);
    if (first < 0) first = wrong;
  });
  return first;
}

Wrong compare(const File& file, const Pattern& pattern, int ranks) {
  Wrong wrong;
  std::vector<bool> put(static_cast<std::size_t>(file.size() / 4 + 1), false);
  for (int rank = 0; rank < ranks; ++rank) {
    auto cursors = pattern.requests(rank);
    for_each_run(cursors, [&](const Run& run, std::size_t) {
      const std::int64_t first = check(run, file.bytes() + run.file, wrong.bytes);
      if (first >= 0 && wrong.first < 0) wrong.first = first, wrong.rank = rank;
      std::fill_n(put.begin() + run.file / 4, run.length / 4, true);
    });
  }
  for (std::int64_t at = 0; at < file.size(); ++at) {
    if (put[static_cast<std::size_t>(at / 4)] || file.bytes()[at] == std::byte{}) continue;
    ++wrong.bytes;
    if (wrong.first < 0) wrong.first = at;
  }
  return wrong;
}

}  // namespace forebay::simulate
