// What every rank puts where, and what may be found there afterwards: for the program that ends and for the
// one that checks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

namespace endings {

inline constexpr int kWidth = 37;  // elements of a rank in a row
inline constexpr int kSteps = 300;
inline constexpr std::size_t kMostBytes = 12;

/// One array of rows. Step s puts row s % rows, so that later steps put over earlier ones.
struct Array {
  std::int64_t offset = -1;  // in the file; -1: the library has no such array
  std::int64_t row_bytes = 0;
  int element_bytes = 0;
};

enum : std::size_t {
  kBlocks,   // 4 bytes, each rank's together
  kMixed,    // 8 bytes, the ranks' in turns; the records of a PnetCDF file
  kTriples,  // 12 bytes, likewise: edges of segments cut some
  kArrays
};
inline constexpr std::array<int, kArrays> kElementBytes{4, 8, 12};

struct Facts {
  std::string library;
  int ranks = 0;
  int rows = 0;
  int prefilled = 0;    // everything was 0xff, and synced
  int counts_puts = 0;  // the header counts what was promised
  std::array<Array, kArrays> arrays;

  void write(const std::string& folder) const {
    std::ofstream out(folder + "/facts");
    out << library << ' ' << ranks << ' ' << rows << ' ' << prefilled << ' ' << counts_puts;
    for (const Array& a : arrays) out << ' ' << a.offset << ' ' << a.row_bytes << ' ' << a.element_bytes;
  }
  bool read(const std::string& folder) {
    std::ifstream in(folder + "/facts");
    in >> library >> ranks >> rows >> prefilled >> counts_puts;
    for (Array& a : arrays) in >> a.offset >> a.row_bytes >> a.element_bytes;
    return static_cast<bool>(in);
  }
};

inline int column_of(std::size_t array, int rank, int i, int ranks) {
  return array == kBlocks ? rank * kWidth + i : i * ranks + rank;
}

/// The bytes of an element: none of them 0 or 0xff, so that no mixture with what was there before looks
/// whole.
inline std::array<std::uint8_t, kMostBytes> value_of(std::size_t array, int step, int column) {
  std::array<std::uint8_t, kMostBytes> bytes{};
  std::uint64_t mix =
      array * 1000003 + static_cast<std::uint64_t>(step) * 131071 + static_cast<std::uint64_t>(column);
  for (std::uint8_t& byte : bytes) {
    mix = mix * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<std::uint8_t>(1 + (mix >> 33) % 254);
  }
  return bytes;
}

/// In memory that outlives the rank.
struct Progress {
  volatile std::int64_t promised;  // so many steps are in the file by what a call has promised
  volatile std::int64_t begun;
};

}  // namespace endings
