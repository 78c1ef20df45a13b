#include "engine/closed_in_background.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "base/per_process.hpp"
#include "base/status.hpp"
#include "engine/termination.hpp"
#include "log/leftover.hpp"
#include "storage/storage.hpp"

namespace forebay {
namespace {

struct Closed {
  std::unique_ptr<NodeLog> log;
  Descriptor file;
  std::string path;
};

class Waiter final : public Holder {
 public:
  ~Waiter() override { unwatch(*this); }

  void add(Closed closed) {
    {
      const std::lock_guard lock(mutex_);
      // The keeper process has removed those that are in their files.
      std::erase_if(closed_, [](const Closed& each) { return each.log->empty(); });
      closed_.push_back(std::move(closed));
    }
    watch(*this);
  }

  // The logs outlive the process: a signal's handler has nothing to do. Else this process helps the keeper,
  // and so hears of what cannot be written.
  void write_out(Ending ending) noexcept override {
    if (ending.in_signal) return;
    const std::lock_guard lock(mutex_);
    for (Closed& each : closed_) {
      const Status status = each.log->drain_all(*make_posix_storage(each.file.number(), each.path));
      if (status.ok())
        remove_log(*each.log);
      else
        warn_once("as the program ended: " + status.message() + "; what " + each.path + " lacks is in " +
                  each.log->name() + ": forebay recover " + each.path);
    }
    closed_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<Closed> closed_;
};

}  // namespace

void wait_at_the_end(std::unique_ptr<NodeLog> log, Descriptor file, std::string path) {
  per_process<Waiter>().add({std::move(log), std::move(file), std::move(path)});
}

}  // namespace forebay
