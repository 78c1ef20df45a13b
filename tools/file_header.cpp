// HDF5's superblock, and the header of netCDF's classic formats, by their specifications.
#include "file_header.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace forebay::tools {
namespace {

/// The file's bytes one after the other. Throws where it ends.
class Bytes {
 public:
  Bytes(int descriptor, std::int64_t at, std::int64_t size) : descriptor_(descriptor), at_(at), size_(size) {}

  std::uint64_t big(int width) {
    std::uint64_t value = 0;
    for (int i = 0; i < width; ++i) value = value << 8 | next();
    return value;
  }
  std::uint64_t little(int width) {
    std::uint64_t value = 0;
    for (int i = 0; i < width; ++i) value |= static_cast<std::uint64_t>(next()) << (8 * i);
    return value;
  }
  void skip(std::uint64_t bytes) {
    if (bytes > static_cast<std::uint64_t>(size_ - at_))
      throw std::runtime_error("it ends within its header");
    at_ += static_cast<std::int64_t>(bytes);
  }
  std::int64_t left() const { return size_ - at_; }

 private:
  std::uint8_t next() {
    if (at_ >= size_) throw std::runtime_error("it ends within its header");
    if (at_ < begin_ || at_ >= begin_ + got_) {
      begin_ = at_;
      got_ = ::pread(descriptor_, buffer_.data(), buffer_.size(), static_cast<off_t>(at_));
      if (got_ <= 0) throw std::runtime_error("its header cannot be read");
    }
    return buffer_[static_cast<std::size_t>(at_++ - begin_)];
  }

