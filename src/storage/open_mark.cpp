// Locks of bytes behind 2^62: one a file object, and a gate in front of them.
#include "storage/open_mark.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace forebay {
namespace {

constexpr std::int64_t kNumbers = std::int64_t{1} << 30;
constexpr std::int64_t kGate = std::int64_t{1} << 62;
constexpr std::int64_t kMarks = kGate + 1;  // of number 0, which nobody has

bool lock(int descriptor, int command, short type, std::int64_t begin, std::int64_t length, short* found) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(begin);
  range.l_len = static_cast<off_t>(length);
  int result = 0;
  do {
    result = ::fcntl(descriptor, command, &range);
  } while (result != 0 && errno == EINTR);
  if (found != nullptr) *found = range.l_type;
  return result == 0;
}

// Of other open file descriptions.
bool is_free(int descriptor, std::int64_t begin, std::int64_t length) {
  short found = F_WRLCK;
  return lock(descriptor, F_OFD_GETLK, F_WRLCK, begin, length, &found) && found == F_UNLCK;
}

bool is_locked(int descriptor, std::int64_t at) {
  short found = F_UNLCK;
  return lock(descriptor, F_OFD_GETLK, F_WRLCK, at, 1, &found) && found != F_UNLCK;
}

}  // namespace

std::int64_t OpenMark::any_number() {
  std::uint64_t any = 0;
  if (::getrandom(&any, sizeof any, GRND_NONBLOCK) != sizeof any)
    any = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) ^
          (static_cast<std::uint64_t>(::getpid()) << 20);
  return 1 + static_cast<std::int64_t>(any % (kNumbers - 2));
}

void OpenMark::set(int descriptor, std::int64_t number, bool shows) {
  if (shows_ && descriptor_ >= 0) (void)lock(descriptor_, F_OFD_SETLK, F_UNLCK, kMarks, kNumbers, nullptr);
  descriptor_ = descriptor;
  number_ = number;
  shows_ = shows;
  shown_ = false;
  if (!shows || descriptor < 0) return;
  shown_ = lock(descriptor, F_OFD_SETLK, F_WRLCK, kMarks + number, 1, nullptr);
  // Somebody has the same number: others are to see that there are two all the same.
  if (!shown_ && (errno == EAGAIN || errno == EACCES))
    (void)lock(descriptor, F_OFD_SETLK, F_WRLCK, kMarks + any_number(), 1, nullptr);
  if (lock(descriptor, F_OFD_SETLKW, F_WRLCK, kGate, 1, nullptr))
    (void)lock(descriptor, F_OFD_SETLK, F_UNLCK, kGate, 1, nullptr);
}

bool OpenMark::free_of_others() const {
  const bool shown = shows_ ? shown_ : is_locked(descriptor_, kMarks + number_);
  return shown && is_free(descriptor_, kMarks, number_) &&
         is_free(descriptor_, kMarks + number_ + 1, kNumbers - number_ - 1);
}

OpenMark::Alone::Alone(const OpenMark& mark) : mark_(mark) {
  if (mark.descriptor_ < 0) return;
  held_ = lock(mark.descriptor_, F_OFD_SETLKW, F_RDLCK, kGate, 1, nullptr);
  certain_ = held_ && mark.free_of_others();
}

OpenMark::Alone::~Alone() {
  if (held_) (void)lock(mark_.descriptor_, F_OFD_SETLK, F_UNLCK, kGate, 1, nullptr);
}

}  // namespace forebay
