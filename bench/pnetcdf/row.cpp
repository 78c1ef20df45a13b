// Makes rows by name, and what they share.
#include "row.hpp"

#include <mpi.h>

#include <cstring>
#include <stdexcept>

namespace forebay::bench {

std::unique_ptr<Row> make_row(std::string_view name, const Setting& setting) {
  if (name == "f-1") return make_e3sm_row(setting, false, 1);
  if (name == "f-16") return make_e3sm_row(setting, false, 16);
  if (name == "g-1") return make_e3sm_row(setting, true, 1);
  if (name == "g-16") return make_e3sm_row(setting, true, 16);
  if (name == "s3d") return make_s3d_row(setting);
  if (name == "btio") return make_btio_row(setting);
  if (name == "wrf") return make_wrf_row(setting);
  if (name == "tiny-4") return make_tiny_row(setting, 4);
  if (name == "tiny-16") return make_tiny_row(setting, 16);
  if (name == "small-puts") return make_small_row(setting, true);
  if (name == "small-waits") return make_small_row(setting, false);
  throw std::runtime_error("there is no row " + std::string(name));
}

void fill_values(std::span<std::byte> values, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u;
  for (std::size_t at = 0; at < values.size(); at += 8) {
    state += 0x9e3779b97f4a7c15u;
    std::uint64_t x = state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    // No exponent of a float or a double is all ones, in either half: every value is a number.
    x = ((x ^ (x >> 31)) & 0x3fffffff3fffffffu) | 0x0101010101010101u;
    std::memcpy(values.data() + at, &x, std::min<std::size_t>(8, values.size() - at));
  }
}

Range part_of(std::int64_t length, int part, int parts) {
  return {length * part / parts, length * (part + 1) / parts};
}

std::vector<int> factors(int parts, int dimensions) {
  std::vector<int> found(static_cast<std::size_t>(dimensions), 0);
  MPI_Dims_create(parts, dimensions, found.data());
  return found;
}

}  // namespace forebay::bench
