// What rows share.
#include "row.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace forebay::bench {

namespace {

class ProgramRow final : public Row {
 public:
  explicit ProgramRow(std::unique_ptr<Row> row) : row_(std::move(row)) {
    tally(row_->pieces(), row_->bytes());
  }

  void create(const std::string& path, MPI_Info info) override {
    path_ = path;
    info_ = info;
  }
  void write() override {
    row_->create(path_, info_);
    row_->write();
  }
  void close() override { row_->close(); }

 private:
  std::unique_ptr<Row> row_;
  std::string path_;
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace

std::unique_ptr<Row> from_create(std::unique_ptr<Row> row) {
  return std::make_unique<ProgramRow>(std::move(row));
}

void Row::open(const std::string&, MPI_Info) {
  throw std::runtime_error("this row is not read back");
}

void Row::read() {}

bool Row::same() const {
  return false;
}

std::vector<std::byte> unread(std::span<const std::byte> values) {
  std::vector<std::byte> other(values.size());
  std::transform(values.begin(), values.end(), other.begin(), [](std::byte b) { return ~b; });
  return other;
}

bool all_read(std::span<const std::byte> values, std::span<const std::byte> got, std::int64_t bytes) {
  std::int64_t equal = 0;
  for (std::size_t i = 0; i < values.size() && i < got.size(); ++i) equal += values[i] == got[i] ? 1 : 0;
  return equal == bytes;
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
