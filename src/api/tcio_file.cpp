// How bytes move between the program, level 1 and the core.
#include "api/tcio_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "ranks/agreement.hpp"
#include "request/memory_stream.hpp"
#include "request/run_cursor.hpp"
#include "storage/emergency_writer.hpp"

namespace forebay::tcio {
namespace {

// Whether the keeper process is still there is asked after so many writes.
constexpr std::int64_t kWritesToLook = 32;

bool meet(Extent a, Extent b) {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

File::File(std::unique_ptr<CoreFile> core, Access access, bool buffering)
    : core_(std::move(core)),
      access_(access),
      level1_(core_->segment_bytes()),
      reads_(core_->segment_bytes()),
      remembers_(access.reads && access.writes && core_->ranks() > 1),
      // A copy of so many bytes costs as much as looking up a segment and locking it.
      past_bytes_(buffering ? std::min(Level1::kMostPiece, core_->segment_bytes()) : 0) {}

File::~File() {
  unwatch(*this);
}

// ---- writes ----

// Before this rank writes a range: a read that is pending gets what is there now.
Status File::begin_writing(Extent range) {
  if (--until_look_ < 0) {
    if (Status status = look(); !status.ok()) return status;
  }
  if (!reads_.empty() && meet(reads_.hull(), range)) {
    if (Status status = fill_early(); !status.ok()) return status;
  }
  if (meet(early_.hull(), range)) early_.written(range);
  return {};
}

// Now and then: whether this rank is called as its process ends, and where level 1 may lie.
Status File::look() {
  if (!watching_) watch(*this);
  watching_ = true;
  Level1Memory shared;
  const Level1Use use = core_->level1(shared);
  until_look_ = 0;
  most_piece_ = 0;
  if (use == Level1Use::none) return move_on();
  if (use == Level1Use::shared) level1_.lie_in(shared);
  until_look_ = use == Level1Use::shared ? kWritesToLook : std::numeric_limits<std::int64_t>::max();
  most_piece_ = past_bytes_;
  return {};
}

Status File::put_level1() {
  level1_.tidy();
  RunCursor<Level1> cursor(level1_);
  MemorySource source(level1_.memory());
  const Put put{&cursor, &source};
  return core_->write({&put, 1});
}

Status File::move_on() {
  if (level1_.empty()) return {};
  wrote_ = true;
  Status status = put_level1();
  // What could not be written stays for the next try.
  if (status.ok()) level1_.clear();
  return status;
}

// At once, since it is full. Where this fails, it stays, and the next write elsewhere or flush says so.
bool File::moved_on() {
  (void)move_on();
  return true;
}

Status File::move_on_within(Extent range) {
  return meet(level1_.hull(), range) ? move_on() : Status{};
}

Status File::write_past(std::int64_t offset, const void* data, std::int64_t bytes) {
  if (Status status = move_on_within({offset, offset + bytes}); !status.ok()) return status;
  const OneRun run{{offset, 0, bytes}};
  RunCursor<OneRun> cursor(run);
  MemorySource source(data);
  const Put put{&cursor, &source};
  wrote_ = true;
  return core_->write({&put, 1});
}

// A piece that an edge cuts goes past level 1 as a whole: an element of it would else be put half now, half
// when level 1 moves on.
Status File::write_at(std::int64_t offset, const void* data, std::int64_t bytes) {
  if (bytes == 0) return {};
  if (Status status = begin_writing({offset, offset + bytes}); !status.ok()) return status;
  const bool past = bytes >= most_piece_ || bytes > level1_.unit() - offset % level1_.unit();
  Status status = past ? write_past(offset, data, bytes) : write_within(offset, data, bytes);
  if (status.ok()) end_ = std::max(end_, offset + bytes);
  return status;
}

Status File::write_within(std::int64_t offset, const void* data, std::int64_t bytes) {
  const Section section;
  const Extent segment = level1_.segment();
  const bool elsewhere = offset < segment.begin || offset >= segment.end;
  if (!elsewhere && !level1_.room()) level1_.tidy();
  if (elsewhere || !level1_.room()) {
    if (Status status = move_on(); !status.ok()) return status;
    level1_.align(offset);
  }
  level1_.copy(offset, data, bytes);
  if (level1_.full()) (void)moved_on();
  return {};
}

// ---- reads ----

void File::remember(const Run& run) {
  if (remembers_) early_.add(run);
}

// Before the program asks for it: the list has to make room, or this rank writes there next.
Status File::fill_early() {
  if (remembers_) {
    for (const Run& run : reads_.runs()) early_.add(run);
  }
  return fill();
}

Status File::fill() {
  if (reads_.empty()) return {};
  if (Status status = move_on_within(reads_.hull()); !status.ok()) return status;
  return reads_.fill(*core_, false);
}

Status File::read_at(std::int64_t offset, void* data, std::int64_t bytes) {
  if (bytes == 0) return {};
  auto* to = static_cast<std::byte*>(data);
  if (bytes >= past_bytes_) {
    if (Status status = move_on_within({offset, offset + bytes}); !status.ok()) return status;
    const OneRun run{{offset, 0, bytes}};
    RunCursor<OneRun> cursor(run);
    MemorySink sink(to);
    const Get get{&cursor, &sink};
    remember({offset, static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to)), bytes});
    return core_->read({&get, 1});
  }
  for (;;) {
    if (const Extent segment = reads_.segment();
        reads_.empty() || offset < segment.begin || offset >= segment.end || !reads_.room()) {
      if (Status status = fill_early(); !status.ok()) return status;
      reads_.align(offset);
    }
    const std::int64_t part = std::min(bytes, reads_.segment().end - offset);
    reads_.add(offset, to, part);
    if (part == bytes) return {};
    offset += part, to += part, bytes -= part;
  }
}

// ---- together ----

Status File::settle() {
  Status status = fetch();
  status.update(move_on());
  return status;
}

Status File::fetch_all() {
  const CollectiveCall call(core_->about("tcio_fetch_all"));
  // Also what this rank wrote elsewhere: others may read it.
  Status status = move_on();
  const bool wrote = access_.writes ? !core_->comm().all(!wrote_) : wrote_;
  status.update(reads_.fill(*core_, true));
  // All that anybody wrote is in the file now, and nobody writes before all have read.
  if (wrote && !early_.empty()) status.update(early_.read_again(*core_, level1_.unit()));
  early_.clear();
  if (status.ok()) wrote_ = false;
  return agree_outcome(core_->comm(), status);
}

Status File::hand_on(const char* function, Status (CoreFile::*next)()) {
  const CollectiveCall call(core_->about(function));
  Status status = settle();
  watching_ = false, until_look_ = 0;  // a program may have set signal handlers by the next write
  status.update((*core_.*next)());
  // Also a barrier in strict mode, where the core has nothing to do.
  status = agree_outcome(core_->comm(), status);
  if (status.ok()) end_ = 0, wrote_ = false;
  return status;
}

Status File::size(std::int64_t& bytes) {
  Status status = core_->size(bytes);
  bytes = std::max(bytes, end_);
  return status;
}

Status agree_on_size(CoreFile& core, std::int64_t bytes, Status mine) {
  std::int64_t sizes[] = {bytes, ~bytes};
  core.comm().reduce(sizes, Communicator::Op::minimum);
  if (mine.ok() && sizes[0] != ~sizes[1]) {
    mine = {Code::bad_argument, "the ranks give " + core.path() + " different sizes, from " +
                                    std::to_string(sizes[0]) + " to " + std::to_string(~sizes[1])};
  }
  return agree_outcome(core.comm(), mine);
}

Status File::set_size(std::int64_t bytes, Status mine) {
  const CollectiveCall call(core_->about("tcio_set_size"));
  if (Status status = agree_on_size(*core_, bytes, std::move(mine)); !status.ok()) return status;
  if (Status status = flush(); !status.ok()) return status;
  return core_->set_size(bytes);
}

Status File::close() {
  const CollectiveCall call(core_->about("tcio_close"));
  Status status = settle();
  unwatch(*this);
  // The rank that failed says so to all, whatever the core has to say.
  status = agree_outcome(core_->comm(), status);
  status.update(core_->close());
  return status;
}

// ---- the end of the process ----

// Level 2 is written before: its holder was registered later. So what is here, which is newer, wins.
void File::write_out(Ending ending) noexcept {
  if (level1_.empty()) return;
  if (!ending.in_signal) {
    try {
      Status status = put_level1();
      if (status.ok()) status = core_->flush_independent();
      if (status.ok())
        level1_.clear();
      else
        warn_once("as the program ended: " + status.message());
    } catch (...) {
      say_not_written(path().c_str());
    }
    return;
  }
  bool well = true;
  level1_.list();
  for (std::size_t i = 0; i < level1_.size() && well; ++i) {
    const Run run = level1_[i];
    well = core_->write_in_signal(run.file, level1_.memory() + run.stream, run.length);
  }
  if (well)
    level1_.clear();
  else
    say_not_written(path().c_str());
}

}  // namespace forebay::tcio
