#include "storage/node_view.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "storage/descriptors.hpp"

namespace forebay {
namespace {

Status sync(int descriptor, const std::string& path) {
  int result = 0;
  do {
    result = ::fdatasync(descriptor);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status{} : from_errno(errno, "cannot sync " + path);
}

}  // namespace

NodeView::NodeView(std::unique_ptr<Storage> below, int descriptor, std::string path, Renewal renewal)
    : below_(std::move(below)), descriptor_(descriptor), path_(std::move(path)), renewal_(renewal) {}

// Noted afterwards, so that a show() of another thread meanwhile does not count for it.
Status NodeView::write(std::span<const Piece> pieces) {
  if (pieces.empty()) return {};
  Status status = below_->write(pieces);
  written_ = true;
  if (at_once_) status.update(show());
  return status;
}

Status NodeView::read(std::int64_t offset, std::byte* data, std::int64_t length) {
  renew();
  return below_->read(offset, data, length);
}

// A client in user space may sync what came through that one descriptor only (MooseFS). Another thread may
// have closed one of the others meanwhile.
Status NodeView::show() {
  const bool written = written_.exchange(false), elsewhere = elsewhere_.exchange(given_away_);
  Status status = written && descriptor_ >= 0 ? sync(descriptor_, path_) : Status{};
  if (FileId id; elsewhere && id_of(descriptor_, id)) {
    for (const int each : descriptors_of(id)) {
      Status synced = each == descriptor_ && written ? Status{} : sync(each, path_);
      if (synced.ok() || errno != EBADF) status.update(std::move(synced));
    }
  }
  return status;
}

// The sync is for clients in user space, which keep attributes for a second and more, and get new ones with
// its answer (GlusterFS). GlusterFS also keeps small files whole for a second, until somebody on this node
// changes them: allocating a byte that is there changes nothing. The size next: a read ends where the node
// believes that the file does. Pages that are not written out yet stay. Failures leave what the node sees
// anyway.
void NodeView::renew() {
  if (!old_.exchange(false) || descriptor_ < 0) return;
  (void)::fdatasync(descriptor_);
  if (renewal_ == Renewal::by_allocation) (void)::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, 0, 1);
  struct statx info{};
  (void)::statx(descriptor_, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE | STATX_MTIME, &info);
  (void)::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace forebay
