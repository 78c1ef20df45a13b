// The table of file systems, and asking the system which one it is.
#include "storage/file_system.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>

namespace forebay {
namespace {

struct Known {
  std::uint32_t magic;
  const char* type;  ///< as mountinfo says; "": the magic number tells
  const char* name;
  bool coherent = false;
  bool local = false;
  bool memory = false;
  Locks locks = Locks::not_known;
  Unit unit = Unit::block;
  Renewal renewal = Renewal::none;
};

constexpr Known on_disk(std::uint32_t magic, const char* name) {
  return {magic, "", name, true, true, false, Locks::everywhere};
}
constexpr Known in_memory(std::uint32_t magic, const char* name) {
  return {magic, "", name, true, true, true, Locks::everywhere};
}
/// Of several machines, one view.
constexpr Known coherent(std::uint32_t magic, const char* name, Locks locks, Unit unit = Unit::block) {
  return {magic, "", name, true, false, false, locks, unit};
}
/// Of several machines, each of which may see old bytes.
constexpr Known loose(std::uint32_t magic, const char* name, Locks locks = Locks::not_known) {
  return {magic, "", name, false, false, false, locks};
}
constexpr std::uint32_t kFuse = 0x65735546, kLustre = 0x0BD00BD0, kNfs = 0x6969;
/// By FUSE: whatever the server does, the kernel of each machine keeps pages of its own.
constexpr Known by_fuse(const char* type, const char* name, Locks locks = Locks::not_known,
                        Renewal renewal = Renewal::none) {
  return {kFuse, type, name, false, false, false, locks, Unit::block, renewal};
}

// From statfs(2), linux/magic.h and the file systems' own headers. An overlay's upper layer, where all that
// is written goes, cannot be one that other machines share. A pool of ZFS is one machine's; its caches keep
// mapped pages and writes one. Lustre's locks are the mount's option flock, localflock or neither.
constexpr std::array kFileSystems{
    on_disk(0xEF53, "ext"),
    on_disk(0x58465342, "xfs"),
    on_disk(0x9123683E, "btrfs"),
    on_disk(0xF2F52010, "f2fs"),
    on_disk(0x794c7630, "overlay"),
    on_disk(0x2FC12FC1, "zfs"),
    on_disk(0xCA451A4E, "bcachefs"),
    on_disk(0x3153464A, "jfs"),
    on_disk(0x52654973, "reiserfs"),
    on_disk(0x3434, "nilfs"),
    on_disk(0x4D44, "vfat"),
    on_disk(0x2011BAB0, "exfat"),
    on_disk(0x7366746E, "ntfs"),
    in_memory(0x01021994, "tmpfs"),
    in_memory(0x858458F6, "ramfs"),
    coherent(kLustre, "lustre", Locks::not_known, Unit::layout),
    coherent(0x47504653, "gpfs", Locks::everywhere),
    coherent(0x00C36400, "ceph", Locks::everywhere),
    coherent(0x01161970, "gfs2", Locks::everywhere),
    coherent(0x7461636F, "ocfs2", Locks::not_known),
    loose(0x19830326, "beegfs"),
    loose(0xAAD7AAEA, "panfs"),
    loose(0x20030528, "orangefs", Locks::this_machine),
    loose(kNfs, "nfs"),
    loose(0xFF534D42, "cifs"),
    loose(0xFE534D42, "cifs"),
    loose(0x517B, "smb"),
    loose(0x5346414F, "afs"),
    loose(0x6B414653, "afs"),
    loose(0x01021997, "9p"),
    loose(0x786F4256, "vboxsf", Locks::this_machine),
    by_fuse("fuse.glusterfs", "glusterfs", Locks::everywhere, Renewal::by_allocation),
    by_fuse("fuse.mfs", "moosefs", Locks::everywhere),
    by_fuse("fuse.dfuse", "dfuse", Locks::this_machine),
    by_fuse("fuse.daos", "dfuse", Locks::this_machine),
    by_fuse("fuse.ceph", "ceph-fuse"),
    by_fuse("fuse.ceph-fuse", "ceph-fuse"),
    by_fuse("fuse.juicefs", "juicefs"),
    by_fuse("fuse.saunafs", "saunafs"),
    by_fuse("fuse.lizardfs", "lizardfs"),
    by_fuse("fuse.sshfs", "sshfs", Locks::this_machine),
    by_fuse("fuse.rclone", "rclone", Locks::this_machine),
    by_fuse("fuse.s3fs", "s3fs", Locks::this_machine),
    by_fuse("fuse.fuse-overlayfs", "fuse-overlayfs", Locks::this_machine),
    by_fuse("virtiofs", "virtiofs"),
    by_fuse("", "fuse"),
};

FileSystem told(const Known& known) {
  FileSystem system;
  system.name = known.name;
  system.coherent = known.coherent;
  system.local = known.local;
  system.memory = known.memory;
  system.locks = known.locks;
  system.unit = known.unit;
  system.renewal = known.renewal;
  return system;
}

/// `ask`: stat(2) of what `info` is about.
template <class Ask>
FileSystem look_up(const struct statfs& info, Ask&& ask) {
  const auto magic = static_cast<std::uint32_t>(static_cast<unsigned long>(info.f_type) & 0xFFFFFFFFUL);
  Mount mount;
  if (struct stat file{}; needs_mount(magic) && ask(file) == 0) {
    std::ifstream in("/proc/self/mountinfo", std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    (void)find_mount(all, major(file.st_dev), minor(file.st_dev), mount);
  }
  return known_file_system(magic, mount);
}

FileSystem unreachable(int error) {
  FileSystem system;
  system.name = std::strerror(error);
  return system;
}

/// Takes the next word off `line`.
std::string_view next_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

bool has_option(std::string_view options, std::string_view wanted) {
  while (!options.empty()) {
    const std::size_t end = std::min(options.find(','), options.size());
    if (options.substr(0, end) == wanted) return true;
    options.remove_prefix(std::min(end + 1, options.size()));
  }
  return false;
}

// By default clients of late versions have flock; those of earlier ones none, and show nothing.
Locks locks_of_lustre(std::string_view options) {
  if (has_option(options, "localflock") || has_option(options, "noflock")) return Locks::this_machine;
  return has_option(options, "flock") ? Locks::everywhere : Locks::not_known;
}

Locks locks_of_nfs(std::string_view options) {
  if (options.empty()) return Locks::not_known;
  for (const char* own : {"nolock", "local_lock=all", "local_lock=posix"}) {
    if (has_option(options, own)) return Locks::this_machine;
  }
  return Locks::everywhere;
}

bool is_device(std::string_view text, unsigned wanted_major, unsigned wanted_minor) {
  unsigned found_major = 0, found_minor = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, found_major);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ':') return false;
  const auto second = std::from_chars(first.ptr + 1, end, found_minor);
  return second.ec == std::errc{} && second.ptr == end && found_major == wanted_major &&
         found_minor == wanted_minor;
}

}  // namespace

