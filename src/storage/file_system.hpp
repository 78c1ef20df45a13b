// What kind of file system holds a file: what may be done there, and what it likes.
#pragma once

#include <cstdint>
#include <string>

namespace forebay {

struct FileSystem {
  const char* name = "unknown";
  bool coherent = false;  ///< between all nodes that mount it: what one wrote any other reads, byte for byte
  bool local = false;     ///< only this machine writes it, so that its page cache is the file
  bool memory = false;    ///< of which there is nothing else
};

/// By a descriptor of a file, or by the name of a file or folder (the reason, in place of a name, where that
/// cannot be asked).
FileSystem file_system_of(int descriptor);
FileSystem file_system_at(const std::string& path);

/// The folder in which a file of that name is made.
std::string folder_of(const std::string& path);

/// The unit in which the file system likes to be written (st_blksize: the wsize of NFS, the block of GPFS, a
/// multiple of Lustre's stripe), or 0 where it names none or only its page or block.
std::int64_t preferred_unit(int descriptor);

}  // namespace forebay
