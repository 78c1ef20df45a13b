// What ranks tell the keeper of their node, and how it is found: a socket of Linux's abstract namespace.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace forebay {

/// One message, with at most one descriptor. Memory and files go by numbers of the sender's.
struct KeeperMessage {
  enum class What : std::uint32_t {
    memory,  ///< segments lie in this descriptor's memory
    file,    ///< from now on they are this descriptor's file
    closed,  ///< they are no file's any more
    freed,   ///< the memory goes
    level1,  ///< the sender is rank `count` in the memory that the keeper has numbered so
    log,     ///< the log `path` is of this descriptor's file, and is drained: always where `count` is not 0
    logged,  ///< it is not any more; or, where `count` is not 0, when it is empty, and the file is closed
    wake     ///< some log has something
  };
  What what{};
  std::int32_t count = 0;    ///< of segments
  std::int32_t ranks = 0;    ///< of the node
  std::uint32_t locks = 0;   ///< ranges of the file are locked before they are written
  std::uint32_t level1 = 0;  ///< there is a place for each rank's
  std::uint64_t memory = 0;
  std::uint64_t file = 0;
  std::int64_t segment_bytes = 0;
  char path[1000] = {};  ///< for people
};

/// The name under which the ranks of this job on this machine find their keeper: FOREBAY_KEEPER, else what
/// the launcher calls the job, else its process.
std::string keeper_name();
/// A name that no other keeper has, for the launcher of a job.
std::string fresh_keeper_name();

/// A socket that listens under the name; -1, with errno: EADDRINUSE where somebody does.
int listen_as_keeper(const std::string& name);
/// -1: there is none, or it is another user's.
int connect_to_keeper(const std::string& name);

/// False: nobody listens any more. `descriptor`: sent with it, if not -1. Never waits.
bool send_to_keeper(int socket, const KeeperMessage& message, int descriptor);
/// 1: a message, and its descriptor or -1. 0: the sender has ended. -1: something else came.
int receive_from_rank(int socket, KeeperMessage& message, int& descriptor);

}  // namespace forebay
