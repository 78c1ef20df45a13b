// Reads recorded maps and deals them out; every number is checked before it is used.
#include "map_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <stdexcept>
#include <utility>

namespace forebay::bench {

void MapFile::fail(const std::string& why) const {
  throw std::runtime_error(fmt::format("{} is no decomposition map: {}", file_.path(), why));
}

MapFile::MapFile(const std::string& path) : file_(path) {
  const auto length = [&](const std::string& name, std::int64_t limit) {
    const ClassicFile::Dimension* found = file_.find_dimension(name);
    if (found == nullptr) fail(fmt::format("it has no dimension {}", name));
    if (found->length < 1 || found->length > limit)
      fail(fmt::format("its dimension {} is {}", name, found->length));
    return static_cast<int>(found->length);
  };
  const int decompositions = length("num_decomp", 1000);
  processes_ = length("decomp_nprocs", std::numeric_limits<int>::max() - 1);
  for (int k = 1; k <= decompositions; ++k) recorded_.push_back(read_decomposition(fmt::format("D{}", k)));
}

MapFile::Recorded MapFile::read_decomposition(const std::string& name) const {
  const auto variable = [&](const std::string& what) {
    const ClassicFile::Variable* found = file_.find_variable(name + what);
    if (found == nullptr) fail(fmt::format("it has no variable {}{}", name, what));
    if (found->record) fail(fmt::format("its variable {}{} has a record dimension", name, what));
    return found;
  };
  Recorded read{name, {}, variable(".offsets"), variable(".lengths"), {0}};

  const ClassicFile::Attribute* dims = file_.find_attribute(name + ".dims");
  if (dims == nullptr) fail(fmt::format("it has no attribute {}.dims", name));
  read.shape = file_.integers(*dims);
  if (read.shape.empty() || read.shape.size() > 31)
    fail(fmt::format("{}.dims has {} entries", name, read.shape.size()));
  std::int64_t elements = 1;
  for (const std::int64_t dim : read.shape) {
    if (dim < 1 || dim > std::numeric_limits<std::int64_t>::max() / 64 / elements)
      fail(fmt::format("{}.dims is not a shape: {}", name, fmt::join(read.shape, " x ")));
    elements *= dim;
  }

  const ClassicFile::Variable* nreqs = variable(".nreqs");
  if (nreqs->elements != processes_)
    fail(fmt::format("{}.nreqs has {} entries for {} processes", name, nreqs->elements, processes_));
  for (const std::int64_t count : file_.integers(*nreqs, 0, processes_)) {
    if (count < 0 || count > read.offsets->elements - read.first.back())
      fail(fmt::format("{}.nreqs asks for more requests than {}.offsets has ({})", name, name,
                       read.offsets->elements));
    read.first.push_back(read.first.back() + count);
  }
  if (read.offsets->elements != read.first.back() || read.lengths->elements != read.first.back())
    fail(fmt::format("{}.nreqs sums up to {}, but there are {} offsets and {} lengths", name,
                     read.first.back(), read.offsets->elements, read.lengths->elements));
  return read;
}

std::vector<Decomposition> MapFile::cut(int rank, int ranks) const {
  const auto scaled = [](std::int64_t i, std::int64_t to, std::int64_t of) { return i * to / of; };
  std::vector<Decomposition> cuts;
  for (const Recorded& from : recorded_) {
    std::int64_t begin = 0, end = 0;
    if (ranks <= processes_) {
      begin = from.first[static_cast<std::size_t>(scaled(rank, processes_, ranks))];
      end = from.first[static_cast<std::size_t>(scaled(rank + 1, processes_, ranks))];
    } else {
      const std::int64_t process = scaled(rank, processes_, ranks);
      const auto first_rank = [&](std::int64_t p) {
        return scaled(p, ranks, processes_) + (p * ranks % processes_ != 0);
      };
      const std::int64_t part = rank - first_rank(process);
      const std::int64_t parts = first_rank(process + 1) - first_rank(process);
      const std::int64_t list = from.first[static_cast<std::size_t>(process)];
      const std::int64_t count = from.first[static_cast<std::size_t>(process) + 1] - list;
      begin = list + scaled(part, count, parts);
      end = list + scaled(part + 1, count, parts);
    }
    Decomposition cut{from.name, from.shape, {}};
    const std::vector<std::int64_t> offsets = file_.integers(*from.offsets, begin, end - begin);
    const std::vector<std::int64_t> lengths = file_.integers(*from.lengths, begin, end - begin);
    const std::int64_t elements = volume(from.shape);
    cut.pieces.reserve(offsets.size());
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (offsets[i] < 0 || lengths[i] < 1 || offsets[i] > elements - lengths[i])
        fail(fmt::format("request {} of {} ({} elements at {}) lies outside its {} elements",
                         begin + static_cast<std::int64_t>(i), from.name, lengths[i], offsets[i], elements));
      cut.pieces.push_back({offsets[i], lengths[i]});
    }
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

}  // namespace forebay::bench
