// Tables of variables for the cases that have recorded maps, and the function that gives an element its
// value.
#include "history.hpp"

#include <fmt/format.h>

#include <cstring>

namespace forebay::bench {
namespace {

// SplitMix64's finaliser.
std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// All exact in their type, never NaN.
template <typename T>
T make_value(std::uint64_t bits);
template <>
float make_value(std::uint64_t bits) {
  return static_cast<float>(static_cast<std::int32_t>(bits >> 40) - (1 << 23)) / 256.0f;
}
template <>
double make_value(std::uint64_t bits) {
  return static_cast<double>(static_cast<std::int64_t>(bits >> 11) - (std::int64_t{1} << 52)) / 1048576.0;
}
template <>
std::int32_t make_value(std::uint64_t bits) {
  return static_cast<std::int32_t>(bits >> 32);
}
template <>
char make_value(std::uint64_t bits) {
  return static_cast<char>('a' + static_cast<int>(bits % 26));
}

template <typename T>
void make_values_as(std::uint64_t seed, std::int64_t first, std::int64_t count, std::byte* values) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T value = make_value<T>(scramble(seed + static_cast<std::uint64_t>(first + i)));
    std::memcpy(values + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

class Builder {
 public:
  Builder(std::span<const Decomposition> decompositions, std::int64_t records)
      : decompositions_(decompositions) {
    history_.records = records;
  }

  History take(std::string title) {
    history_.title = std::move(title);
    return std::move(history_);
  }

  int dimension(const std::string& name, std::int64_t length) {
    for (std::size_t i = 0; i < history_.dimensions.size(); ++i)
      if (history_.dimensions[i].name == name) return static_cast<int>(i);
    history_.dimensions.push_back({name, length});
    return static_cast<int>(history_.dimensions.size()) - 1;
  }

  // `names`: one for each of the decomposition's dimensions; those that another length took already get names
  // of their own.
  void partitioned(int decomposition, const std::vector<std::string>& names, const std::string& stem,
                   int count, Type type, bool record) {
    const Decomposition& over = decompositions_[static_cast<std::size_t>(decomposition)];
    std::vector<int> dims;
    for (std::size_t d = 0; d < over.shape.size(); ++d) {
      const std::string own = fmt::format("{}_dim{}", over.name, d);
      int found = dimension(d < names.size() ? names[d] : own, over.shape[d]);
      if (history_.dimensions[static_cast<std::size_t>(found)].length != over.shape[d])
        found = dimension(own, over.shape[d]);
      dims.push_back(found);
    }
    for (int i = 0; i < count; ++i)
      add(count == 1 ? stem : fmt::format("{}_{:03}", stem, i + 1), type, decomposition, record, dims);
  }

  void whole(const std::string& name, Type type, bool record, const std::vector<int>& dims = {}) {
    add(name, type, -1, record, dims);
  }

 private:
  void add(const std::string& name, Type type, int decomposition, bool record, const std::vector<int>& dims) {
    Variable made{name, "1", fmt::format("demo field {}", name), type, decomposition, record, dims, 0};
    made.id = history_.variables.size();
    history_.variables.push_back(std::move(made));
  }

  std::span<const Decomposition> decompositions_;
  History history_;
};

// E3SM's atmosphere: 387 partitioned variables, 384 of them float records, and 27 others.
History atmosphere(std::span<const Decomposition> decompositions, std::int64_t records) {
  Builder build(decompositions, records);
  const std::vector<std::string> flat = {"ncol"}, deep = {"lev", "ncol"};
  build.partitioned(1, flat, "lat", 1, Type::Double, false);
  build.partitioned(1, flat, "lon", 1, Type::Double, false);
  build.partitioned(0, flat, "area", 1, Type::Double, false);

  const std::int64_t levels = decompositions[2].shape.front();
  const int lev = build.dimension("lev", levels), ilev = build.dimension("ilev", levels + 1);
  const int nbnd = build.dimension("nbnd", 2), chars = build.dimension("chars", 8);
  for (const char* name : {"lev", "hyam", "hybm"}) build.whole(name, Type::Double, false, {lev});
  for (const char* name : {"ilev", "hyai", "hybi"}) build.whole(name, Type::Double, false, {ilev});
  build.whole("P0", Type::Double, false);
  for (const char* name : {"ndbase", "nsbase", "nbdate", "nbsec", "mdt"}) build.whole(name, Type::Int, false);
  build.whole("time", Type::Double, true);
  build.whole("time_bnds", Type::Double, true, {nbnd});
  for (const char* name : {"date", "datesec", "ndcur", "nscur", "nsteph"}) build.whole(name, Type::Int, true);
  for (const char* name : {"date_written", "time_written"}) build.whole(name, Type::Text, true, {chars});
  for (const char* name : {"co2vmr", "ch4vmr", "n2ovmr", "f11vmr", "f12vmr", "sol_tsi"})
    build.whole(name, Type::Double, true);

  build.partitioned(1, flat, "surface_field", 321, Type::Float, true);
  build.partitioned(2, deep, "level_field", 63, Type::Float, true);
  return build.take("E3SM F case history (atmosphere)");
}

// E3SM's ocean: 41 partitioned variables, double records, and 11 others.
History ocean(std::span<const Decomposition> decompositions, std::int64_t records) {
  Builder build(decompositions, records);
  const int chars = build.dimension("chars", 64);
  for (const char* name : {"volume_total", "volume_min", "volume_max", "energy_total", "energy_max"})
    build.whole(name, Type::Double, true);
  build.whole("xtime", Type::Text, true, {chars});
  for (const char* name : {"calendar_start", "calendar_end"}) build.whole(name, Type::Text, false, {chars});
  build.whole("time", Type::Double, true);
  build.whole("step", Type::Int, true);
  build.whole("layers", Type::Int, false);
  constexpr int counts[] = {6, 2, 25, 2, 2, 4};
  for (int k = 0; k < 6; ++k)
    build.partitioned(k, {}, fmt::format("ocean_field_D{}", k + 1), counts[k], Type::Double, true);
  return build.take("E3SM G case history (ocean)");
}

History anything(std::span<const Decomposition> decompositions, std::int64_t records) {
  Builder build(decompositions, records);
  build.whole("time", Type::Double, true);
  build.whole("step", Type::Int, true);
  build.whole("version", Type::Int, false);
  for (std::size_t k = 0; k < decompositions.size(); ++k) {
    const int at = static_cast<int>(k);
    const std::string name = decompositions[k].name;
    build.partitioned(at, {}, "fixed_" + name, 1, Type::Double, false);
    build.partitioned(at, {}, "float_" + name, decompositions[k].shape.size() == 1 ? 32 : 8, Type::Float,
                      true);
    build.partitioned(at, {}, "double_" + name, 2, Type::Double, true);
    build.partitioned(at, {}, "int_" + name, 2, Type::Int, true);
  }
  return build.take(fmt::format("history over {} decompositions", decompositions.size()));
}

}  // namespace

std::size_t size_of(Type type) {
  switch (type) {
    case Type::Float:
      return 4;
    case Type::Double:
      return 8;
    case Type::Int:
      return 4;
    case Type::Text:
      return 1;
  }
  return 0;
}

Shape History::shape(const Variable& variable) const {
  Shape lengths;
  for (const int d : variable.dimensions) lengths.push_back(dimensions[static_cast<std::size_t>(d)].length);
  return lengths;
}

History make_history(std::span<const Decomposition> decompositions, std::int64_t records) {
  switch (decompositions.size()) {
    case 3:
      return atmosphere(decompositions, records);
    case 6:
      return ocean(decompositions, records);
    default:
      return anything(decompositions, records);
  }
}

void make_values(const Variable& variable, std::int64_t record, std::int64_t first, std::int64_t count,
                 std::byte* values) {
  const std::uint64_t seed =
      scramble(variable.id * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(record) + 1);
  switch (variable.type) {
    case Type::Float:
      return make_values_as<float>(seed, first, count, values);
    case Type::Double:
      return make_values_as<double>(seed, first, count, values);
    case Type::Int:
      return make_values_as<std::int32_t>(seed, first, count, values);
    case Type::Text:
      return make_values_as<char>(seed, first, count, values);
  }
}

std::vector<Piece> pieces_of(const History& history, const Variable& variable,
                             std::span<const Decomposition> decompositions, int rank) {
  if (variable.decomposition >= 0)
    return decompositions[static_cast<std::size_t>(variable.decomposition)].pieces;
  if (rank != 0) return {};
  return {{0, volume(history.shape(variable))}};
}

}  // namespace forebay::bench
