#include "engine/closed_in_background.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

#include "base/counters.hpp"
#include "base/per_process.hpp"
#include "base/status.hpp"
#include "engine/termination.hpp"
#include "log/leftover.hpp"
#include "report/report.hpp"
#include "storage/storage.hpp"

namespace forebay {
namespace {

// How long its log was not in the file yet.
void tell(const ClosedFile& closed) {
  using Seconds = std::chrono::duration<double>;
  const double seconds = std::max(0.0, Seconds(closed.log->drained_at() - closed.at).count());
  if (closed.tells) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3f", seconds);
    warn_once(closed.path + " was complete " + text.data() + " s after its close");
  }
  if (closed.report.document.empty() || closed.report.file.empty()) return;
  Counters counters;
  counters.log_after_close = std::llround(1e6 * seconds);
  const Status added =
      append_report(closed.report.document, after_close(closed.report.file, closed.report.driver, counters));
  if (!added.ok()) warn_once(added.message());
}

class Waiter final : public Holder {
 public:
  ~Waiter() override { unwatch(*this); }

  void add(ClosedFile closed) {
    {
      const std::lock_guard lock(mutex_);
      // The keeper process has removed those that are in their files.
      std::erase_if(closed_, [](const ClosedFile& each) {
        if (!each.log->empty()) return false;
        tell(each);
        return true;
      });
      closed_.push_back(std::move(closed));
    }
    watch(*this);
  }

  // The logs outlive the process: a signal's handler has nothing to do. Else this process helps the keeper,
  // and so hears of what cannot be written.
  void write_out(Ending ending) noexcept override {
    if (ending.in_signal) return;
    const std::lock_guard lock(mutex_);
    for (ClosedFile& each : closed_) {
      const Status status = each.log->drain_all(*make_posix_storage(each.file.number(), each.path));
      if (status.ok()) {
        // Not where the keeper process has: the file may have another mark by now.
        if (::access(each.log->name().c_str(), F_OK) == 0) remove_log(*each.log);
        tell(each);
      } else {
        warn_once("as the program ended: " + status.message() + "; what " + each.path + " lacks is in " +
                  each.log->name() + ": forebay recover " + each.path);
      }
    }
    closed_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<ClosedFile> closed_;
};

}  // namespace

void wait_at_the_end(ClosedFile closed) {
  per_process<Waiter>().add(std::move(closed));
}

}  // namespace forebay
