#include "stage/stages.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/descriptor.hpp"
#include "base/host_name.hpp"
#include "base/waiting.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace forebay {
namespace {

constexpr std::string_view kBegins = "forebay-", kEnds = ".stage";
constexpr std::int64_t kLeastUnits = 2;
constexpr long kNap = 1'000'000;
constexpr int kMostNaps = 2'000;

/// Others wait with making and removing stages.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (folder_.number() < 0) return;
    for (int i = 0; i < kMostNaps; ++i) {
      held_ = ::flock(folder_.number(), LOCK_EX | LOCK_NB) == 0;
      if (held_ || (errno != EWOULDBLOCK && errno != EINTR)) return;
      sleep_for(kNap);
    }
  }
  bool held() const { return held_; }

 private:
  Descriptor folder_;
  bool held_ = false;
};

// `mark`: what sets it apart from others of that file.
std::string name_for(const std::string& folder, const FileStamp& file, std::int64_t mark) {
  const std::string key = std::to_string(mark) + '\n' + host_name() + '\n' + std::to_string(::geteuid()) +
                          '\n' + file.path + '\n' + std::to_string(file.id.device) + '\n' +
                          std::to_string(file.id.inode);
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(key.data(), key.size())));
  return folder + "/" + std::string(kBegins) + text.data() + std::string(kEnds);
}

bool is_stage(std::string_view name) {
  return name.starts_with(kBegins) && name.ends_with(kEnds);
}

std::int64_t taken_by(const std::string& name) {
  struct stat info{};
  return ::lstat(name.c_str(), &info) == 0 ? static_cast<std::int64_t>(info.st_blocks) * 512 : 0;
}

bool look_at(const std::string& name, FoundStage& found) {
  struct stat info{};
  if (::lstat(name.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) return false;
  found.name = name;
  found.taken = taken_by(name);
  std::unique_ptr<NodeStage> stage;
  if (!NodeStage::open(name, stage).ok()) return true;
  const StageIdentity& identity = stage->identity();
  found.path = identity.path;
  found.size = identity.size;
  found.staged = stage->used();
  const StagePlan plan{identity.units(), identity.slots};
  found.promised = plan.data() + std::min(stage->bound(), identity.size);
  found.opened_at = stage->opened_at();
  found.compact = stage->compact();
  found.used = stage->is_used();
  FileStamp now;
  found.current = (found.used || stage->is_certain()) && stamp_at(found.path, now) && now == identity.stamp();
  return true;
}

// What the others take or may take.
std::int64_t needed(const FoundStage& stage) {
  return stage.used ? std::max(stage.taken, stage.promised) : stage.taken;
}

/// How much the stage of that name may take, once what is of no use is gone; at least `wanted` where that can
/// be had.
std::int64_t make_room(std::vector<FoundStage>& others, std::int64_t total, std::int64_t wanted) {
  std::int64_t room = total;
  for (const FoundStage& each : others) room -= needed(each);
  std::ranges::sort(others, [](const FoundStage& a, const FoundStage& b) {
    return a.current != b.current ? !a.current : a.opened_at < b.opened_at;
  });
  for (const FoundStage& each : others) {
    if (each.current && (room >= wanted || each.used)) continue;
    if (!remove_stage(each.name).ok()) continue;
    room += needed(each);
  }
  return std::min(room, total);
}

}  // namespace

Status list_stages(const std::string& folder, std::vector<FoundStage>& out) {
  out.clear();
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> entries(::opendir(folder.c_str()));
  if (!entries) return from_errno(errno, "cannot list the stages in " + folder);
  while (const dirent* const entry = ::readdir(entries.get())) {
    FoundStage found;
    if (is_stage(entry->d_name) && look_at(folder + "/" + entry->d_name, found))
      out.push_back(std::move(found));
  }
  return {};
}

Status remove_stage(const std::string& name) {
  return ::unlink(name.c_str()) == 0 || errno == ENOENT ? Status{}
                                                        : from_errno(errno, "cannot remove " + name);
}

Status find_stage(const StageWish& wish, std::unique_ptr<NodeStage>& out) {
  const FileStamp& file = wish.file;
  if (boot_of_machine().empty())
    return {Code::unsupported, "cannot keep a stage in " + wish.folder +
                                   ": /proc does not tell when the "
                                   "machine was started"};
  const FolderLock lock(wish.folder);
  struct statvfs disk{};
  if (::statvfs(wish.folder.c_str(), &disk) != 0)
    return from_errno(errno, "cannot keep a stage in " + wish.folder);
  if (!lock.held()) return from_errno(errno, "cannot lock " + wish.folder + ", to keep a stage there");
  std::vector<FoundStage> others;
  if (Status status = list_stages(wish.folder, others); !status.ok()) return status;
  const std::int64_t time = time_of_day();
  const bool certain = is_certain(file, time);
  const std::string name = name_for(wish.folder, file, certain ? 0 : time ^ ::getpid());
  std::int64_t all = 0;
  for (const FoundStage& each : others) all += each.taken;
  const auto free = static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
  const std::int64_t total = wish.bytes > 0 ? wish.bytes : (free + all) / 2;
  std::erase_if(others, [&](const FoundStage& each) { return each.name == name; });

  const std::int64_t unit = choose_unit(wish.stripe_bytes, file.size);
  const std::int64_t units = (file.size + unit - 1) / unit;
  const std::int64_t head = StagePlan{units, 0}.data();
  const std::int64_t room = make_room(others, total, head + file.size);
  const bool fits = room >= head + file.size;

  std::unique_ptr<NodeStage> there;
  if (NodeStage::open(name, there).ok()) {
    const bool current = there->identity().stamp() == file && there->is_certain();
    const bool used = there->is_used();
    const bool too_large = there->compact() && !used && there->bound() > room;
    const bool other_kind =
        !used && (wish.kind == StageKind::compact ? !there->compact() : there->compact() && fits);
    if (current && !too_large && !other_kind) {
      there->count_again();
      there->set_bound(std::clamp<std::int64_t>(room - head, 0, file.size));
      out = std::move(there);
      return {};
    }
    there.reset();
  }
  if (Status status = remove_stage(name); !status.ok()) return status;

  std::int64_t slots = 0;
  const bool compact = wish.kind == StageKind::compact || (wish.kind == StageKind::automatic && !fits);
  const std::int64_t least = std::min(units, kLeastUnits);
  if (compact) {
    slots = std::clamp<std::int64_t>((room - head) / unit, 0, units);
    while (slots > 0 && StagePlan{units, slots}.data() + slots * unit > room) --slots;
  }
  if (compact ? slots < least : room - head < std::min(file.size, least * unit))
    return {Code::no_space, "there is no room for a stage of " + file.path + " in " + wish.folder +
                                ": see forebay_stage_bytes, and forebay stage " + wish.folder};
  const std::int64_t bound = std::clamp<std::int64_t>(room - head, 0, file.size);
  if (Status status = NodeStage::make(name, file, unit, slots, bound); !status.ok()) return status;
  return NodeStage::open(name, out);
}

}  // namespace forebay
