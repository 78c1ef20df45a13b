// What says that a file is not complete, since a log has some of it: a small text beside it, which lives as
// long as the log does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "log/node_log.hpp"

namespace forebay {

/// "FILE.forebay".
std::string mark_of(const std::string& path);

/// A log that a mark lists. Each node of the file's ranks has one.
struct MarkedLog {
  std::string host, name;
  bool done = false;         ///< all of it is in the file
  std::int64_t drained = 0;  ///< the collective call up to which what it had is in the file
};
/// False: there is no mark.
bool read_mark(const std::string& mark, std::vector<MarkedLog>& logs);
Status write_mark(const std::string& path, const std::vector<MarkedLog>& logs);
/// Where a mark says how far the log `name` is drained; 0: it does not list that.
std::int64_t place_in_mark(const std::string& path, const std::string& name);
/// Lets other nodes know, by the mark, what is in the file of what this log had.
void tell_drained(NodeLog& log);
/// The collective call up to which all logs are drained; the name of a log that is not further. 0: the mark
/// cannot be read.
std::int64_t drained_everywhere(const std::string& path, std::string& last);
void remove_mark(const std::string& path);

/// Of a file whose part in this log is complete now: removes the log, and, where it was the last, the mark.
/// False, with errno: the mark cannot be changed, and both stay.
bool remove_log(const NodeLog& log);

/// What brought a log into its file.
struct Recovered {
  std::int64_t appends = 0, bytes = 0, torn = 0;
  bool helped = false;                  ///< a process of the program was at it, which has closed the file
  std::vector<NodeLog::Entry> entries;  ///< `dry`: all of them
};
/// Brings a log that no process uses into its file, which must be the one that the log is of, and removes it.
/// `dry`: changes nothing, and only tells. `tell`: called now and then with bytes done and bytes in all, each
/// byte counted as it is checked and as it is written.
using Tell = std::function<void(std::int64_t done, std::int64_t all)>;
Status recover(const std::string& log, bool dry, Recovered& out, const Tell& tell = nullptr);

/// Before this process opens a file that a mark may lie beside: brings what is left of it into the file, or
/// says what to do. `elsewhere`: what is left lies in logs of other nodes; where that is null, it fails then.
Status settle_leftover(const std::string& path, bool* elsewhere = nullptr);

}  // namespace forebay
