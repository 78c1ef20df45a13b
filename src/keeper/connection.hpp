// A process's way to its node's keeper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/settings.hpp"
#include "base/status.hpp"

namespace forebay {

/// The program of the keeper process, which lies beside this library, or where FOREBAY_KEEPER_PROGRAM says;
/// empty: it cannot be found.
std::string keeper_program();

/// Starts a keeper under that name, in a session of its own, unless there is one. It ends when this process
/// and all that connected have ended, and what they kept is written.
Status start_keeper(const std::string& name, const std::string& program);

/// Whether connect_keeper may find or make one.
bool keeper_is_expected(KeeperUse use);
/// Connects this process to the keeper of its node, once; where there is none, starts one if `use` says so.
/// The number of the connection, which is another one after a keeper has gone and the next was found; 0:
/// there is none. `tells`: whether this process says why none could be started.
std::uint64_t connect_keeper(KeeperUse use, bool tells = true);
/// Whether the keeper of that connection is still there.
bool keeper_lives(std::uint64_t connection);

/// Memory with segments that a keeper has, too. Empty, or moved from: nobody has.
class KeptMemory {
 public:
  KeptMemory() = default;
  /// Hands it over; empty where that fails. The descriptor stays the caller's.
  KeptMemory(int descriptor, std::int64_t segment_bytes, int count, int ranks, bool level1 = false);
  ~KeptMemory();
  KeptMemory(KeptMemory&& other) noexcept;
  KeptMemory& operator=(KeptMemory&& other) noexcept;

  explicit operator bool() const { return number_ != 0; }
  /// By the keeper that this process is connected to now.
  bool is_held() const;
  /// The segments are that file's now, as their header says, too. False: the keeper does not hear.
  bool serves(std::uint64_t file, int descriptor, bool locks, const std::string& path) const;
  void closed(std::uint64_t file) const;

 private:
  std::uint64_t number_ = 0;
  std::uint64_t connection_ = 0;  // of this process, one after the other
};

/// Tells the keeper that this process is a rank of memory that it has numbered so, and may have a level 1
/// there.
void announce_level1(std::uint64_t number, int rank);

/// The keeper drains that log, `name`, into the file: all the time, or where it is nearly full; and when all
/// ranks have ended. Its number; 0: the keeper does not hear.
std::uint64_t serve_log(int descriptor, const std::string& name, bool always);
/// `left`: it is drained and removed without a rank of it.
void log_served_no_more(std::uint64_t number, bool left);
/// Some log has something for it.
void wake_keeper();

/// Numbers for files, none of them 0.
std::uint64_t next_number();

}  // namespace forebay