bool needs_mount(std::uint32_t magic) {
  return magic == kFuse || magic == kLustre || magic == kNfs ||
         std::ranges::find(kFileSystems, magic, &Known::magic) == kFileSystems.end();
}

FileSystem known_file_system(std::uint32_t magic, const Mount& mount) {
  // MooseFS says so in either place.
  const bool moosefs = mount.type == "fuse" && mount.source.starts_with("mfs#");
  const std::string_view type = moosefs ? "fuse.mfs" : std::string_view(mount.type);
  const auto named = std::ranges::find_if(kFileSystems, [&](const Known& known) {
    return known.magic == magic && (*known.type == '\0' || known.type == type);
  });
  FileSystem system = named != kFileSystems.end() ? told(*named) : FileSystem{};
  system.magic = magic;
  system.type = mount.type;
  if (magic == kLustre) system.locks = locks_of_lustre(mount.options);
  if (magic == kNfs) system.locks = locks_of_nfs(mount.options);
  return system;
}

// Of a line: number, parent, major:minor, root, mount point, options, some tags, "-", type, source, options.
bool find_mount(std::string_view mountinfo, unsigned major, unsigned minor, Mount& out) {
  while (!mountinfo.empty()) {
    const std::size_t end = std::min(mountinfo.find('\n'), mountinfo.size());
    std::string_view line = mountinfo.substr(0, end);
    mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
    next_word(line);
    next_word(line);
    if (!is_device(next_word(line), major, minor)) continue;
    next_word(line);
    next_word(line);
    const std::string_view own = next_word(line);
    const std::size_t dash = (" " + std::string(line)).find(" - ");
    if (dash == std::string::npos) continue;
    line.remove_prefix(dash + 2);
    out.type = next_word(line);
    out.source = next_word(line);
    out.options = next_word(line);
    if (!own.empty()) out.options += "," + std::string(own);
    return true;
  }
  return false;
}

FileSystem file_system_of(int descriptor) {
  struct statfs info{};
  if (::fstatfs(descriptor, &info) != 0) return unreachable(errno);
  return look_up(info, [&](struct stat& file) { return ::fstat(descriptor, &file); });
}

FileSystem file_system_at(const std::string& path) {
  struct statfs info{};
  if (::statfs(path.c_str(), &info) != 0) return unreachable(errno);
  return look_up(info, [&](struct stat& file) { return ::stat(path.c_str(), &file); });
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::int64_t unit_from_block(std::int64_t block) {
  constexpr std::int64_t page = 4096, least_block = 64 << 10, most = 16 << 20, least = 512 << 10;
  if (block < least_block || block > most || block % page != 0) return 0;
  return (least + block - 1) / block * block;
}

std::int64_t preferred_unit(int descriptor) {
  struct stat info{};
  if (::fstat(descriptor, &info) != 0) return 0;
  return unit_from_block(static_cast<std::int64_t>(info.st_blksize));
}

}  // namespace forebay
