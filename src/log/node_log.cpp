#include "log/node_log.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/host_name.hpp"
#include "base/uninterrupted.hpp"
#include "base/waiting.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace forebay {
namespace {

constexpr std::int64_t kSlots = 1 << 15;
constexpr std::int64_t kLeastCapacity = 1 << 20;
// Pieces of at least so much are an append each; smaller ones are gathered up to the second number.
constexpr std::int64_t kLarge = 64 << 10, kGathered = 256 << 10;
constexpr std::int64_t kBatch = 8 << 20;
// Where locks say who lives: a byte for each rank, far behind what the log can hold.
// Of who appends nothing more: what it has begun never comes.
constexpr int kNobody = -2;
constexpr off_t kLives = off_t{1} << 61, kDrains = kLives - 1;

std::int64_t rounded(std::int64_t bytes) {
  return (bytes + 7) / 8 * 8;
}

// The whole vector; errno where it is not ok.
bool write_vector(int file, iovec* parts, std::size_t count, off_t at) {
  while (count > 0) {
    const ssize_t n = ::pwritev(file, parts, static_cast<int>(std::min<std::size_t>(count, IOV_MAX)), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (n == 0) errno = ENOSPC;
      return false;
    }
    at += n;
    auto left = static_cast<std::size_t>(n);
    while (count > 0 && left >= parts->iov_len) {
      left -= parts->iov_len;
      ++parts;
      --count;
    }
    if (count > 0) {
      parts->iov_base = static_cast<char*>(parts->iov_base) + left;
      parts->iov_len -= left;
    }
  }
  return true;
}

std::size_t table_of(std::span<const LogExtent> extents) {
  return extents.size() > 1 ? extents.size_bytes() : 0;
}

std::int64_t data_of(std::span<const LogExtent> extents, std::int64_t bytes) {
  return bytes + static_cast<std::int64_t>(table_of(extents));
}

// A number of the machine's boot.
std::uint64_t this_boot() {
  std::array<char, 64> text{};
  const Descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  const ssize_t got = file.number() >= 0 ? ::read(file.number(), text.data(), text.size()) : 0;
  return XXH3_64bits(text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
}

std::string in_hex(std::uint64_t number) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%llx", static_cast<unsigned long long>(number));
  return text.data();
}

}  // namespace

// ---- made, found, left ----

Status NodeLog::create(const Wish& wish, std::string& name) {
  struct statvfs room{};
  if (::statvfs(wish.folder.c_str(), &room) != 0)
    return from_errno(errno, "cannot keep a log in " + wish.folder);
  LogIdentity identity{};
  std::memcpy(identity.magic, "FOREBAYL", sizeof identity.magic);
  identity.version = kLogVersion;
  identity.bytes_of = sizeof(LogSlot);
  identity.device = wish.file.device;
  identity.inode = wish.file.inode;
  identity.generation = wish.generation;
  identity.slots = kSlots;
  const auto free = static_cast<std::int64_t>(room.f_bavail) * static_cast<std::int64_t>(room.f_frsize);
  identity.capacity =
      std::max(wish.capacity > 0 ? wish.capacity : free / 2, kLeastCapacity) / kLogPage * kLogPage;
  identity.stripe_bytes = wish.stripe_bytes;
  identity.node = wish.node;
  identity.fills = wish.fills_holes ? 1 : 0;
  identity.mark = wish.mark;
  identity.nodes = wish.nodes;
  identity.ranks = wish.ranks;
  identity.level1 = wish.level1;
  identity.boot = this_boot();
  host_name().copy(identity.host, sizeof identity.host - 1);
  if (wish.path.size() >= sizeof identity.path)
    return {Code::bad_argument, "the name of " + wish.path + " is too long for a log"};
  wish.path.copy(identity.path, sizeof identity.path - 1);
  identity.checksum = identity.right_checksum();

  name = wish.folder + "/forebay-" + in_hex(identity.device) + "-" + in_hex(identity.inode) + "-" +
         in_hex(static_cast<std::uint64_t>(identity.generation)) + "-" + std::to_string(wish.node) + ".log";
  const Descriptor made(
      uninterrupted([&] { return ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); }));
  const auto failed = [&](int error) {
    if (made.number() >= 0) ::unlink(name.c_str());
    return from_errno(error, "cannot make the log " + name);
  };
  if (made.number() < 0) return failed(errno);
  const LogPlan plan(identity);
  // What is mapped must have its room; a level 1 and the ring take theirs as they are used.
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(made.number(), 0, plan.level1s);
  if (error != 0) return failed(error);
  if (uninterrupted([&] { return ::ftruncate(made.number(), plan.ring + identity.capacity); }) != 0)
    return failed(errno);
  void* const at = ::mmap(nullptr, kLogPage, PROT_READ | PROT_WRITE, MAP_SHARED, made.number(), 0);
  if (at == MAP_FAILED) return failed(errno);
  auto* const page = new (at) LogPage{};
  page->identity = identity;
  page->state.lock.initialize();
  page->state.drain.initialize();
  ::munmap(at, kLogPage);
  return {};
}

