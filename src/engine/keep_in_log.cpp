#include "engine/keep_in_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/waiting.hpp"
#include "engine/closed_in_background.hpp"
#include "engine/collective.hpp"
#include "engine/file_context.hpp"
#include "keeper/connection.hpp"
#include "log/leftover.hpp"
#include "log/logged_storage.hpp"
#include "ranks/agreement.hpp"
#include "storage/emergency_writer.hpp"

namespace forebay {
namespace {

// How long the keeper process may take to take over a log.
constexpr long kLook = 100'000;  // nanoseconds
constexpr int kMostLooks = 20'000;

// From the root folder: the keeper process has another one.
std::string whole_name(const std::string& name) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(name.c_str(), nullptr), &std::free);
  return real ? real.get() : name;
}

/// The log as a file that takes more and more.
class Gathering final : public Storage {
 public:
  Gathering(NodeLog& log, Storage& below) : log_(log), below_(below) {}
  Status write(std::span<const Piece> pieces) override { return log_.gather(pieces, below_); }
  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override {
    return below_.read(offset, data, length);
  }

 private:
  NodeLog& log_;
  Storage& below_;
};

}  // namespace

// ---- from open to close ----

KeepInLog::KeepInLog(FileContext& file, std::unique_ptr<NodeLog> log)
    : Keeper(file),
      log_(std::move(log)),
      logged_(make_logged_storage(file.file.storage(), *log_)),
      below_(file.file.storage()) {}

Status KeepInLog::create(FileContext& file, std::unique_ptr<Keeper>& out) {
  const Topology& t = file.nodes->topology();
  const bool first = t.local_rank == 0;
  std::array<char, 2048> name{};
  Status status;
  if (first) {
    NodeLog::Wish wish;
    wish.folder = whole_name(file.settings.log);
    wish.path = whole_name(file.file.name_now());
    std::vector<std::string> others;
    if (read_mark(mark_of(wish.path), others))
      status = {Code::unsupported, "another open file has a log of it"};
    else if (!file.file.identity(wish.file))
      status = {Code::unsupported, "it cannot be told which file it is"};
    wish.generation = OpenMark::any_number();
    wish.node = t.node;
    wish.nodes = t.nodes;
    wish.stripe_bytes = file.layout.stripe_bytes();
    wish.fills_holes = file.readable && file.file.fills_holes() && file.file.mark() != nullptr;
    wish.mark = file.file.mark_number();
    wish.capacity = file.settings.log_bytes;
    std::string made;
    if (status.ok()) status = NodeLog::create(wish, made);
    if (status.ok()) {
      if (made.size() < name.size()) made.copy(name.data(), name.size() - 1);
      status = write_mark(wish.path, {made});
      if (!status.ok()) ::unlink(made.c_str());
      if (!status.ok()) name = {};
    }
  }
  t.node_comm->broadcast(name.data(), name.size(), 0);
  std::unique_ptr<KeepInLog> keeper;
  if (status.ok() && name.front() == '\0') status = {Code::peer, "the node's first rank has no log"};
  if (status.ok()) {
    std::unique_ptr<NodeLog> log;
    status = NodeLog::attach(name.data(), t.local_rank, log);
    try {
      if (status.ok()) keeper.reset(new KeepInLog(file, std::move(log)));
    } catch (const std::bad_alloc&) {
      status = file.no_memory("for the log of ");
    }
  }
  if (Status agreed = agree_outcome(*file.comm, status); !agreed.ok()) {
    if (first && keeper) remove_log(*keeper->log_);
    return status.ok() ? agreed : status;
  }
  file.storage = keeper->logged_.get();
  keeper->tell_keeper();
  out = std::move(keeper);
  return {};
}

// A process of the node drains it, or sees to it when all ranks have ended.
void KeepInLog::tell_keeper() {
  FileContext& f = file_;
  const Topology& t = f.nodes->topology();
  // Never both ways into one file.
  if (t.node_comm->shares_heap() || f.settings.storage != StorageKind::posix) return;
  const bool background = f.settings.drain == Drain::background;
  const KeeperUse use =
      background && f.settings.keeper == KeeperUse::automatic ? KeeperUse::start : f.settings.keeper;
  const bool first = t.local_rank == 0;
  if (first && connect_keeper(use, true) != 0)
    served_ = serve_log(f.file.descriptor(), log_->name(), background);
  // Whoever finds the log later has to see that somebody is at it.
  bool heard = false;
  for (int i = 0; i < kMostLooks && first && served_ != 0 && !(heard = log_->has_drainer()); ++i)
    sleep_for(kLook);
  if (!heard) served_ = 0;
  t.node_comm->broadcast(&served_, sizeof served_, 0);
  if (served_ != 0 && connect_keeper(use, false) != 0) log_->when_needed([] { wake_keeper(); });
  if (background && served_ == 0 && first)
    warn_few("forebay_drain=background, but no keeper process runs here",
             "forebay_drain=background: no keeper process runs here, so " + f.options.path +
                 " is written at a flush");
}

KeepInLog::~KeepInLog() {
  unwatch(*this);
}

bool KeepInLog::closes_in_background() const {
  return file_.settings.log_close == LogClose::background && served_ != 0;
}