  int descriptor_;
  std::int64_t at_, size_;
  std::int64_t begin_ = 0;
  ssize_t got_ = 0;
  std::array<std::uint8_t, 65536> buffer_{};
};

// ---- HDF5 ----

constexpr std::string_view kHdf5 = "\x89HDF\r\n\x1a\n";

/// Where the superblock lies: at the beginning, or behind a user block. -1: there is none.
std::int64_t superblock_at(int descriptor, std::int64_t bytes) {
  for (std::int64_t at = 0; at + 8 <= bytes; at = at == 0 ? 512 : 2 * at) {
    std::array<char, 8> found{};
    if (::pread(descriptor, found.data(), found.size(), static_cast<off_t>(at)) == 8 &&
        std::string_view(found.data(), found.size()) == kHdf5)
      return at;
  }
  return -1;
}

void read_superblock(Bytes bytes, FileHeader& header) {
  bytes.skip(kHdf5.size());
  const auto version = static_cast<int>(bytes.little(1));
  header.format = fmt::format("HDF5, superblock {}", version);
  if (version > 3) throw std::runtime_error("a newer HDF5 wrote it");
  if (version < 2) bytes.skip(4);  // versions of parts, and a byte for later
  const auto width = static_cast<int>(bytes.little(1));
  bytes.skip(1);
  if (width < 1 || width > 8) throw std::runtime_error("its superblock is damaged");
  if (version < 2) {
    bytes.skip(1 + 2 + 2 + 4 + (version == 1 ? 4U : 0U));
  } else {
    // Before version 3 nobody marks open files.
    const std::uint64_t flags = bytes.little(1);
    header.open_for_writing = version == 3 && (flags & 1) != 0;
    header.swmr = version == 3 && (flags & 4) != 0;
  }
  bytes.skip(2 * static_cast<std::uint64_t>(width));
  const std::uint64_t end = bytes.little(width);
  if (end <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    header.told_end = static_cast<std::int64_t>(end);
}

// ---- netCDF ----

/// A variable of records.
struct RecordVariable {
  std::uint64_t begin;  // of its first record
  std::uint64_t bytes;  // of one record
};

class ClassicHeader {
 public:
  ClassicHeader(Bytes bytes, int version)
      : bytes_(std::move(bytes)), count_width_(version == 5 ? 8 : 4), offset_width_(version == 1 ? 4 : 8) {}

  void read(FileHeader& header, std::int64_t file_bytes) {
    bytes_.skip(4);
    const std::uint64_t records = count();
    const bool streaming = records == (count_width_ == 8 ? ~std::uint64_t{0} : 0xffffffffU);
    read_dimensions();
    skip_attributes();
    std::vector<RecordVariable> in_records;
    std::uint64_t end = read_variables(in_records);
    if (!in_records.empty()) {
      std::uint64_t stride = 0;
      for (const RecordVariable& each : in_records) stride += padded(each.bytes);
      // One alone is not padded.
      if (in_records.size() == 1) stride = in_records.front().bytes;
      if (!streaming) header.records = to_signed(records);
      header.whole_records = to_signed(whole(in_records, stride, static_cast<std::uint64_t>(file_bytes)));
      for (const RecordVariable& each : in_records) {
        if (header.records > 0) end = std::max(end, each.begin + checked(records - 1, stride) + each.bytes);
      }
    }
    // Up to three bytes at the end may be padding.
    if (header.records >= 0 && header.whole_records > header.records && file_bytes - to_signed(end) <= 3)
      header.whole_records = header.records;
    header.told_end = to_signed(end);
  }

 private:
  static std::uint64_t padded(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }
  static std::int64_t to_signed(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      throw std::runtime_error("its header is damaged");
    return static_cast<std::int64_t>(value);
  }
  static std::uint64_t checked(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) throw std::runtime_error("its header is damaged");
    return product;
  }
  std::uint64_t count() { return bytes_.big(count_width_); }
  /// Of a list with so much for each entry at least.
  std::uint64_t entries(std::uint64_t least) {
    bytes_.skip(4);  // its tag
    const std::uint64_t n = count();
    if (n > static_cast<std::uint64_t>(bytes_.left()) / least)
      throw std::runtime_error("its header is damaged, or ends too soon");
    return n;
  }
  std::uint64_t element_bytes() {
    constexpr std::array<std::uint64_t, 12> sizes{0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    const std::uint64_t type = bytes_.big(4);
    if (type == 0 || type >= sizes.size()) throw std::runtime_error("its header is damaged");
    return sizes[type];
  }
  void skip_name() { bytes_.skip(padded(count())); }

  void read_dimensions() {
    for (std::uint64_t n = entries(8); n > 0; --n) {
      skip_name();
      lengths_.push_back(count());
    }
  }
  void skip_attributes() {
    for (std::uint64_t n = entries(8); n > 0; --n) {
      skip_name();
      const std::uint64_t element = element_bytes();
      bytes_.skip(padded(checked(count(), element)));
    }
  }
  /// The end of the last one without records.
  std::uint64_t read_variables(std::vector<RecordVariable>& in_records) {
    std::uint64_t end = 0;
    for (std::uint64_t n = entries(16); n > 0; --n) {
      skip_name();
      std::uint64_t size = 1;
      bool records = false;
      const std::uint64_t dimensions = count();
      for (std::uint64_t d = 0; d < dimensions; ++d) {
        const std::uint64_t id = count();
        if (id >= lengths_.size()) throw std::runtime_error("its header is damaged");
        if (lengths_[id] == 0 && d == 0)
          records = true;
        else
          size = checked(size, lengths_[id]);
      }
      skip_attributes();
      size = checked(size, element_bytes());
      (void)count();  // its size, which may be more than fits there
      const std::uint64_t begin = bytes_.big(offset_width_);
      if (records)
        in_records.push_back({begin, size});
      else
        end = std::max(end, begin + size);
    }
    return end;
  }
  static std::uint64_t whole(const std::vector<RecordVariable>& variables, std::uint64_t stride,
                             std::uint64_t file_bytes) {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (const RecordVariable& each : variables) {
      if (each.bytes == 0) continue;
      const bool any = each.begin + each.bytes <= file_bytes;
      least = std::min(least, any ? (file_bytes - each.begin - each.bytes) / stride + 1 : 0);
    }
    return least == std::numeric_limits<std::uint64_t>::max() ? 0 : least;
  }

  Bytes bytes_;
  int count_width_, offset_width_;
  std::vector<std::uint64_t> lengths_;
};

}  // namespace

FileHeader read_header(int descriptor, std::int64_t bytes) {
  FileHeader header;
  std::array<char, 4> magic{};
  const bool short_one = ::pread(descriptor, magic.data(), magic.size(), 0) != 4;
  try {
    if (!short_one && std::string_view(magic.data(), 3) == "CDF" &&
        (magic[3] == 1 || magic[3] == 2 || magic[3] == 5)) {
      header.format = fmt::format("netCDF, CDF-{}", static_cast<int>(magic[3]));
      ClassicHeader(Bytes(descriptor, 0, bytes), magic[3]).read(header, bytes);
    } else if (const std::int64_t at = superblock_at(descriptor, bytes); at >= 0) {
      read_superblock(Bytes(descriptor, at, bytes), header);
    }
  } catch (const std::exception& error) {
    header.problem = error.what();
  }
  return header;
}

}  // namespace forebay::tools
