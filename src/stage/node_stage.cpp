#include "stage/node_stage.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/host_name.hpp"
#include "base/waiting.hpp"
#include "layout/extent.hpp"
#include "storage/file_lock.hpp"

namespace forebay {
namespace {

// Locks lie far behind what the stage can hold: who uses it, who fills a slot, who fetches a unit.
constexpr std::int64_t kLives = (std::int64_t{1} << 60) - 1, kSlots = std::int64_t{1} << 60,
                       kUnits = std::int64_t{1} << 61;
// What one rank fetches at once: others find something to fetch beside it. By the buffer, where not all of it
// is wanted.
constexpr std::int64_t kMostAtOnce = 4 << 20, kMostBuffered = 1 << 20;
constexpr std::int64_t kMostTaken = 64;  // units that are looked at together in a compact stage
constexpr int kMostVictims = 8;
// For a unit that another process is at. Who is stopped, or reads a file that hangs, holds up nobody for
// good.
constexpr long kFirstNap = 50'000, kLongestNap = 2'000'000;  // nanoseconds
constexpr auto kPatience = std::chrono::seconds(10);

// The whole of it; errno where it is not ok.
bool write_all(int file, const std::byte* data, std::int64_t length, off_t at) {
  while (length > 0) {
    const ssize_t n = ::pwrite(file, data, static_cast<std::size_t>(length), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (n == 0) errno = ENOSPC;
      return false;
    }
    data += n;
    length -= n;
    at += n;
  }
  return true;
}

bool read_all(int file, std::byte* data, std::int64_t length, off_t at) {
  while (length > 0) {
    const ssize_t n = ::pread(file, data, static_cast<std::size_t>(length), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (n == 0) errno = EIO;  // it has been cut off
      return false;
    }
    data += n;
    length -= n;
    at += n;
  }
  return true;
}

bool is_held(int error) {
  return error == EAGAIN || error == EACCES;
}

}  // namespace

/// Where the bytes of a read go; without `data`, to the stage only.
struct NodeStage::Wanted {
  std::int64_t begin, end;
  std::byte* data;
  Storage& file;
  StageTally& tally;
};

// ---- made, found, left ----

Status NodeStage::make(const std::string& name, const FileStamp& stamp, std::int64_t unit, std::int64_t slots,
                       std::int64_t bound) {
  const std::string fresh = name + ".new";
  ::unlink(fresh.c_str());  // of a process that ended while it made one
  const Descriptor made(::open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  const auto failed = [&](int error) {
    if (made.number() >= 0) ::unlink(fresh.c_str());
    return from_errno(error, "cannot make the stage " + name);
  };
  if (made.number() < 0) return failed(errno);
  auto page = std::make_unique<StagePage>();
  StageIdentity& identity = page->identity;
  std::memcpy(identity.magic, "FOREBAYS", sizeof identity.magic);
  identity.version = kStageVersion;
  identity.bytes_of = sizeof(StageSlot);
  identity.device = stamp.id.device;
  identity.inode = stamp.id.inode;
  identity.size = stamp.size;
  identity.changed_at = stamp.changed_at;
  identity.made_at = time_of_day();
  identity.unit = unit;
  identity.slots = slots;
  boot_of_machine().copy(identity.boot, sizeof identity.boot - 1);
  host_name().copy(identity.host, sizeof identity.host - 1);
  if (stamp.path.size() >= sizeof identity.path) return failed(ENAMETOOLONG);
  stamp.path.copy(identity.path, sizeof identity.path - 1);
  identity.checksum = identity.right_checksum();
  page->state.bound.store(bound);
  page->state.opened_at.store(identity.made_at);
  // What is mapped must have its room; the bytes take theirs as they come.
  const StagePlan plan{identity.units(), slots};
  if (const int error = ::posix_fallocate(made.number(), 0, plan.data()); error != 0) return failed(error);
  if (!write_all(made.number(), reinterpret_cast<const std::byte*>(page.get()), sizeof(StagePage), 0) ||
      ::rename(fresh.c_str(), name.c_str()) != 0)
    return failed(errno);
  return {};
}

Status NodeStage::open(const std::string& name, std::unique_ptr<NodeStage>& out) {
  Descriptor file(::open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (file.number() < 0) return from_errno(errno, "cannot open the stage " + name);
  std::unique_ptr<NodeStage> stage(new NodeStage(std::move(file), name));
  if (Status status = stage->map(); !status.ok()) return status;
  if (!lock_range(stage->file_.number(), F_OFD_SETLK, F_RDLCK, kLives, 1))
    return from_errno(errno, "cannot lock the stage " + name);
  out = std::move(stage);
  return {};
}

Status NodeStage::map() {
  const int file = file_.number();
  struct stat info{};
  const auto refused = [&](const char* why) {
    return Status{Code::unsupported, "the stage " + name_ + " " + why};
  };
  if (::fstat(file, &info) != 0) return from_errno(errno, "cannot open the stage " + name_);
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refused("is not this user's alone");
  auto identity = std::make_unique<StageIdentity>();
  if (!read_all(file, reinterpret_cast<std::byte*>(identity.get()), sizeof(StageIdentity), 0) ||
      !identity->usable())
    return refused("is of another version, host or start of the machine, or it is damaged");
  const StagePlan plan{identity->units(), identity->slots};
  if (info.st_size < plan.data()) return refused("has been cut off");
  mapped_ = static_cast<std::size_t>(plan.mapped());
  void* const at = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return from_errno(errno, "cannot map the stage " + name_);
  auto* const bytes = static_cast<std::byte*>(at);
  page_ = reinterpret_cast<StagePage*>(bytes);
  table_ = reinterpret_cast<StageEntry*>(bytes + plan.table());
  slots_ = reinterpret_cast<StageSlot*>(bytes + plan.slot_table());
  data_ = plan.data();
  return {};
}

Status NodeStage::attach(const std::string& name, const FileStamp& file, std::unique_ptr<NodeStage>& out) {
  std::unique_ptr<NodeStage> stage;
  if (Status status = open(name, stage); !status.ok()) return status;
  if (stage->identity().stamp() != file)
    return {Code::unsupported, "the stage " + name + " is not of " + file.path + " as it is now"};
  out = std::move(stage);
  return {};
}

NodeStage::~NodeStage() {
  if (page_ != nullptr) ::munmap(page_, mapped_);
}

bool NodeStage::is_certain() const {
  return forebay::is_certain(identity().stamp(), identity().made_at);
}

bool NodeStage::is_used() const {
  short found = F_UNLCK;
  return !lock_range(file_.number(), F_OFD_GETLK, F_WRLCK, kLives, 1, &found) || found != F_UNLCK;
}

// Who ended between two steps has left it wrong. What others are at counts when it is there: they may go a
// little over the bound.
void NodeStage::count_again() {
  if (compact()) return;
  std::int64_t used = 0;
  for (std::int64_t unit = 0; unit < identity().units(); ++unit) {
    if (entry(unit) != 0) used += end_of(unit) - begin_of(unit);
  }
  page_->state.used.store(used);
}

void NodeStage::set_bound(std::int64_t bytes) {
  page_->state.bound.store(bytes);
  page_->state.said.store(0);
  page_->state.opened_at.store(time_of_day());
}

std::int64_t NodeStage::bound() const {
  return compact() ? identity().slots * identity().unit : page_->state.bound.load();
}

std::int64_t NodeStage::used() const {
  std::int64_t used = 0;
  for (std::int64_t unit = 0; unit < identity().units(); ++unit) {
    if (entry(unit) != 0) used += end_of(unit) - begin_of(unit);
  }
  return used;
}

bool NodeStage::has(std::int64_t begin, std::int64_t end) const {
  end = std::min(end, identity().size);
  for (std::int64_t unit = unit_of(begin); begin_of(unit) < end; ++unit) {
    if (entry(unit) == 0) return false;
  }
  return true;
}

std::int64_t NodeStage::end_of(std::int64_t unit) const {
  return std::min(begin_of(unit + 1), identity().size);
}

off_t NodeStage::place_of(std::uint32_t entry) const {
  return static_cast<off_t>(data_ + (static_cast<std::int64_t>(entry) - 1) * identity().unit);
}

bool NodeStage::lock(std::int64_t first, std::int64_t count) const {
  return lock_range(file_.number(), F_OFD_SETLK, F_WRLCK, kUnits + first, count);
}

void NodeStage::unlock(std::int64_t first, std::int64_t count) const {
  if (count > 0) (void)lock_range(file_.number(), F_OFD_SETLK, F_UNLCK, kUnits + first, count);
}

void NodeStage::switch_off(const std::string& why) {
  off_ = true;
  // One of the node.
  if (page_->state.said.exchange(1) == 0)
    warn_once(why + ": from now on " + identity().path + " is read past it");
}

// ---- reading ----

Status NodeStage::read(std::int64_t offset, std::byte* data, std::int64_t length, Storage& file,
                       StageTally& tally) {
  const std::int64_t end = std::min(offset + length, identity().size);
  if (off_ || offset >= end) return file.read(offset, data, length);
  Status status;
  // What the file may have got since it was opened.
  if (end < offset + length) status = file.read(end, data + (end - offset), offset + length - end);
  Wanted wanted{offset, end, data, file, tally};
  const std::int64_t last = unit_of(end - 1);
  std::vector<std::int64_t> busy;
  std::int64_t unit = unit_of(offset);
  while (unit <= last && status.ok() && !off_) {
    if (entry(unit) != 0) {
      unit = take(wanted, unit, last);
      continue;
    }
    std::int64_t count = 1;
    while (unit + count <= last && entry(unit + count) == 0) ++count;
    switch (fetch_units(wanted, unit, count, status)) {
      case Outcome::fetched:
        unit += count;
        break;
      case Outcome::there:
        break;
      case Outcome::busy:
        // There may be something else to fetch meanwhile.
        busy.push_back(unit);
        ++unit;
        break;
      case Outcome::no_room:
        status.update(read_past(wanted, unit, count));
        unit += count;
        break;
    }
  }
  if (off_ && unit <= last) status.update(read_past(wanted, unit, last - unit + 1));
  for (const std::int64_t each : busy) {
    const auto begun = now();
    long nap = kFirstNap;
    for (std::int64_t next = each; next == each && status.ok();) {
      std::int64_t count = 1;
      if (off_ || now() - begun > kPatience) {
        status = read_past(wanted, each, 1);
        break;
      }
      if (entry(each) != 0) {
        next = take(wanted, each, each);
        continue;
      }
      const Outcome outcome = fetch_units(wanted, each, count, status);
      if (outcome == Outcome::fetched) break;
      if (outcome == Outcome::no_room) {
        status.update(read_past(wanted, each, 1));
        break;
      }
      if (outcome == Outcome::busy && !off_) {
        sleep_for(nap);
        nap = std::min(2 * nap, kLongestNap);
      }
    }
  }
  return status;
}

Status NodeStage::read_past(Wanted& wanted, std::int64_t first, std::int64_t count) {
  const std::int64_t begin = std::max(wanted.begin, begin_of(first));
  const std::int64_t end = std::min(wanted.end, end_of(first + count - 1));
  if (wanted.data == nullptr || begin >= end) return {};
  return wanted.file.read(begin, wanted.data + (begin - wanted.begin), end - begin);
}

// Units that lie one after the other, from `unit` on. Returns the first one that it has not read: in a
// compact stage others may need the room meanwhile, which the generation tells.
std::int64_t NodeStage::take(Wanted& wanted, std::int64_t unit, std::int64_t last) {
  const std::uint32_t first = entry(unit);
  if (first == 0) return unit;
  std::array<std::uint64_t, kMostTaken> generations;
  std::int64_t count = 0;
  const auto place = [&](std::int64_t i) { return first + static_cast<std::uint32_t>(i); };
  const auto slot = [&](std::int64_t i) -> StageSlot& { return slots_[place(i) - 1]; };
  for (; unit + count <= last; ++count) {
    if (compact()) {
      if (count == kMostTaken || place(count) > identity().slots) break;
      generations[static_cast<std::size_t>(count)] = slot(count).generation.load(std::memory_order_acquire);
    }
    if (entry(unit + count) != place(count)) break;
  }
  if (count == 0) return unit;
  const std::int64_t begin = std::max(wanted.begin, begin_of(unit));
  const std::int64_t end = std::min(wanted.end, end_of(unit + count - 1));
  if (!read_all(file_.number(), wanted.data + (begin - wanted.begin), end - begin,
                place_of(first) + (begin - begin_of(unit)))) {
    switch_off(from_errno(errno, "cannot read the stage " + name_).message());
    return unit;
  }
  if (compact()) {
    // Between the bytes and the second look at where they were.
    const std::uint64_t used = page_->state.clock.fetch_add(1, std::memory_order_seq_cst) + 1;
    for (std::int64_t i = 0; i < count; ++i) {
      if (entry(unit + i) != place(i) ||
          slot(i).generation.load(std::memory_order_acquire) != generations[static_cast<std::size_t>(i)]) {
        count = i;
        break;
      }
      slot(i).used.store(used, std::memory_order_relaxed);
    }
    if (count == 0) return unit;
  }
  ++wanted.tally.reads;
  wanted.tally.read_bytes += std::min(wanted.end, end_of(unit + count - 1)) - begin;
  return unit + count;
}

// ---- fetching ----

std::int64_t NodeStage::fetch(std::int64_t begin, std::int64_t end, std::int64_t most, Storage& file,
                              StageTally& tally) {
  end = std::min(end, identity().size);
  if (off_ || begin >= end) return kNoOffset;
  Wanted wanted{begin, end, nullptr, file, tally};
  const std::int64_t last = unit_of(end - 1), before = tally.fetched_bytes;
  Status status;
  for (std::int64_t unit = unit_of(begin); unit <= last;) {
    std::int64_t count = 0;
    while (unit + count <= last && entry(unit + count) == 0) ++count;
    if (count == 0) {
      ++unit;
      continue;
    }
    if (tally.fetched_bytes - before >= most) return begin_of(unit);
    const Outcome outcome = fetch_units(wanted, unit, count, status);
    // Who needs it hears why.
    if (outcome == Outcome::no_room || !status.ok() || off_) return kNoOffset;
    if (outcome == Outcome::fetched) unit += count;
    if (outcome == Outcome::busy) ++unit;
  }
  return kNoOffset;
}

// `count`: how many from `unit` on are not there; then how many these were.
NodeStage::Outcome NodeStage::fetch_units(Wanted& wanted, std::int64_t unit, std::int64_t& count,
                                          Status& status) {
  const std::int64_t begin = begin_of(unit), bytes_of_unit = identity().unit;
  // To where they are wanted, as far as all of a unit is.
  const bool direct = wanted.data != nullptr && wanted.begin <= begin && wanted.end >= end_of(unit);
  if (direct && wanted.end < end_of(unit + count - 1)) count = unit_of(wanted.end) - unit;
  const std::int64_t most = direct ? kMostAtOnce : kMostBuffered;
  count = std::clamp<std::int64_t>(most / bytes_of_unit, 1, count);
  if (!direct && buffer_bytes_ < count * bytes_of_unit) {
    buffer_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(count * bytes_of_unit)]);
    buffer_bytes_ = buffer_ ? count * bytes_of_unit : 0;
    if (!buffer_) return Outcome::no_room;
  }
  places_.reserve(static_cast<std::size_t>(count));  // not while others may wait for this
  if (!lock(unit, count)) {
    count = 1;
    if (!lock(unit, 1)) {
      if (!is_held(errno)) switch_off(from_errno(errno, "cannot lock the stage " + name_).message());
      return Outcome::busy;
    }
  }
  std::int64_t absent = 0;
  while (absent < count && entry(unit + absent) == 0) ++absent;
  const std::int64_t reserved = absent == 0 ? 0 : reserve(unit, absent);
  unlock(unit + reserved, count - reserved);
  if (reserved == 0) return absent == 0 ? Outcome::there : Outcome::no_room;
  count = reserved;
  const std::int64_t length = end_of(unit + count - 1) - begin;
  std::byte* const to = direct ? wanted.data + (begin - wanted.begin) : buffer_.get();
  status = wanted.file.read(begin, to, length);
  const bool whole = status.ok() && write(unit, count, to, length);
  settle(unit, count, whole);
  unlock(unit, count);
  if (!status.ok()) return Outcome::fetched;
  if (!direct && wanted.data != nullptr) {
    const std::int64_t from = std::max(wanted.begin, begin), upto = std::min(wanted.end, begin + length);
    std::memcpy(wanted.data + (from - wanted.begin), to + (from - begin),
                static_cast<std::size_t>(upto - from));
  }
  if (whole) {
    ++wanted.tally.fetches;
    wanted.tally.fetched_bytes += length;
  }
  return Outcome::fetched;
}

// Places for so many of them, the first ones. Compact: with a lock of each, until settle().
std::int64_t NodeStage::reserve(std::int64_t unit, std::int64_t count) {
  places_.clear();
  added_ = 0;
  if (compact()) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t slot = free_slot();
      if (slot < 0) break;
      places_.push_back(static_cast<std::uint32_t>(slot + 1));
    }
    return static_cast<std::int64_t>(places_.size());
  }
  std::atomic<std::int64_t>& used = page_->state.used;
  const std::int64_t bound = page_->state.bound.load(std::memory_order_relaxed);
  std::int64_t seen = used.load(std::memory_order_relaxed);
  while (bound < identity().size) {
    std::int64_t fit = count;
    while (fit > 0 && seen + end_of(unit + fit - 1) - begin_of(unit) > bound) --fit;
    if (fit == 0 && std::exchange(counted_, true)) return 0;
    if (fit == 0) {
      count_again();
      seen = used.load(std::memory_order_relaxed);
    } else if (used.compare_exchange_weak(seen, seen + end_of(unit + fit - 1) - begin_of(unit))) {
      count = fit;
      added_ = end_of(unit + fit - 1) - begin_of(unit);
      break;
    }
  }
  for (std::int64_t i = 0; i < count; ++i) places_.push_back(static_cast<std::uint32_t>(unit + i + 1));
  return count;
}