Status NodeLog::attach(const std::string& name, int rank, std::unique_ptr<NodeLog>& out) {
  Descriptor file(uninterrupted([&] { return ::open(name.c_str(), O_RDWR | O_CLOEXEC); }));
  if (file.number() < 0) return from_errno(errno, "cannot open the log " + name);
  return attach(std::move(file), name, rank, out);
}

Status NodeLog::attach(Descriptor file, std::string name, int rank, std::unique_ptr<NodeLog>& out) {
  std::unique_ptr<NodeLog> log(new NodeLog(std::move(file), std::move(name), rank));
  if (Status status = log->map(); !status.ok()) return status;
  if (rank >= 0 && !log->lock_byte(kLives + rank))
    return from_errno(errno, "cannot lock the log " + log->name_);
  out = std::move(log);
  return {};
}

Status NodeLog::map() {
  LogIdentity identity{};
  std::size_t got = 0;
  while (got < sizeof identity) {
    const ssize_t n = uninterrupted([&] {
      return ::pread(descriptor(), reinterpret_cast<char*>(&identity) + got, sizeof identity - got,
                     static_cast<off_t>(got));
    });
    if (n < 0) return from_errno(errno, "cannot read the log " + name_);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  if (got != sizeof identity || !identity.valid())
    return {Code::unsupported, name_ + " is no log of this version of Forebay, or its first page is damaged"};
  const LogPlan plan(identity);
  struct stat status{};
  if (::fstat(descriptor(), &status) != 0 || status.st_size < plan.ring)
    return {Code::unsupported, name_ + " is shorter than a log of its kind"};
  mapped_ = static_cast<std::size_t>(plan.ring);
  void* const at = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor(), 0);
  if (at == MAP_FAILED) return from_errno(errno, "cannot map the log " + name_);
  page_ = static_cast<LogPage*>(at);
  slots_ = reinterpret_cast<LogSlot*>(static_cast<std::byte*>(at) + kLogPage);
  ring_ = plan.ring;
  return {};
}

NodeLog::~NodeLog() {
  if (page_ != nullptr) ::munmap(page_, mapped_);
}

bool NodeLog::lock_byte(off_t byte) const noexcept {
  struct flock wanted{};
  wanted.l_type = F_WRLCK;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = byte;
  wanted.l_len = 1;
  return ::fcntl(descriptor(), F_OFD_SETLK, &wanted) == 0;
}

// By others than this object; `length` 0: all bytes from there on.
bool NodeLog::is_locked(off_t begin, off_t length) const {
  struct flock asked{};
  asked.l_type = F_WRLCK;
  asked.l_whence = SEEK_SET;
  asked.l_start = begin;
  asked.l_len = length;
  return ::fcntl(descriptor(), F_OFD_GETLK, &asked) != 0 || asked.l_type != F_UNLCK;
}

bool NodeLog::lives(int rank) const {
  return rank == rank_ || is_locked(kLives + rank, 1);
}

void NodeLog::leave() noexcept {
  rank_ = kNobody;
  struct flock lives{};
  lives.l_type = F_UNLCK;
  lives.l_whence = SEEK_SET;
  lives.l_start = kLives;
  lives.l_len = 0;
  (void)::fcntl(descriptor(), F_OFD_SETLK, &lives);
}

bool NodeLog::is_used() const {
  return is_locked(kLives, 0);
}

bool NodeLog::be_drainer() noexcept {
  return lock_byte(kDrains);
}

bool NodeLog::has_drainer() const {
  return is_locked(kDrains, 1);
}

// ---- level 1 ----

