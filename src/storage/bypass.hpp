// One rank's own way to the file, past the windows: long runs of collective calls, and independent access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/counters.hpp"
#include "base/status.hpp"
#include "request/request.hpp"
#include "storage/storage.hpp"

namespace forebay {

class Bypass {
 public:
  /// Writes those requests of a flush that consist of runs of at least `least` bytes, and takes them out of
  /// `puts`: a copy would gain them nothing. A request that overlaps another of the list stays, so that their
  /// order stays. Must be done before the first round, so that an owner that fills holes reads what was
  /// written here. `before` is called for each of them before it is written.
  Status take_out(std::vector<Put>& puts, std::int64_t least, std::int64_t stripe, Storage& storage,
                  Counters& counters, const std::function<void(const Put&)>& before = nullptr);

  /// Whether take_out would take a request alone, of runs that are all so long: the first ones tell, since
  /// selections are regular more often than not. 0: none is.
  static bool is_long(Cursor& cursor, std::int64_t least);
  /// Whether they are so long on average.
  static bool long_on_average(Cursor& cursor, std::int64_t least);

  /// Has the memory that is needed on the way now, where it may be gone later. False: there is none.
  bool reserve() noexcept;

  /// Writes one request, neighbouring runs together.
  Status write(const Put& put, std::int64_t stripe, Storage& storage, Counters& counters);
  /// The same where others of its kind are gathered: counted as passing by.
  Status write_past(const Put& put, std::int64_t stripe, Storage& storage, Counters& counters);

  /// Takes those requests of a collective read out of `gets` that gain nothing from a window: of runs of at
  /// least `least` bytes (0: none).
  static std::vector<Get> take_out(std::vector<Get>& gets, std::int64_t least);
  /// The same where a read is cheap: of runs of `mean` bytes on average, or of at most `few` runs.
  static std::vector<Get> take_out(std::vector<Get>& gets, std::int64_t mean, std::size_t few);

  /// A read is a copy more often than not: only nearer neighbours come by one.
  void read_from_memory() { in_memory_ = true; }
  /// Reads one request; near neighbours come by one read of what lies between as well.
  Status read(const Get& get, Storage& storage, Counters& counters);
  /// The same for some runs of one.
  Status read_runs(std::span<const Run> runs, Sink& sink, Storage& storage, Counters& counters);

 private:
  std::byte* staging();
  Status read_long(Run run, Sink& sink, Storage& storage, Counters& counters);

  bool in_memory_ = false;
  std::unique_ptr<std::byte[]> staging_;
};

}  // namespace forebay