std::shared_ptr<SegmentMemory> KeepInLog::close() {
  const bool first = file_.nodes->topology().local_rank == 0;
  file_.storage = &below_;
  unwatch(*this);
  if (!first) return nullptr;
  if (!log_->empty() && closes_in_background()) {
    leave_to_keeper();
    return nullptr;
  }
  if (served_ != 0) log_served_no_more(served_, false);
  if (log_->empty())
    remove_log(*log_);
  else
    warn_once(std::to_string(log_->pending()) + " bytes of " + file_.options.path +
              " are not in it, but in " + log_->name() + ". Once it can be written, type: forebay recover " +
              file_.options.path);
  return nullptr;
}

void KeepInLog::leave_to_keeper() {
  log_served_no_more(served_, true);
  log_->leave();
  const int file = ::fcntl(file_.file.descriptor(), F_DUPFD_CLOEXEC, 0);
  try {
    std::unique_ptr<NodeLog> again;  // the storage over this one goes later
    if (file >= 0 && NodeLog::attach(log_->name(), -1, again).ok())
      wait_at_the_end(std::move(again), Descriptor(file), file_.options.path);
  } catch (const std::bad_alloc&) {  // the keeper process needs nobody
  }
}

// ---- writes ----

Status KeepInLog::write_all(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max,
                            When /*when*/) {
  FileContext& f = file_;
  be_watched();
  holds_ = true;
  if (f.long_run() > 0 && mine.ok()) {
    try {
      const StageTimer timer(f.counters, Stage::write);
      mine = f.bypass.take_out(puts, f.long_run(), f.layout.stripe_bytes(), *f.storage, f.counters);
    } catch (const std::bad_alloc&) {
      mine = f.no_memory("for a collective write to ");
      puts.clear();
    }
  }
  return seen(collective_write(f, puts, std::move(mine), agree_max));
}

// Where this process has the file open once more, it is to see that.
Status KeepInLog::seen(Status status) {
  return status.ok() && file_.twice() ? log_->drain_all(below_) : status;
}

Status KeepInLog::write(std::span<const Put> puts, When /*when*/) {
  FileContext& f = file_;
  be_watched();
  // Short runs become few appends.
  Gathering gathering(*log_, below_);
  Status status;
  try {
    const std::int64_t appends = log_->appends();
    Counters counters;
    for (const Put& put : puts) {
      if (status.ok()) status = f.bypass.write(put, f.layout.stripe_bytes(), gathering, counters);
    }
    if (status.ok()) status = log_->put_gathered(below_);
    f.counters.pieces += counters.pieces;
    f.counters.bytes += counters.bytes;
    f.counters.written_bytes += counters.written_bytes;
    f.counters.writes += log_->appends() - appends;
  } catch (const std::bad_alloc&) {
    status.update(f.no_memory("for a write to "));
  }
  return seen(std::move(status));
}

// PnetCDF's own driver writes its header past this, where that comes between.
Status KeepInLog::write_at(const Piece& piece) {
  be_watched();
  Status status = logged_->write({&piece, 1});
  if (status.ok() && file_.options.keeping == Keeping::by_rank && !holds_) status = log_->drain_all(below_);
  return seen(std::move(status));
}

// ---- into the file ----

Status KeepInLog::flush() {
  FileContext& f = file_;
  watching_ = false;  // a program may have set signal handlers by the next put
  Agreement agreed;
  const auto some = agreed.any(!log_->empty());
  f.agree(agreed);
  Status status;
  if (agreed[some]) {
    if (f.nodes->topology().local_rank == 0) {
      const StageTimer timer(f.counters, Stage::write);
      status = log_->drain_all(below_);
    }
    status = f.outcome(status);
  }
  if (status.ok()) holds_ = false;
  return status;
}

Status KeepInLog::flush_for(FlushFor why) {
  const bool waits = why == FlushFor::file || (why == FlushFor::sync && !syncs_in_log()) ||
                     (why == FlushFor::close && !closes_in_background());
  if (waits) return flush();
  watching_ = false;
  // All have appended what they had; and nobody goes on before the log is as safe as it has to be.
  FileContext& f = file_;
  f.barrier();
  Status status;
  if (why == FlushFor::sync && f.settings.log_safety == LogSafety::node) {
    if (f.nodes->topology().local_rank == 0) status = log_->make_durable();
    status = f.outcome(status);
  }
  return status;
}

Status KeepInLog::flush_independent() {
  return log_->drain_all(below_);
}

Status KeepInLog::begin_direct_writes(bool collective) {
  return collective ? Status{} : flush_independent();
}

// ---- the end of the process ----

void KeepInLog::be_watched() {
  if (!watching_) watch(*this);
  watching_ = true;
}

bool KeepInLog::write_in_signal(const Piece& piece) noexcept {
  return log_->append_in_signal(piece);
}

// What is in the log outlives this process.
void KeepInLog::write_out(Ending ending) noexcept {
  if (ending.in_signal) {
    if (served_ == 0 && !log_->empty()) say_in_log(file_.options.path.c_str());
    return;
  }
  // An append that the end of the process has interrupted is waited for by nobody.
  log_->leave();
  const Status status = log_->drain_all(below_);
  if (!status.ok()) {
    warn_once("as the program ended: " + status.message() + "; what is missing is in " + log_->name() +
              ": forebay recover " + file_.options.path);
    return;
  }
  if (served_ == 0 && log_->empty() && !log_->is_used()) remove_log(*log_);
}

}  // namespace forebay
