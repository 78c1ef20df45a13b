// A plain reader for netCDF's classic formats (CDF-1, CDF-2, CDF-5): it opens recorded maps and says which
// variable lies at a byte, without any library whose behaviour is to be checked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace forebay::bench {

class ClassicFile {
 public:
  struct Dimension {
    std::string name;
    std::int64_t length = 0;  // 0: the record dimension
  };
  struct Attribute {
    std::string name;
    int type = 0;  // netCDF's number
    std::vector<std::byte> values;
  };
  struct Variable {
    std::string name;
    std::vector<int> dimensions;
    int type = 0;
    std::int64_t begin = 0;     // where it starts in the file
    std::int64_t elements = 0;  // of the whole variable, or of one record
    std::int64_t stored = 0;    // bytes it takes in the file, padding included; of one record
    bool record = false;
  };

  // Throws std::runtime_error, with the file's name and what is wrong with it.
  explicit ClassicFile(const std::string& path);
  ClassicFile(const ClassicFile&) = delete;
  ClassicFile& operator=(const ClassicFile&) = delete;
  ~ClassicFile();

  const std::string& path() const { return path_; }
  std::int64_t records() const { return records_; }
  std::span<const Variable> variables() const { return variables_; }
  const Dimension* find_dimension(const std::string& name) const;
  const Attribute* find_attribute(const std::string& name) const;  // of the file
  const Variable* find_variable(const std::string& name) const;

  // Integers of any width, as they stand in the file. Throws when the type is no integer.
  std::vector<std::int64_t> integers(const Attribute& attribute) const;
  std::vector<std::int64_t> integers(const Variable& variable, std::int64_t first, std::int64_t count) const;

  // The raw, big-endian bytes of elements from `first` on, of a variable or of one of its records. A file
  // whose last elements nobody wrote may end before them: they read as zero.
  void read(const Variable& variable, std::int64_t record, std::int64_t first,
            std::span<std::byte> bytes) const;

  // Where the variables begin.
  std::int64_t data_begin() const;

  std::int64_t size() const { return size_; }
  void read_raw(std::int64_t offset, std::span<std::byte> bytes) const {
    read_bytes(offset, bytes, "its data");
  }

  static std::int64_t type_size(int type);  // 0: no such type

 private:
  // Reads what there is; returns what the file is too short for.
  std::span<std::byte> read_some(std::int64_t offset, std::span<std::byte> bytes) const;
  void read_bytes(std::int64_t offset, std::span<std::byte> bytes, const std::string& what) const;
  std::int64_t place(const Variable& variable, std::int64_t record, std::int64_t first,
                     std::span<const std::byte> bytes) const;
  friend class ClassicHeader;

  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  std::int64_t records_ = 0;
  std::int64_t record_bytes_ = 0;
  std::vector<Dimension> dimensions_;
  std::vector<Attribute> attributes_;
  std::vector<Variable> variables_;
};

}  // namespace forebay::bench