Level1Memory NodeLog::level1_of(int rank) const {
  const LogPlan plan(page_->identity);
  auto* const begin = reinterpret_cast<std::byte*>(page_);
  return {reinterpret_cast<Level1State*>(begin + plan.states) + rank,
          begin + plan.level1s + rank * plan.level1};
}

bool NodeLog::level1(Level1Memory& memory) {
  const LogPlan plan(page_->identity);
  if (plan.level1 == 0 || rank_ < 0 || rank_ >= page_->identity.ranks) return false;
  if (!has_level1_ && ::posix_fallocate(descriptor(), plan.level1s + rank_ * plan.level1, plan.level1) != 0)
    return false;
  has_level1_ = true;
  memory = level1_of(rank_);
  return true;
}

std::int64_t NodeLog::left_in_level1() const {
  const LogIdentity& identity = page_->identity;
  std::int64_t bytes = 0;
  if (identity.level1 == 0 || identity.boot != this_boot()) return 0;
  for (int rank = 0; rank < identity.ranks; ++rank) {
    const Level1Memory memory = level1_of(rank);
    if (memory.state->count.load(std::memory_order_acquire) == 0) continue;
    const Level1Left left(memory, identity.level1);
    for (std::size_t i = 0; i < left.size(); ++i) bytes += left[i].length;
  }
  return bytes;
}

// It is newer than all that its rank has appended.
Status NodeLog::drain_left(Storage& file) {
  if (Status status = drain_all(file); !status.ok()) return status;
  const LogIdentity& identity = page_->identity;
  if (identity.level1 == 0 || identity.boot != this_boot()) return {};
  try {
    for (int rank = 0; rank < identity.ranks; ++rank) {
      const Level1Memory memory = level1_of(rank);
      if (memory.state->count.load(std::memory_order_acquire) == 0) continue;
      const Level1Left left(memory, identity.level1);
      std::vector<Piece> pieces;
      for (std::size_t i = 0; i < left.size(); ++i)
        pieces.push_back({left[i].file, left.memory() + left[i].stream, left[i].length});
      if (Status status = file.write(pieces); !status.ok()) return status;
      memory.state->initialize();
    }
  } catch (const std::bad_alloc&) {
    return {Code::no_memory, "no memory to write what the log " + name_ + " has of " + identity.path};
  }
  return {};
}

// ---- appending ----

// Data of an append lie in one piece: what is left at the ring's end may stay empty.
bool NodeLog::reserve(std::int64_t data, std::int64_t& number) {
  LogState& s = page_->state;
  const std::int64_t capacity = page_->identity.capacity;
  bool needed = false, found = false;
  s.lock.take(repair_nothing);
  number = s.next.load(std::memory_order_relaxed);
  const std::int64_t first = s.first.load(std::memory_order_acquire);
  std::int64_t at = s.tail.load(std::memory_order_relaxed);
  if (first == number) {
    // Memory that was used before is nearer than new.
    if (at % capacity != 0) at += capacity - at % capacity;
    s.head.store(at, std::memory_order_relaxed);
    needed = true;
  } else if (at % capacity + data > capacity) {
    at += capacity - at % capacity;
  }
  if (number - first < page_->identity.slots &&
      at + data - s.head.load(std::memory_order_acquire) <= capacity) {
    LogSlot& slot = this->slot(number);
    slot.state.store(SlotState::reserved, std::memory_order_relaxed);
    slot.rank = rank_;
    slot.number = number;
    slot.position = at;
    slot.data = data;
    s.tail.store(at + rounded(data), std::memory_order_relaxed);
    s.next.store(number + 1, std::memory_order_release);
    found = true;
  }
  const std::int64_t used = s.tail.load(std::memory_order_relaxed) - s.head.load(std::memory_order_relaxed);
  s.lock.give();
  if ((needed || used > capacity / 4 * 3 || !found) && when_needed_) when_needed_();
  return found;
}

