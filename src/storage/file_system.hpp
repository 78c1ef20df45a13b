// What is known of file systems, in one table: what may be done on each, and what it likes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forebay {

/// How far a lock of a range (fcntl(2)) reaches.
enum class Locks {
  everywhere,   ///< whoever can write the file sees it
  not_known,    ///< the mount's options or the server decide, and do not say it here
  this_machine  ///< nobody on other machines, or nobody at all
};

/// What cuts the file into pieces that are best written whole, by one writer.
enum class Unit {
  block,  ///< st_blksize, where it is more than a page or a disk's block
  layout  ///< each file's own stripes, which its attribute lustre.lov tells
};

/// What makes a node that has an old view of a file ask the server, besides a sync and dropped pages.
enum class Renewal {
  none,          ///< nothing more, as far as is known
  by_allocation  ///< an allocation of the file's first byte, where the file may be written
};

struct FileSystem {
  std::string name = "unknown";
  bool coherent = false;  ///< between all nodes that mount it: what one wrote any other reads, byte for byte
  bool local = false;     ///< only this machine writes it, so that its page cache is the file
  bool memory = false;    ///< of which there is nothing else
  Locks locks = Locks::not_known;
  Unit unit = Unit::block;
  Renewal renewal = Renewal::none;
  std::uint32_t magic = 0;  ///< f_type of statfs(2)
  std::string type;  ///< as /proc/self/mountinfo says, asked only where the magic number does not tell enough
};

/// By a descriptor of a file, or by the name of a file or folder (the reason, in place of a name, where that
/// cannot be asked).
FileSystem file_system_of(int descriptor);
FileSystem file_system_at(const std::string& path);

/// A line of /proc/self/mountinfo.
struct Mount {
  std::string type, source;
  std::string options;  ///< the mount's and the file system's, with commas between
};
/// The one of a device, st_dev of stat(2). False: there is none.
bool find_mount(std::string_view mountinfo, unsigned major, unsigned minor, Mount& out);

/// By what the system says: f_type of statfs(2), and the mount, where `magic` leaves something open.
FileSystem known_file_system(std::uint32_t magic, const Mount& mount);
/// Whether more than the magic number is to be known: many file systems have FUSE's, and of some the mount's
/// options say how far locks reach.
bool needs_mount(std::uint32_t magic);

/// The folder in which a file of that name is made.
std::string folder_of(const std::string& path);

/// The unit in which the file system likes to be written (st_blksize: the wsize of NFS, the block of GPFS,
/// the chunk of BeeGFS), so often that it is at least 512 KiB; 0 where it names none or only its page or
/// block.
std::int64_t preferred_unit(int descriptor);
/// The same of a given st_blksize.
std::int64_t unit_from_block(std::int64_t block);

}  // namespace forebay
