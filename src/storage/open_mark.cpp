// Each file has 2^32 bytes of the folder, chosen by its device and inode: the first one is a gate, the others
// are numbers of objects. Two files with the same bytes only look as if somebody else were there.
#include "storage/open_mark.hpp"
#include "storage/file_lock.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <mutex>

namespace forebay {
namespace {

constexpr std::int64_t kNumbers = std::int64_t{1} << 31;
constexpr int kMostPolls = 300'000;  // with the pause, some tens of seconds
constexpr useconds_t kPause = 50;

// The process has one description for all its objects (each library of ours its own), which does not see its
// own locks: so they are counted.
struct Place {
  int descriptor = ::open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::mutex mutex;
  std::map<std::int64_t, std::map<std::int64_t, int>> objects;  // by file and number

  Place() {
    if (descriptor < 0) descriptor = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  static Place& instance() {
    static auto* place = new Place;  // never destroyed: exit order is not ours to choose
    return *place;
  }
};

bool lock(int command, short type, std::int64_t begin, std::int64_t length, short* found = nullptr) {
  return lock_range(Place::instance().descriptor, command, type, begin, length, found);
}

// Of other processes' locks.
bool is_free(std::int64_t begin, std::int64_t length) {
  short found = F_WRLCK;
  return length == 0 || (lock(F_OFD_GETLK, F_WRLCK, begin, length, &found) && found == F_UNLCK);
}

std::int64_t first_byte(const FileId& file) {
  std::uint64_t x = file.device * 0x9e3779b97f4a7c15U + file.inode;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return static_cast<std::int64_t>(x >> 34) << 32;
}

}  // namespace

std::int64_t OpenMark::any_number() {
  std::uint64_t any = 0;
  if (::getrandom(&any, sizeof any, GRND_NONBLOCK) != sizeof any)
    any = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) ^
          (static_cast<std::uint64_t>(::getpid()) << 20);
  return 1 + static_cast<std::int64_t>(any % (kNumbers - 2));
}

void OpenMark::leave(const FileId& file, std::int64_t number) {
  if (first_ >= 0) return;
  const std::int64_t first = first_byte(file);
  if (!lock(F_OFD_SETLK, F_RDLCK, first + number, 1)) return;
  {
    Place& place = Place::instance();
    const std::lock_guard guard(place.mutex);
    ++place.objects[first][number];
  }
  first_ = first;
  number_ = number;
  for (int i = 0; i < kMostPolls && !is_free(first, 1); ++i) ::usleep(kPause);
}

void OpenMark::release() {
  if (first_ < 0) return;
  Place& place = Place::instance();
  const std::lock_guard guard(place.mutex);
  auto& numbers = place.objects[first_];
  if (--numbers[number_] == 0) {
    numbers.erase(number_);
    (void)lock(F_OFD_SETLK, F_UNLCK, first_ + number_, 1);
  }
  if (numbers.empty()) place.objects.erase(first_);
  first_ = -1;
}

bool OpenMark::free_of_others() const {
  {
    Place& place = Place::instance();
    const std::lock_guard guard(place.mutex);
    if (place.objects[first_].size() != 1) return false;
  }
  return is_free(first_ + 1, number_ - 1) && is_free(first_ + number_ + 1, kNumbers - number_ - 1);
}

OpenMark::Alone::Alone(const OpenMark& mark) : mark_(mark) {
  if (mark.first_ < 0) return;
  held_ = lock(F_OFD_SETLK, F_RDLCK, mark.first_, 1);
  certain_ = held_ && mark.free_of_others();
}

OpenMark::Alone::~Alone() {
  if (held_) (void)lock(F_OFD_SETLK, F_UNLCK, mark_.first_, 1);
}

}  // namespace forebay
