// What commit mode keeps of one file on this rank, and what becomes of it when the process ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "base/settings.hpp"
#include "engine/bypass.hpp"
#include "engine/termination.hpp"
#include "request/extent_set.hpp"
#include "request/pool.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// A number in the file that counts what is kept: big-endian, `width` bytes.
struct CountAtExit {
  std::int64_t offset = 0;
  int width = 0;
  std::int64_t value = 0;
};

/// Collective calls that are kept and of which none overlaps another.
struct KeptEpoch {
  std::size_t first = 0;  ///< the first of this rank's puts of these calls, counted in the pool
  ExtentSet together;     ///< where they put something, on any rank: the same on all ranks
};

class WriteBehind final : public Holder {
 public:
  /// Storage and counters are the file's, and outlive this.
  WriteBehind(const Settings& settings, const std::string& path, Storage& storage, Counters& counters);
  ~WriteBehind() override;

  /// Keeps what was staged.
  void keep();
  /// The same for a collective call that put something into `fresh`; `apart`: in an epoch of its own.
  void keep_together(const Extent& fresh, bool apart);
  /// Whether a call that puts something there might overlap one of the last epoch; of any epoch.
  bool meets_last(const Extent& fresh) const;
  bool meets_any(const Extent& fresh) const;
  /// After everything was written.
  void clear();
  /// Whether the oldest bytes have been kept for too long.
  bool overdue() const;

  void write_out(bool in_signal) noexcept override;

  Pool pool;
  std::vector<KeptEpoch> epochs;
  bool alone = false;  ///< independent puts of this rank are among what is kept
  CountAtExit count;

 private:
  Status write_all(Storage& storage);

  std::string path_;
  bool local_;
  Storage& storage_;
  Counters& counters_;
  Bypass bypass_;
  std::chrono::steady_clock::duration most_age_;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace forebay
