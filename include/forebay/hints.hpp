/** @file
 * Hints with types, for forebay::File, forebay::Tcio, or any call that takes an MPI_Info. `forebay hints`
 * says what each means. */
#ifndef FOREBAY_HINTS_HPP
#define FOREBAY_HINTS_HPP

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace forebay {

/** An MPI_Info that is freed with this object. */
class Info {
 public:
  /** MPI_INFO_NULL. */
  Info() = default;
  /** Takes over `info`. */
  explicit Info(MPI_Info info) : info_(info) {}
  /** Takes over what `other` has. */
  Info(Info&& other) noexcept : info_(std::exchange(other.info_, MPI_INFO_NULL)) {}
  /** Frees its own, and takes over what `other` has. */
  Info& operator=(Info&& other) noexcept {
    std::swap(info_, other.info_);
    return *this;
  }
  ~Info() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  /** The handle, which stays this object's. */
  operator MPI_Info() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/** Hints of a file, set one after the other: `Hints().mode(Gather::commit).memory_bytes(1 << 30)`. Sizes are
 * bytes. A value that does not fit is left out where the file is opened, with a warning. Needs no MPI before
 * info(). */
class Hints {
 public:
  /** When bytes must be in the file. */
  enum class Gather {
    strict,    ///< when a put returns
    commit,    ///< after flush, sync or close
    automatic  ///< as commit; with a keeper process, the bytes of a put that has returned survive the process
  };
  /** Whether a small process of the node writes what dead ranks kept. */
  enum class Keeper {
    automatic,  ///< where `forebay run` started one
    start,      ///< the library starts it
    none        ///< what a killed program kept is lost
  };
  /** When what is in a log goes into the file. */
  enum class Drain {
    flush,      ///< at a flush, sync or close, or where the log is full
    background  ///< while the program goes on
  };
  /** Where everything is when a sync has returned. */
  enum class LogSync {
    file,  ///< in the file
    log    ///< in the log; in the file after its close
  };
  /** What a close of a file with a log waits for. */
  enum class LogClose {
    file,       ///< everything is in the file
    background  ///< nothing, where a process of the node drains the log
  };
  /** What a sync into the log outlives. */
  enum class LogSafety {
    process,  ///< the program
    node      ///< the node
  };
  /** What of a file that is read is kept on the node. */
  enum class StageKind {
    automatic,  ///< extent where all of the file may be kept, else compact
    whole,      ///< all of it, fetched when it is opened
    extent,     ///< what is read, at its place in a sparse copy
    compact     ///< what is read, one after the other; what is least recently used makes room
  };
  /** Whether what collective reads will ask for next is fetched ahead. */
  enum class StageAhead {
    automatic,  ///< where they go through the file in equal steps
    none        ///< nothing is
  };
  /** What is looked for that costs time. */
  enum class Check {
    none,  ///< nothing
    order  ///< bytes that several nodes wrote without a flush between
  };
  /** How packed bytes cross between nodes. */
  enum class Link {
    automatic,  ///< what is measured to be faster
    put,        ///< one-sided puts
    message     ///< messages
  };
  /** How a collective write over several nodes goes through the file. */
  enum class Rounds {
    automatic,  ///< wide where a window would leave owners without work
    window,     ///< round by round a range that a node's window holds
    wide        ///< in every round all owners of the file are at work
  };
  /** What writes the file. */
  enum class Storage {
    automatic,  ///< chosen by the file system
    mpiio,      ///< MPI-IO
    posix,      ///< POSIX calls
    null,       ///< nothing: to measure the path through the library
    failing     ///< for tests
  };
  /** Whether a block of which parts were put is read, completed and written whole. */
  enum class FillHoles {
    automatic,  ///< where it is certain that no rank's bytes are lost
    enable,     ///< everywhere
    disable     ///< nowhere
  };
  /** How HDF5's own data is written. */
  enum class Metadata {
    independent,  ///< as the program says
    collective    ///< by all ranks together
  };
  /** The stripes that a new file is to have on Lustre. */
  struct Stripes {
    int count = 0;           ///< 0: chosen, and the bytes, too
    std::int64_t bytes = 0;  ///< of one; a multiple of 64 KiB
  };

  /** Sets any hint by its key; a later value of a key wins. */
  Hints& set(std::string key, std::string value) {
    for (auto& entry : entries_) {
      if (entry.first == key) return entry.second = std::move(value), *this;
    }
    entries_.emplace_back(std::move(key), std::move(value));
    return *this;
  }

  /** forebay_enable */
  Hints& enabled(bool on) { return set("forebay_enable", on ? "on" : "off"); }
  /** forebay_mode */
  Hints& mode(Gather gather) { return word("forebay_mode", gather, {"strict", "commit", "automatic"}); }
  /** forebay_stripe_bytes */
  Hints& stripe_bytes(std::int64_t bytes) { return number("forebay_stripe_bytes", bytes); }
  /** forebay_stripe */
  Hints& new_stripes(Stripes stripes) {
    return set("forebay_stripe", stripes.count > 0
                                     ? std::to_string(stripes.count) + "x" + std::to_string(stripes.bytes)
                                     : "auto");
  }
  /** forebay_window_bytes */
  Hints& window_bytes(std::int64_t bytes) { return number("forebay_window_bytes", bytes); }
  /** forebay_memory_bytes */
  Hints& memory_bytes(std::int64_t bytes) { return number("forebay_memory_bytes", bytes); }
  /** forebay_bypass_bytes */
  Hints& bypass_bytes(std::int64_t bytes) { return number("forebay_bypass_bytes", bytes); }
  /** forebay_pool_bytes */
  Hints& pool_bytes(std::int64_t bytes) { return number("forebay_pool_bytes", bytes); }
  /** forebay_segment_bytes */
  Hints& segment_bytes(std::int64_t bytes) { return number("forebay_segment_bytes", bytes); }
  /** forebay_segments */
  Hints& segments(int count) { return number("forebay_segments", count); }
  /** forebay_commit_seconds */
  Hints& commit_seconds(int seconds) { return number("forebay_commit_seconds", seconds); }
  /** forebay_keeper */
  Hints& keeper(Keeper use) { return word("forebay_keeper", use, {"automatic", "start", "none"}); }
  /** forebay_log */
  Hints& log(std::string folder) { return set("forebay_log", std::move(folder)); }
  /** forebay_log_bytes */
  Hints& log_bytes(std::int64_t bytes) { return number("forebay_log_bytes", bytes); }
  /** forebay_drain */
  Hints& drain(Drain when) { return word("forebay_drain", when, {"flush", "background"}); }
  /** forebay_sync */
  Hints& log_sync(LogSync where) { return word("forebay_sync", where, {"file", "log"}); }
  /** forebay_close */
  Hints& log_close(LogClose when) { return word("forebay_close", when, {"file", "background"}); }
  /** forebay_log_safety */
  Hints& log_safety(LogSafety of) { return word("forebay_log_safety", of, {"process", "node"}); }
  /** forebay_stage */
  Hints& stage(std::string folder) { return set("forebay_stage", std::move(folder)); }
  /** forebay_stage_kind */
  Hints& stage_kind(StageKind kind) {
    return word("forebay_stage_kind", kind, {"automatic", "whole", "extent", "compact"});
  }
  /** forebay_stage_bytes */
  Hints& stage_bytes(std::int64_t bytes) { return number("forebay_stage_bytes", bytes); }
  /** forebay_stage_ahead */
  Hints& stage_ahead(StageAhead what) { return word("forebay_stage_ahead", what, {"automatic", "none"}); }
  /** forebay_patience_seconds */
  Hints& patience_seconds(int seconds) { return number("forebay_patience_seconds", seconds); }
  /** forebay_check */
  Hints& check(Check what) { return word("forebay_check", what, {"none", "order"}); }
  /** forebay_aggregators_per_node */
  Hints& aggregators_per_node(int count) { return number("forebay_aggregators_per_node", count); }
  /** forebay_ranks_per_node */
  Hints& ranks_per_node(int count) { return number("forebay_ranks_per_node", count); }
  /** forebay_owner_nodes: "all", a count, or ranges as "0-3,8" */
  Hints& owner_nodes(std::string nodes) { return set("forebay_owner_nodes", std::move(nodes)); }
  /** forebay_link */
  Hints& link(Link how) { return word("forebay_link", how, {"automatic", "put", "message"}); }
  /** forebay_rounds */
  Hints& rounds(Rounds how) { return word("forebay_rounds", how, {"automatic", "window", "wide"}); }
  /** forebay_storage */
  Hints& storage(Storage kind) {
    return word("forebay_storage", kind, {"automatic", "mpiio", "posix", "null", "failing"});
  }
  /** forebay_fill_holes */
  Hints& fill_holes(FillHoles when) {
    return word("forebay_fill_holes", when, {"automatic", "enable", "disable"});
  }
  /** forebay_metadata */
  Hints& metadata(Metadata how) { return word("forebay_metadata", how, {"independent", "collective"}); }
  /** forebay_stats */
  Hints& stats(std::string path) { return set("forebay_stats", std::move(path)); }
  /** forebay_trace */
  Hints& trace(std::string path) { return set("forebay_trace", std::move(path)); }
  /** striping_unit */
  Hints& striping_unit(std::int64_t bytes) { return number("striping_unit", bytes); }
  /** striping_factor */
  Hints& striping_factor(int count) { return number("striping_factor", count); }
  /** cb_nodes */
  Hints& aggregators(int count) { return number("cb_nodes", count); }
  /** cb_buffer_size */
  Hints& aggregator_bytes(std::int64_t bytes) { return number("cb_buffer_size", bytes); }

  /** Keys and values, in the order in which the keys came. */
  const std::vector<std::pair<std::string, std::string>>& entries() const { return entries_; }
  /** A new MPI_Info of them; MPI_INFO_NULL where there are none. */
  Info info() const {
    if (entries_.empty()) return {};
    MPI_Info made = MPI_INFO_NULL;
    MPI_Info_create(&made);
    Info info(made);
    for (const auto& [key, value] : entries_) MPI_Info_set(made, key.c_str(), value.c_str());
    return info;
  }

 private:
  template <class E, std::size_t N>
  Hints& word(const char* key, E value, const char* const (&words)[N]) {
    const auto at = static_cast<std::size_t>(value);
    return set(key, at < N ? words[at] : std::to_string(at));
  }
  Hints& number(const char* key, std::int64_t value) { return set(key, std::to_string(value)); }

  std::vector<std::pair<std::string, std::string>> entries_;
};

/** When bytes must be in the file. */
using Gather = Hints::Gather;

}  // namespace forebay

#endif  // FOREBAY_HINTS_HPP