// What reserve() gave. `whole`: from now on they are there.
void NodeStage::settle(std::int64_t unit, std::int64_t count, bool whole) {
  if (!whole) page_->state.used.fetch_sub(added_);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t place = places_[static_cast<std::size_t>(i)];
    if (compact() && whole) slots_[place - 1].unit.store(unit + i + 1, std::memory_order_relaxed);
    if (whole) table_[unit + i].store(place, std::memory_order_release);
    if (compact()) (void)lock_range(file_.number(), F_OFD_SETLK, F_UNLCK, kSlots + place - 1, 1);
  }
  places_.clear();
}

bool NodeStage::write(std::int64_t unit, std::int64_t count, const std::byte* data, std::int64_t length) {
  for (std::int64_t i = 0; i < count;) {
    std::int64_t next = i + 1;
    while (next < count &&
           places_[static_cast<std::size_t>(next)] == places_[static_cast<std::size_t>(next - 1)] + 1)
      ++next;
    const std::int64_t from = begin_of(unit + i) - begin_of(unit);
    const std::int64_t upto = std::min(length, begin_of(unit + next) - begin_of(unit));
    if (!write_all(file_.number(), data + from, upto - from,
                   place_of(places_[static_cast<std::size_t>(i)]))) {
      switch_off(from_errno(errno, "cannot write to the stage " + name_).message());
      return false;
    }
    i = next;
  }
  return true;
}

