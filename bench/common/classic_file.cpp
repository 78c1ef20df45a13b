// The header grammar of the classic netCDF formats, read with every length checked against the file.
#include "classic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

namespace forebay::bench {
namespace {

enum Type { type_byte = 1, type_short = 3, type_int = 4, type_ubyte = 7, type_uint64 = 11 };
constexpr std::int64_t tag_dimensions = 10, tag_variables = 11, tag_attributes = 12;

std::int64_t padded(std::int64_t bytes) {
  return (bytes + 3) / 4 * 4;
}

std::uint64_t big_endian(const std::byte* from, std::int64_t size) {
  std::uint64_t value = 0;
  for (std::int64_t i = 0; i < size; ++i) value = (value << 8) | std::to_integer<std::uint64_t>(from[i]);
  return value;
}

bool is_signed(int type) {
  return type == type_byte || type == type_short || type == type_int || type == 10;
}

bool is_integer(int type) {
  return is_signed(type) || (type >= type_ubyte && type <= type_uint64);
}

std::int64_t decode_integer(const std::byte* from, int type) {
  const std::int64_t size = ClassicFile::type_size(type);
  const int unused = static_cast<int>(64 - 8 * size);
  const std::uint64_t value = big_endian(from, size) << unused;
  return is_signed(type) ? static_cast<std::int64_t>(value) >> unused
                         : static_cast<std::int64_t>(value >> unused);
}

}  // namespace

// Walks the header from its start, in one pass.
class ClassicHeader {
 public:
  explicit ClassicHeader(ClassicFile& file) : file_(file) {}

  void parse() {
    const std::string magic = text(4, "the magic number");
    if (magic == "\x89HDF") fail("is an HDF5 (netCDF-4) file; a CDF-1, CDF-2 or CDF-5 file is needed");
    if (magic.substr(0, 3) != "CDF") fail("is not a netCDF file: it does not begin with \"CDF\"");
    version_ = magic[3];
    if (version_ != 1 && version_ != 2 && version_ != 5)
      fail(fmt::format("has format version {}, where 1, 2 and 5 are known", version_));
    file_.records_ = size("the number of records");
    const std::int64_t streaming = version_ == 5 ? -1 : std::int64_t{0xffffffff};
    if (file_.records_ == streaming) fail("does not say how many records it has");
    for (std::int64_t left = list(tag_dimensions, "dimensions"); left > 0; --left) dimension();
    file_.attributes_ = attributes();
    for (std::int64_t left = list(tag_variables, "variables"); left > 0; --left) variable();
    lay_out_records();
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error(fmt::format("{} {}", file_.path_, why));
  }

  void fetch(std::span<std::byte> to, const std::string& what) {
    file_.read_bytes(at_, to, what);
    at_ += static_cast<std::int64_t>(to.size());
  }

  std::int64_t number(std::int64_t bytes, const std::string& what) {
    std::byte raw[8];
    fetch(std::span(raw, static_cast<std::size_t>(bytes)), what);
    return static_cast<std::int64_t>(big_endian(raw, bytes));
  }

  // A count or a length: 4 bytes before CDF-5.
  std::int64_t size(const std::string& what) { return number(version_ == 5 ? 8 : 4, what); }

  std::string text(std::int64_t length, const std::string& what) {
    if (length < 0 || length > file_.size_ - at_)
      fail(fmt::format("is malformed or cut short: {} would be {} bytes long", what, length));
    std::string value(static_cast<std::size_t>(length), '\0');
    fetch(std::as_writable_bytes(std::span(value)), what);
    return value;
  }

  std::string name(const std::string& what) {
    const std::int64_t length = size("the name of " + what);
    std::string value = text(length, "the name of " + what);
    at_ += padded(length) - length;
    return value;
  }

  std::int64_t list(std::int64_t expected, const std::string& what) {
    const std::int64_t tag = number(4, "the list of " + what);
    const std::int64_t count = size("the number of " + what);
    if ((tag != expected && tag != 0) || (tag == 0 && count != 0))
      fail(fmt::format("is malformed: no list of {} where one belongs", what));
    if (count < 0 || count > file_.size_) fail(fmt::format("is malformed: it claims {} {}", count, what));
    return count;
  }

  void dimension() {
    ClassicFile::Dimension read{name("a dimension"), 0};
    read.length = size("the length of dimension " + read.name);
    if (read.length < 0)
      fail(fmt::format("is malformed: dimension {} has length {}", read.name, read.length));
    file_.dimensions_.push_back(std::move(read));
  }

  std::vector<ClassicFile::Attribute> attributes() {
    std::vector<ClassicFile::Attribute> read;
    for (std::int64_t left = list(tag_attributes, "attributes"); left > 0; --left) {
      ClassicFile::Attribute one;
      one.name = name("an attribute");
      const std::string what = "attribute " + one.name;
      one.type = static_cast<int>(number(4, what));
      const std::int64_t element = ClassicFile::type_size(one.type), count = size(what);
      if (element == 0 || count < 0 || count > (file_.size_ - at_) / element)
        fail(fmt::format("is malformed or cut short at {}", what));
      one.values.resize(static_cast<std::size_t>(element * count));
      fetch(one.values, what);
      at_ += padded(element * count) - element * count;
      read.push_back(std::move(one));
    }
    return read;
  }

