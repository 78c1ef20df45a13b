// Which file a stage has something of, and when that changed last.
#pragma once

#include <cstdint>
#include <string>

#include "storage/descriptors.hpp"

namespace forebay {

/// The same as long as nobody writes the file, renames it or puts another one in its place.
struct FileStamp {
  std::string path;  ///< from the root folder, without links
  FileId id;
  std::int64_t size = 0;
  std::int64_t changed_at = 0;  ///< modification time, in nanoseconds since 1970
  bool operator==(const FileStamp&) const = default;
};

/// Of an open file that has that name. False: the name is another file's, or it is no regular file.
bool stamp_of(int descriptor, const std::string& name, FileStamp& out);
/// Of what has that name now. False: nothing that can be staged.
bool stamp_at(const std::string& name, FileStamp& out);

}  // namespace forebay
