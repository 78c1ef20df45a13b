#include "storage/node_view.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace forebay {

NodeView::NodeView(std::unique_ptr<Storage> below, int descriptor, std::string path)
    : below_(std::move(below)), descriptor_(descriptor), path_(std::move(path)) {}

Status NodeView::write(std::span<const Piece> pieces) {
  written_ = written_ || !pieces.empty();
  return below_->write(pieces);
}

Status NodeView::read(std::int64_t offset, std::byte* data, std::int64_t length) {
  renew();
  return below_->read(offset, data, length);
}

Status NodeView::show() {
  if (!std::exchange(written_, false) || descriptor_ < 0) return {};
  int result = 0;
  do {
    result = ::fdatasync(descriptor_);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status{} : from_errno(errno, "cannot sync " + path_);
}

// The sync is for clients in user space, which keep attributes for a second and more, and get new ones with
// its answer (GlusterFS). The size next: a read ends where the node believes that the file does. Pages that
// are not written out yet stay. Failures leave what the node sees anyway.
void NodeView::renew() {
  if (!std::exchange(old_, false) || descriptor_ < 0) return;
  (void)::fdatasync(descriptor_);
  struct statx info{};
  (void)::statx(descriptor_, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE | STATX_MTIME, &info);
  (void)::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace forebay