  void variable() {
    ClassicFile::Variable one;
    one.name = name("a variable");
    const std::string what = "variable " + one.name;
    const std::int64_t rank = size(what);
    if (rank < 0 || rank > 1024) fail(fmt::format("is malformed: {} has {} dimensions", what, rank));
    one.elements = 1;
    for (std::int64_t d = 0; d < rank; ++d) {
      const std::int64_t id = size(what);
      if (id < 0 || id >= static_cast<std::int64_t>(file_.dimensions_.size()))
        fail(fmt::format("is malformed: {} uses a dimension that is not there", what));
      const std::int64_t length = file_.dimensions_[static_cast<std::size_t>(id)].length;
      one.dimensions.push_back(static_cast<int>(id));
      if (d == 0 && length == 0)
        one.record = true;
      else if (length != 0 && one.elements > std::numeric_limits<std::int64_t>::max() / 16 / length)
        fail(fmt::format("is malformed: {} has more elements than can be counted", what));
      else
        one.elements *= length;
    }
    attributes();
    one.type = static_cast<int>(number(4, what));
    size(what);  // the stored size is redundant, and wrong for large variables
    one.begin = number(version_ == 1 ? 4 : 8, what);
    if (ClassicFile::type_size(one.type) == 0 || one.begin < 0) fail(fmt::format("is malformed at {}", what));
    one.stored = padded(one.elements * ClassicFile::type_size(one.type));
    file_.variables_.push_back(std::move(one));
  }

  // Records hold one after another the record variables' parts; a lone one is not padded.
  void lay_out_records() {
    ClassicFile::Variable* only = nullptr;
    int count = 0;
    for (ClassicFile::Variable& one : file_.variables_) {
      if (!one.record) continue;
      only = &one;
      ++count;
      file_.record_bytes_ += one.stored;
    }
    if (count == 1) {
      only->stored = only->elements * ClassicFile::type_size(only->type);
      file_.record_bytes_ = only->stored;
    }
  }

  ClassicFile& file_;
  std::int64_t at_ = 0;
  int version_ = 5;
};

ClassicFile::ClassicFile(const std::string& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0)
    throw std::runtime_error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  try {
    struct stat status{};
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode))
      throw std::runtime_error(path + " is not a regular file");
    size_ = status.st_size;
    ClassicHeader(*this).parse();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

ClassicFile::~ClassicFile() {
  ::close(descriptor_);
}

std::int64_t ClassicFile::type_size(int type) {
  constexpr std::int64_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  return type >= 0 && type < static_cast<int>(std::size(sizes)) ? sizes[type] : 0;
}

namespace {
template <typename T>
const T* find_named(const std::vector<T>& in, const std::string& name) {
  const auto found = std::find_if(in.begin(), in.end(), [&](const T& one) { return one.name == name; });
  return found == in.end() ? nullptr : &*found;
}
}  // namespace

const ClassicFile::Dimension* ClassicFile::find_dimension(const std::string& name) const {
  return find_named(dimensions_, name);
}

const ClassicFile::Attribute* ClassicFile::find_attribute(const std::string& name) const {
  return find_named(attributes_, name);
}

const ClassicFile::Variable* ClassicFile::find_variable(const std::string& name) const {
  return find_named(variables_, name);
}

std::span<std::byte> ClassicFile::read_some(std::int64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::runtime_error(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
    if (got == 0) break;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
  return bytes;
}

void ClassicFile::read_bytes(std::int64_t offset, std::span<std::byte> bytes, const std::string& what) const {
  if (!read_some(offset, bytes).empty())
    throw std::runtime_error(
        fmt::format("{} is cut short: it ends at byte {}, within {}", path_, size_, what));
}

std::vector<std::int64_t> ClassicFile::integers(const Attribute& attribute) const {
  if (!is_integer(attribute.type))
    throw std::runtime_error(fmt::format("{}: attribute {} does not hold integers", path_, attribute.name));
  const std::int64_t size = type_size(attribute.type);
  std::vector<std::int64_t> values;
  for (std::size_t at = 0; at < attribute.values.size(); at += static_cast<std::size_t>(size))
    values.push_back(decode_integer(attribute.values.data() + at, attribute.type));
  return values;
}

std::vector<std::int64_t> ClassicFile::integers(const Variable& variable, std::int64_t first,
                                                std::int64_t count) const {
  if (!is_integer(variable.type))
    throw std::runtime_error(fmt::format("{}: variable {} does not hold integers", path_, variable.name));
  const std::int64_t size = type_size(variable.type);
  // A lying header must not make us allocate what the file cannot hold.
  if (count < 0 || count > size_ / size)
    throw std::runtime_error(fmt::format("{} is cut short, within variable {}", path_, variable.name));
  std::vector<std::byte> raw(static_cast<std::size_t>(count * size));
  read_bytes(place(variable, 0, first, raw), raw, "variable " + variable.name);
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = decode_integer(raw.data() + i * static_cast<std::size_t>(size), variable.type);
  return values;
}

std::int64_t ClassicFile::place(const Variable& variable, std::int64_t record, std::int64_t first,
                                std::span<const std::byte> bytes) const {
  const std::int64_t size = type_size(variable.type);
  const auto count = static_cast<std::int64_t>(bytes.size()) / size;
  if (first < 0 || first > variable.elements - count)
    throw std::runtime_error(
        fmt::format("{}: variable {} has no elements {} to {}", path_, variable.name, first, first + count));
  return variable.begin + record * record_bytes_ + first * size;
}

void ClassicFile::read(const Variable& variable, std::int64_t record, std::int64_t first,
                       std::span<std::byte> bytes) const {
  const std::span<std::byte> missing = read_some(place(variable, record, first, bytes), bytes);
  std::fill(missing.begin(), missing.end(), std::byte{0});
}

std::int64_t ClassicFile::data_begin() const {
  std::int64_t first = size_;
  for (const Variable& one : variables_) first = std::min(first, one.begin);
  return first;
}

}  // namespace forebay::bench
