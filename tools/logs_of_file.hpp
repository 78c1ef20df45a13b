// Of a file that may not be complete: its mark, and the logs that this lists, as `forebay doctor`, `forebay
// recover` and `forebay wait` look at them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "log/leftover.hpp"

namespace forebay::tools {

/// The file that somebody means who names it, a link to it, or its mark.
std::string file_meant(const std::string& name);

enum class LogIs {
  in_file,        ///< the mark says so
  elsewhere,      ///< on another host, and not to be seen from here
  gone,           ///< it should be here
  unreadable,     ///< `why`
  of_another,     ///< file, which had the name
  used,           ///< a process lives that writes to it
  being_drained,  ///< a keeper process brings it into the file, which is closed
  left            ///< behind
};
struct LogOfFile {
  MarkedLog marked;
  LogIs is = LogIs::left;
  bool has_keeper = false;             ///< a keeper process has it
  std::int64_t writes = 0, bytes = 0;  ///< that are not in the file yet; of those that can be seen
  std::string why;
};

/// In the order of the mark. False: there is no mark. Reads no data, and changes nothing.
bool find_logs_of(const std::string& file, std::vector<LogOfFile>& logs);

/// A mark in the file's folder which is of a file that is not there under its name, and one of whose logs is
/// of this one: it has been renamed. "": there is none.
std::string mark_of_renamed(const std::string& file);

}  // namespace forebay::tools