// Locked, and nothing is in it; -1: all that could be are being filled.
std::int64_t NodeStage::free_slot() {
  StageState& s = page_->state;
  const std::int64_t slots = identity().slots;
  while (s.next_slot.load(std::memory_order_relaxed) < slots) {
    const std::int64_t next = s.next_slot.fetch_add(1, std::memory_order_relaxed);
    if (next < slots && take_slot(next)) return next;
  }
  // What was used least recently.
  std::optional<std::pair<std::uint64_t, std::int64_t>> tried;
  for (int i = 0; i < kMostVictims; ++i) {
    std::optional<std::pair<std::uint64_t, std::int64_t>> best;
    for (std::int64_t each = 0; each < slots; ++each) {
      const std::pair key(slots_[each].used.load(std::memory_order_relaxed), each);
      if ((!tried || key > *tried) && (!best || key < *best)) best = key;
    }
    if (!best) return -1;
    if (take_slot(best->second)) return best->second;
    tried = best;
  }
  return -1;
}

bool NodeStage::take_slot(std::int64_t number) {
  if (!lock_range(file_.number(), F_OFD_SETLK, F_WRLCK, kSlots + number, 1)) return false;
  // Its own lock never keeps this one out.
  const auto place = static_cast<std::uint32_t>(number + 1);
  if (std::ranges::find(places_, place) != places_.end()) return false;
  StageSlot& slot = slots_[number];
  slot.generation.fetch_add(1, std::memory_order_seq_cst);
  if (const std::int64_t old = slot.unit.load(std::memory_order_relaxed); old > 0) {
    std::uint32_t expected = place;
    table_[old - 1].compare_exchange_strong(expected, 0, std::memory_order_seq_cst);
  }
  slot.unit.store(0, std::memory_order_relaxed);
  // Recently, so that nobody looks at it first while it is being filled.
  slot.used.store(page_->state.clock.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return true;
}

}  // namespace forebay