Status NodeLog::make_room(Storage& below) {
  LogState& s = page_->state;
  const std::uint32_t seen = s.drained.load(std::memory_order_acquire);
  bool blocked = false;
  if (s.drain.try_take(repair_nothing)) {
    Status status = drain_locked(below, kBatch, blocked);
    s.drain.give();
    if (!status.ok()) return status;
    if (blocked) sleep_for(100'000);
    return {};
  }
  s.sleepers.fetch_add(1, std::memory_order_seq_cst);
  sleep_on(s.drained, seen, 20'000'000);
  s.sleepers.fetch_sub(1, std::memory_order_relaxed);
  return {};
}

Status NodeLog::gather(std::span<const Piece> pieces, Storage& below) {
  if (page_->state.off.load(std::memory_order_relaxed) != 0 || rank_ == kNobody)
    return write_past(pieces, below);
  const std::int64_t most = page_->identity.capacity / 4;
  Status status;
  for (const Piece& piece : pieces) {
    if (!status.ok()) break;
    if (piece.length <= 0) continue;
    if (piece.length < std::min(kLarge, most)) {
      const auto extents = static_cast<std::int64_t>(extents_.size() + 1);
      const auto held = static_cast<std::int64_t>(bytes_.size());
      if (held + piece.length + extents * static_cast<std::int64_t>(sizeof(LogExtent)) >
          std::min(kGathered, most))
        status = put_gathered(below);
      if (!extents_.empty() && extents_.back().offset + extents_.back().length == piece.offset)
        extents_.back().length += piece.length;
      else
        extents_.push_back({piece.offset, piece.length});
      bytes_.insert(bytes_.end(), piece.data, piece.data + piece.length);
      continue;
    }
    status = put_gathered(below);
    for (std::int64_t done = 0; done < piece.length && status.ok();) {
      const Piece part{piece.offset + done, piece.data + done, std::min(piece.length - done, most)};
      const LogExtent extent{part.offset, part.length};
      status = put({&extent, 1}, {&part, 1}, below);
      done += part.length;
    }
  }
  if (!status.ok()) {
    extents_.clear();
    bytes_.clear();
  }
  return status;
}

Status NodeLog::put_gathered(Storage& below) {
  if (extents_.empty()) return {};
  std::vector<Piece> parts;
  parts.reserve(extents_.size());
  const std::byte* at = bytes_.data();
  for (const LogExtent& extent : extents_) {
    parts.push_back({extent.offset, at, extent.length});
    at += extent.length;
  }
  Status status = put(extents_, parts, below);
  extents_.clear();
  bytes_.clear();
  return status;
}

// `parts`: the extents' bytes, one after the other in memory.
Status NodeLog::put(std::span<const LogExtent> extents, std::span<const Piece> parts, Storage& below) {
  std::int64_t bytes = 0;
  for (const LogExtent& extent : extents) bytes += extent.length;
  std::int64_t number = 0;
  if (!reserve(data_of(extents, bytes), number)) {
    ++figures_.full_waits;
    const auto begun = now();
    Status status;
    do {
      status = make_room(below);
    } while (status.ok() && !reserve(data_of(extents, bytes), number));
    figures_.full_wait_microseconds +=
        std::chrono::duration_cast<std::chrono::microseconds>(now() - begun).count();
    if (!status.ok()) return status;
  }
  if (fill(number, extents, parts[0].data, bytes)) return {};
  warn_once(from_errno(errno, "cannot write to the log " + name_ + " of " + page_->identity.path).message() +
            ": what finds no place there goes to the file at once");
  return write_past(parts, below);
}

// False, with errno: the slot has nothing.
bool NodeLog::fill(std::int64_t number, std::span<const LogExtent> extents, const std::byte* data,
                   std::int64_t bytes) noexcept {
  LogSlot& slot = this->slot(number);
  const std::size_t table = table_of(extents);
  std::array<iovec, 2> memory{{{const_cast<LogExtent*>(extents.data()), table},
                               {const_cast<std::byte*>(data), static_cast<std::size_t>(bytes)}}};
  const std::size_t skipped = table > 0 ? 0 : 1;
  if (!write_vector(descriptor(), memory.data() + skipped, memory.size() - skipped, in_file(slot.position))) {
    slot.state.store(SlotState::nothing, std::memory_order_release);
    return false;
  }
  slot.begin = extents[0].offset;
  slot.end = slot.begin;
  for (const LogExtent& extent : extents) {
    slot.begin = std::min(slot.begin, extent.offset);
    slot.end = std::max(slot.end, extent.offset + extent.length);
  }
  slot.extents = static_cast<std::int64_t>(extents.size());
  slot.bytes = bytes;
  XXH3_state_t sum;
  XXH3_INITSTATE(&sum);
  XXH3_64bits_reset(&sum);
  if (table > 0) XXH3_64bits_update(&sum, extents.data(), table);
  XXH3_64bits_update(&sum, data, static_cast<std::size_t>(bytes));
  slot.data_checksum = XXH3_64bits_digest(&sum);
  slot.checksum = slot.right_checksum();
  ++figures_.appends;
  figures_.bytes += bytes;
  page_->state.pending.fetch_add(bytes, std::memory_order_relaxed);
  slot.state.store(SlotState::whole, std::memory_order_release);
  return true;
}

bool NodeLog::append_in_signal(const Piece& piece) noexcept {
  const LogExtent extent{piece.offset, piece.length};
  std::int64_t number = 0;
  if (rank_ == kNobody) return false;
  when_needed_ = nullptr;
  return reserve(piece.length, number) && fill(number, {&extent, 1}, piece.data, piece.length);
}

// What came before has to be in the file before.
Status NodeLog::write_past(std::span<const Piece> pieces, Storage& below) {
  Status status = drain_all(below);
  if (!status.ok()) return status;
  for (const Piece& piece : pieces) figures_.past_bytes += piece.length;
  return below.write(pieces);
}

Status NodeLog::make_durable() {
  return uninterrupted([&] { return ::fsync(descriptor()); }) == 0
             ? Status{}
             : from_errno(errno, "cannot sync the log " + name_ + " of " + page_->identity.path);
}

// ---- reading ----

Status NodeLog::read_ring(std::int64_t position, std::byte* data, std::int64_t length) const {
  std::int64_t done = 0;
  while (done < length) {
    const ssize_t n = ::pread(descriptor(), data + done, static_cast<std::size_t>(length - done),
                              static_cast<off_t>(in_file(position) + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return from_errno(errno, "cannot read the log " + name_ + " of " + page_->identity.path);
    if (n == 0) return {Code::io, "the log " + name_ + " of " + page_->identity.path + " has been cut off"};
    done += n;
  }
  return {};
}

NodeLog::Mark NodeLog::mark() const {
  const LogState& s = page_->state;
  return {s.first.load(std::memory_order_acquire), s.head.load(std::memory_order_acquire)};
}

// While the lock is held no slot and no byte of the ring is used again.
bool NodeLog::overlay(Mark since, std::int64_t offset, std::byte* data, std::int64_t length, Status& status) {
  LogState& s = page_->state;
  const std::int64_t end = offset + length;
  if (since.slot == s.next.load(std::memory_order_acquire)) return true;
  s.lock.take(repair_nothing);
  const std::int64_t next = s.next.load(std::memory_order_relaxed);
  if (next - since.slot > page_->identity.slots ||
      s.tail.load(std::memory_order_relaxed) - since.position > page_->identity.capacity) {
    s.lock.give();
    return false;
  }
  std::vector<LogExtent> table;
  for (std::int64_t n = since.slot; n < next && status.ok(); ++n) {
    const LogSlot& slot = this->slot(n);
    if (slot.state.load(std::memory_order_acquire) != SlotState::whole || slot.end <= offset ||
        slot.begin >= end)
      continue;
    try {
      table.assign(static_cast<std::size_t>(slot.extents), {slot.begin, slot.end - slot.begin});
    } catch (const std::bad_alloc&) {
      status = {Code::no_memory, "no memory to read the log " + name_};
      break;
    }
    std::int64_t at = slot.position;
    if (slot.extents > 1) {
      const auto bytes = static_cast<std::int64_t>(table.size() * sizeof(LogExtent));
      status = read_ring(at, reinterpret_cast<std::byte*>(table.data()), bytes);
      at += bytes;
    }
    for (const LogExtent& extent : table) {
      const std::int64_t from = std::max(offset, extent.offset),
                         to = std::min(end, extent.offset + extent.length);
      if (from < to && status.ok())
        status = read_ring(at + from - extent.offset, data + (from - offset), to - from);
      at += extent.length;
    }
  }
  s.lock.give();
  return true;
}

std::int64_t NodeLog::end() const {
  LogState& s = page_->state;
  std::int64_t end = 0;
  s.lock.take(repair_nothing);
  const std::int64_t next = s.next.load(std::memory_order_relaxed);
  for (std::int64_t n = s.first.load(std::memory_order_acquire); n < next; ++n) {
    const LogSlot& slot = this->slot(n);
    if (slot.state.load(std::memory_order_acquire) == SlotState::whole) end = std::max(end, slot.end);
  }
  s.lock.give();
  return end;
}

void NodeLog::seal(std::int64_t call) {
  LogState& s = page_->state;
  s.lock.take(repair_nothing);
  s.sealed_slot.store(s.next.load(std::memory_order_relaxed), std::memory_order_relaxed);
  s.sealed_call.store(call, std::memory_order_relaxed);
  s.lock.give();
}

std::int64_t NodeLog::drained_call() {
  LogState& s = page_->state;
  if (s.sealed_call.load(std::memory_order_relaxed) <= s.told_call.load(std::memory_order_relaxed)) return 0;
  s.lock.take(repair_nothing);
  const bool drained =
      s.first.load(std::memory_order_relaxed) >= s.sealed_slot.load(std::memory_order_relaxed);
  const std::int64_t call = s.sealed_call.load(std::memory_order_relaxed);
  s.lock.give();
  return drained ? call : 0;
}

// ---- of a log that nobody uses ----

// Not ok: it cannot be told.
Status NodeLog::look_whole(const LogSlot& slot, bool& whole) {
  whole = false;
  if (slot.state.load(std::memory_order_acquire) != SlotState::whole ||
      slot.checksum != slot.right_checksum())
    return {};
  // After a crash of the machine the file may be shorter.
  struct stat now{};
  if (::fstat(descriptor(), &now) != 0) return from_errno(errno, "cannot read the log " + name_);
  if (in_file(slot.position) + slot.data > now.st_size) return {};
  XXH3_state_t sum;
  XXH3_INITSTATE(&sum);
  XXH3_64bits_reset(&sum);
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::int64_t>(slot.data, kBatch)));
  for (std::int64_t done = 0; done < slot.data;) {
    const std::int64_t part = std::min<std::int64_t>(slot.data - done, kBatch);
    if (Status status = read_ring(slot.position + done, buffer.data(), part); !status.ok()) return status;
    XXH3_64bits_update(&sum, buffer.data(), static_cast<std::size_t>(part));
    done += part;
  }
  whole = XXH3_64bits_digest(&sum) == slot.data_checksum;
  return {};
}

void NodeLog::set_right_after_crash() {
  LogState& s = page_->state;
  s.lock.initialize();
  s.drain.initialize();
  // The slots say what there is: the page may be older than they, or newer.
  const std::int64_t slots = page_->identity.slots;
  std::int64_t next = s.next.load();
  while (slot(next).state.load() == SlotState::whole && slot(next).number == next &&
         slot(next).checksum == slot(next).right_checksum())
    ++next;
  s.next.store(next);
  s.first.store(std::max(s.first.load(), next - slots));
}

Status NodeLog::drop_torn(std::int64_t& dropped, const std::function<void(std::int64_t)>& tell) {
  LogState& s = page_->state;
  std::int64_t done = 0;
  dropped = 0;
  for (std::int64_t n = s.first.load(); n < s.next.load(); ++n) {
    LogSlot& each = slot(n);
    if (tell) tell(done);
    if (each.state.load() == SlotState::whole) done += each.bytes;
    bool whole = false;
    if (each.state.load() == SlotState::nothing) continue;
    if (Status status = look_whole(each, whole); !status.ok()) return status;
    if (whole) continue;
    each.state.store(SlotState::nothing);
    ++dropped;
  }
  return {};
}

NodeLog::Content NodeLog::content() const {
  Content content;
  const LogState& s = page_->state;
  for (std::int64_t n = s.first.load(), next = s.next.load(); n < next; ++n) {
    const LogSlot& each = slot(n);
    if (each.state.load(std::memory_order_acquire) != SlotState::whole) continue;
    ++content.writes;
    content.bytes += each.bytes;
  }
  return content;
}

std::vector<NodeLog::Entry> NodeLog::entries(const std::function<void(std::int64_t)>& tell) {
  std::vector<Entry> all;
  LogState& s = page_->state;
  std::int64_t done = 0;
  for (std::int64_t n = s.first.load(); n < s.next.load(); ++n) {
    const LogSlot& each = slot(n);
    bool whole = false;
    if (tell) tell(done);
    if (each.state.load() == SlotState::whole) done += each.bytes;
    if (each.state.load() == SlotState::nothing) continue;
    (void)look_whole(each, whole);
    all.push_back({n, each.begin, each.end, each.extents, each.bytes, whole});
  }
  return all;
}

}  // namespace forebay
