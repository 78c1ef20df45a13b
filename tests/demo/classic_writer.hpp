// Builds small CDF-5 files byte by byte, so that the reader is tested against the format and not against
// itself.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace forebay::bench::test {

class ClassicWriter {
 public:
  static constexpr int text = 2, int32 = 4, real32 = 5, int64 = 10;

  struct Variable {
    std::string name;
    std::vector<int> dimensions;
    int type = int32;
    std::vector<std::int64_t> values;  // of all records, one after another
  };

  std::int64_t records = 0;
  std::vector<std::pair<std::string, std::int64_t>> dimensions;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> attributes;  // of the file, 32-bit integers
  std::vector<Variable> variables;

  std::string bytes() const {
    // Twice: offsets are only known once the header's length is.
    const std::size_t header = write(0).size();
    std::string file = write(header);
    for (const Variable& one : variables)
      if (!is_record(one)) put_values(file, one, 0);
    for (std::int64_t record = 0; record < records; ++record)
      for (const Variable& one : variables)
        if (is_record(one)) put_values(file, one, record);
    return file;
  }

  void save(const std::string& path) const { std::ofstream(path, std::ios::binary) << bytes(); }

  static int size_of(int type) { return type == text ? 1 : type == int64 ? 8 : 4; }

 private:
  static void put(std::string& to, std::uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) to.push_back(static_cast<char>(value >> shift));
  }
  static void pad(std::string& to) {
    while (to.size() % 4 != 0) to.push_back('\0');
  }
  static void put_name(std::string& to, const std::string& name) {
    put(to, name.size(), 8);
    to += name;
    pad(to);
  }

  bool is_record(const Variable& one) const {
    return !one.dimensions.empty() && dimensions[static_cast<std::size_t>(one.dimensions[0])].second == 0;
  }
  std::int64_t elements(const Variable& one) const {
    std::int64_t product = 1;
    for (std::size_t d = is_record(one) ? 1 : 0; d < one.dimensions.size(); ++d)
      product *= dimensions[static_cast<std::size_t>(one.dimensions[d])].second;
    return product;
  }
  std::int64_t stored(const Variable& one) const { return (elements(one) * size_of(one.type) + 3) / 4 * 4; }

  void put_values(std::string& to, const Variable& one, std::int64_t record) const {
    for (std::int64_t i = 0; i < elements(one); ++i) {
      const std::int64_t value = one.values.at(static_cast<std::size_t>(record * elements(one) + i));
      const std::uint64_t raw = one.type == real32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                                                   : static_cast<std::uint64_t>(value);
      put(to, raw, size_of(one.type));
    }
    pad(to);
  }

  std::string write(std::size_t header) const {
    std::string to("CDF\5");
    put(to, static_cast<std::uint64_t>(records), 8);
    put(to, dimensions.empty() ? 0 : 10, 4);
    put(to, dimensions.size(), 8);
    for (const auto& [name, length] : dimensions) {
      put_name(to, name);
      put(to, static_cast<std::uint64_t>(length), 8);
    }
    put(to, attributes.empty() ? 0 : 12, 4);
    put(to, attributes.size(), 8);
    for (const auto& [name, values] : attributes) {
      put_name(to, name);
      put(to, int32, 4);
      put(to, values.size(), 8);
      for (const std::int64_t value : values) put(to, static_cast<std::uint64_t>(value), 4);
    }
    put(to, variables.empty() ? 0 : 11, 4);
    put(to, variables.size(), 8);
    std::size_t fixed = header, record = header;
    for (const Variable& one : variables)
      if (!is_record(one)) record += static_cast<std::size_t>(stored(one));
    for (const Variable& one : variables) {
      put_name(to, one.name);
      put(to, one.dimensions.size(), 8);
      for (const int d : one.dimensions) put(to, static_cast<std::uint64_t>(d), 8);
      put(to, 0, 4);  // no attributes
      put(to, 0, 8);
      put(to, static_cast<std::uint64_t>(one.type), 4);
      put(to, static_cast<std::uint64_t>(stored(one)), 8);
      std::size_t& begin = is_record(one) ? record : fixed;
      put(to, begin, 8);
      begin += static_cast<std::size_t>(stored(one));
    }
    return to;
  }
};

}  // namespace forebay::bench::test
