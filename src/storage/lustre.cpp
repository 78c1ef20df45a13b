// Reading and writing lustre.lov, whose form lustre_user.h defines: a record of 32 bytes (version 1) or 48
// (version 3, with a pool's name), or a list of components, each of which has a range of the file and a
// record of its own. Numbers are in this machine's byte order.
#include "storage/lustre.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace forebay {
namespace {

constexpr const char* kAttribute = "lustre.lov";
constexpr std::size_t kMostBytes = 64 << 10;  // of any attribute
constexpr std::int64_t kLeastUnit = 64 << 10;
constexpr std::int64_t kMostUnit = (std::int64_t{1} << 32) - kLeastUnit;
constexpr std::int64_t kExpected = std::int64_t{1} << 30;

constexpr std::uint32_t kVersion1 = 0x0BD10BD0, kVersion3 = 0x0BD30BD0, kWithTargets = 0x0BD50BD0,
                        kComponents = 0x0BD60BD0, kSelfExtending = 0x0BD80BD0;
constexpr std::uint32_t kStriped = 1;               // pattern
constexpr std::uint32_t kOnMetadataServer = 0x100;  // pattern: no stripes
constexpr std::uint16_t kAll = 0xFFFF;              // targets, as a count
constexpr std::uint16_t kAnyTarget = 0xFFFF;        // to begin with

// Places in a record.
constexpr std::size_t kPattern = 4, kUnit = 24, kCount = 28, kFirstTarget = 30, kRecord = 32;
// Places in a list and in its entries.
constexpr std::size_t kEntries = 14, kList = 32, kFlags = 4, kBegin = 8, kEnd = 16, kPlace = 24, kBytes = 28,
                      kEntry = 48;
// Components that hold no data of their own, or none that is written: stale, off line, extension, parity.
constexpr std::uint32_t kUnused = 0x1 | 0x8 | 0x40 | 0x80;

template <class T>
T number_at(std::span<const std::byte> value, std::size_t place) {
  T number;
  std::memcpy(&number, value.data() + place, sizeof number);
  return number;
}

template <class T>
void set_number(std::span<std::byte> value, std::size_t place, T number) {
  std::memcpy(value.data() + place, &number, sizeof number);
}

bool is_record(std::uint32_t magic) {
  return magic == kVersion1 || magic == kVersion3 || magic == kWithTargets;
}

Striping in_record(std::span<const std::byte> record) {
  if (record.size() < kRecord || !is_record(number_at<std::uint32_t>(record, 0))) return {0, 0};
  if ((number_at<std::uint32_t>(record, kPattern) & kOnMetadataServer) != 0) return {0, 0};
  const auto unit = static_cast<std::int64_t>(number_at<std::uint32_t>(record, kUnit));
  const auto count = number_at<std::uint16_t>(record, kCount);
  if (unit == 0 || unit % 4096 != 0) return {0, 0};
  return {unit, count == kAll ? 0 : count};
}

}  // namespace

Striping stripes_in(std::span<const std::byte> value, std::int64_t size) {
  if (value.size() < kRecord) return {0, 0};
  const auto magic = number_at<std::uint32_t>(value, 0);
  if (magic != kComponents && magic != kSelfExtending) return in_record(value);
  Striping best{0, 0};
  std::uint64_t most = 0;
  const auto reach = static_cast<std::uint64_t>(std::max(size, kExpected));
  const std::size_t entries =
      std::min<std::size_t>(number_at<std::uint16_t>(value, kEntries), (value.size() - kList) / kEntry);
  for (std::size_t i = 0; i < entries; ++i) {
    const auto entry = value.subspan(kList + i * kEntry, kEntry);
    if ((number_at<std::uint32_t>(entry, kFlags) & kUnused) != 0) continue;
    const auto begin = number_at<std::uint64_t>(entry, kBegin);
    const auto end = std::min(number_at<std::uint64_t>(entry, kEnd), reach);
    const std::size_t place = number_at<std::uint32_t>(entry, kPlace);
    const std::size_t bytes = number_at<std::uint32_t>(entry, kBytes);
    if (place > value.size() || bytes > value.size() - place) continue;
    const Striping striping = in_record(value.subspan(place, bytes));
    if (striping.unit == 0 || end <= begin || end - begin <= most) continue;
    most = end - begin;
    best = striping;
  }
  return best;
}

Striping lustre_stripes(int descriptor, std::int64_t size) {
  std::vector<std::byte> value(kMostBytes);
  const ssize_t bytes = ::fgetxattr(descriptor, kAttribute, value.data(), value.size());
  if (bytes <= 0) return {0, 0};
  return stripes_in(std::span(value).first(static_cast<std::size_t>(bytes)), size);
}

bool folder_has_layout(const std::string& folder) {
  return ::getxattr(folder.c_str(), kAttribute, nullptr, 0) > 0;
}

std::vector<std::byte> layout_value(const Striping& wanted) {
  std::vector<std::byte> record(kRecord);
  const std::int64_t unit = std::min(
      (std::max<std::int64_t>(wanted.unit, 0) + kLeastUnit - 1) / kLeastUnit * kLeastUnit, kMostUnit);
  const std::int64_t count = std::clamp<std::int64_t>(wanted.factor, 0, kAll - 1);
  set_number<std::uint32_t>(record, 0, kVersion1);
  set_number<std::uint32_t>(record, kPattern, kStriped);
  set_number(record, kUnit, static_cast<std::uint32_t>(unit));
  set_number(record, kCount, static_cast<std::uint16_t>(count));
  set_number(record, kFirstTarget, kAnyTarget);
  return record;
}

// Opening a file for writing the first time lays it out; making a node does not. Lustre says nothing where a
// file has a layout already, so what came of it is read again.
Made make_with_layout(const std::string& path, const Striping& wanted, Status& why) {
  if (::mknod(path.c_str(), S_IFREG | 0666, 0) != 0) return Made::no;
  const std::vector<std::byte> value = layout_value(wanted);
  const bool set = ::setxattr(path.c_str(), kAttribute, value.data(), value.size(), XATTR_CREATE) == 0;
  if (set && ::getxattr(path.c_str(), kAttribute, nullptr, 0) > 0) return Made::with_layout;
  why = from_errno(errno, "cannot set the stripes of " + path);
  // ROMIO opens a file for which there are hints without laying it out, and then cannot write it.
  if (const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC); descriptor >= 0) ::close(descriptor);
  return Made::without_layout;
}

}  // namespace forebay
