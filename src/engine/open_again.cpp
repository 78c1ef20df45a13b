#include "engine/open_again.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "base/per_process.hpp"

namespace forebay {
namespace {

struct OpenNow {
  std::mutex mutex;
  std::vector<OpenAgain*> files;

  static OpenNow& instance() { return per_process<OpenNow>(); }
};

}  // namespace

OpenAgain::OpenAgain(const FileId& id, std::function<void()> write_what_is_kept)
    : id_(id), write_what_is_kept_(std::move(write_what_is_kept)) {
  OpenNow& now = OpenNow::instance();
  const std::lock_guard lock(now.mutex);
  now.files.reserve(now.files.size() + 1);
  for (OpenAgain* other : now.files) {
    if (!(other->id_ == id_)) continue;
    other->write_what_is_kept_();
    ++other->others_;
    ++others_;
  }
  now.files.push_back(this);
}

OpenAgain::~OpenAgain() {
  OpenNow& now = OpenNow::instance();
  const std::lock_guard lock(now.mutex);
  std::erase(now.files, this);
  for (OpenAgain* other : now.files) {
    if (other->id_ == id_) --other->others_;
  }
}

void write_what_is_kept_of(const std::string& path) {
  OpenNow& now = OpenNow::instance();
  const std::lock_guard lock(now.mutex);
  FileId id;
  if (now.files.empty() || !id_at(path, id)) return;
  for (OpenAgain* file : now.files) {
    if (file->id_ == id) file->write_what_is_kept_();
  }
}

}  // namespace forebay
