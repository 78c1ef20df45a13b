// What a user can choose for one file: the typed values behind the `forebay_*` hints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "base/node_choice.hpp"

namespace forebay {

enum class Link { automatic, put, message };    ///< how packed bytes cross between nodes
enum class Rounds { automatic, window, wide };  ///< how a flush over several nodes goes through the file
/// null walks and discards; failing is for tests. An open file's is never automatic.
enum class StorageKind { automatic, mpiio, posix, null, failing };
/// When bytes must be in the file. An open file's is never automatic.
enum class Mode { strict, commit, automatic };
/// The process that writes what ranks of its node kept when they die: where `forebay run` started one, also
/// started by the library, or not used.
enum class KeeperUse { automatic, start, none };
/// When a log goes into its file.
enum class Drain { flush, background };
/// Where what was put is when a sync, or a close, has returned; and whether it outlives the node.
enum class LogSync { file, log };
enum class LogClose { file, background };
enum class LogSafety { process, node };
/// What of a file that is read is kept on the node; and whether it is fetched before it is asked for.
enum class StageKind { automatic, whole, extent, compact };
enum class StageAhead { automatic, none };
/// What is looked for that costs time. order: bytes that several nodes keep at once.
enum class Check { none, order };
/// How a library's own data is written: as the program says, or by all ranks together.
enum class Metadata { independent, collective };
/// Whether blocks of which only parts were put are read, completed and written whole.
enum class FillHoles { automatic, enable, disable };

/// The stripes of a new file, as one number, so that ranks can agree on it: none are asked for, they are
/// chosen, or there are `count` of `unit` bytes (stripes_asked).
enum class NewStripes : std::int64_t { none = 0, automatic = -1 };
inline constexpr std::int64_t kStripeQuantum = 64 << 10;  ///< bytes, of which a unit is a multiple
constexpr NewStripes stripes_asked(std::int64_t count, std::int64_t unit) {
  return static_cast<NewStripes>(count << 32 | unit / kStripeQuantum);
}
constexpr std::int64_t count_of(NewStripes stripes) {
  return static_cast<std::int64_t>(stripes) >> 32;
}
constexpr std::int64_t unit_of(NewStripes stripes) {
  return (static_cast<std::int64_t>(stripes) & 0xFFFFFFFF) * kStripeQuantum;
}

/// settings.def lists the members, with their hints and meanings.
struct Settings {
#define SETTING(type, member, value, ...) type member = value;
#include "base/settings.def"
  // No hints:
  bool one_node = false;               ///< all ranks that agreed on these are on one
  bool has_log = false;                ///< rank 0 has a folder for logs
  bool has_stage = false;              ///< rank 0 has one for stages
  bool has_keeper = false;             ///< a keeper process may be had, rank 0 says
  bool was_automatic = false;          ///< and what the mode is now was chosen for the file
  Mode without_keeper = Mode::strict;  ///< what automatic is where there is none, the file's library says
};

/// How the values of one setting on the ranks of a file relate.
enum class Ranks { agree, differ };

/// How many settings ranks agree on.
inline constexpr std::size_t agreed_settings = 0
#define SETTING(type, member, value, ranks, ...) +(Ranks::ranks == Ranks::agree ? 1 : 0)
#include "base/settings.def"
    ;

/// Calls f with a number for each of these, which f may change. Ranges of nodes are more than a number:
/// NodeChoice::as_number.
template <class F>
void for_each_agreed(Settings& settings, F&& f) {
  const auto visit = [&]<Ranks ranks, class T>(T& value) {
    if constexpr (ranks == Ranks::agree && std::is_same_v<T, NodeChoice>) {
      const std::int64_t before = value.as_number();
      std::int64_t number = before;
      f(number);
      if (number != before) value = NodeChoice::of_number(number);
    } else if constexpr (ranks == Ranks::agree) {
      auto number = static_cast<std::int64_t>(value);
      f(number);
      value = static_cast<T>(number);
    }
  };
#define SETTING(type, member, value, ranks, ...) visit.template operator()<Ranks::ranks>(settings.member);
#include "base/settings.def"
}

}  // namespace forebay
