// Written, with 4 ranks, into two arrays of 32 rows: all of it first, and synced; then, where the cell says
// that something is kept, every fourth row; then the call that meets the fault, once more without it where it
// failed, a sync, and close. Rows 0, 4, 8, … are nobody's after the first write.
#include "play.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace faults {
namespace {

constexpr int kEvery = 4;
// So many puts of the same rows are more than the least log holds.
constexpr int kMany = 40;
// Rows of a step: 1: kept by collective calls, 2: by independent ones; 3: the call's own.
constexpr Part rows_of(int step) {
  return {step, step, kEvery, kRows / kEvery, 0, 1, kColumns};
}
constexpr Part kAll{0, 0, 1, kRows, 0, 1, kColumns};

std::string read_from(int fd, off_t from) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::pread(fd, buffer, sizeof buffer, from)) > 0; from += n)
    text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

}  // namespace

bool Player::Outcome::all() const {
  return std::all_of(well.begin(), well.end(), [](char w) { return w != 0; });
}
bool Player::Outcome::none() const {
  return std::none_of(well.begin(), well.end(), [](char w) { return w != 0; });
}

Player::Player(Faults& faults, std::string folder, std::string log)
    : faults_(faults), folder_(std::move(folder)), log_(LogFolder(std::move(log))) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  const std::string name = folder_ + "/err." + std::to_string(rank_);
  err_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  ::dup2(err_, 2);
}

Part Player::mine(const Part& whole, bool mixed, int rank) const {
  Part part = whole;
  part.columns = kColumns / ranks_;
  part.first_column = mixed ? rank : rank * part.columns;
  part.column_step = mixed ? ranks_ : 1;
  return part;
}

void Player::wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
}

// What one rank found wrong, all know.
void Player::agree_on_wrong() {
  struct {
    int value, rank;
  } here{wrong_.empty() ? 0 : 1, rank_}, there{};
  MPI_Allreduce(&here, &there, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
  if (there.value == 0) return;
  int length = static_cast<int>(wrong_.size());
  MPI_Bcast(&length, 1, MPI_INT, there.rank, MPI_COMM_WORLD);
  wrong_.resize(static_cast<std::size_t>(length));
  MPI_Bcast(wrong_.data(), length, MPI_CHAR, there.rank, MPI_COMM_WORLD);
}

template <class F>
Player::Outcome Player::call(const std::string& name, bool faulty, F&& f) {
  faulty = faulty && !reference_;
  const off_t before = ::lseek(err_, 0, SEEK_END);
  MPI_Barrier(MPI_COMM_WORLD);
  if (faulty && rank_ == 0) faults_.arm(*cell_, path_, log_.name(), ranks_);
  MPI_Barrier(MPI_COMM_WORLD);
  faults_.doing(number_, "in " + name);
  char well = f() ? 1 : 0;
  faults_.doing(number_, "after " + name);
  MPI_Barrier(MPI_COMM_WORLD);
  if (faulty && rank_ == 0) faults_.disarm();
  MPI_Barrier(MPI_COMM_WORLD);
  Outcome outcome;
  outcome.well.resize(static_cast<std::size_t>(ranks_));
  MPI_Allgather(&well, 1, MPI_CHAR, outcome.well.data(), 1, MPI_CHAR, MPI_COMM_WORLD);
  if (faulty) outcome.struck = faults_.struck();
  std::string mine = read_from(err_, before);
  int length = static_cast<int>(std::min<std::size_t>(mine.size(), 1 << 20));
  std::vector<int> lengths(outcome.well.size()), begins(outcome.well.size());
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  int all = 0;
  for (std::size_t r = 0; r < lengths.size(); ++r) begins[r] = all, all += lengths[r];
  outcome.said.resize(rank_ == 0 ? static_cast<std::size_t>(all) : 0);
  MPI_Gatherv(mine.data(), length, MPI_CHAR, outcome.said.data(), lengths.data(), begins.data(), MPI_CHAR, 0,
              MPI_COMM_WORLD);
  return outcome;
}

// What must go well on all ranks, since there is no fault, or none any more.
template <class F>
bool Player::must(const std::string& name, F&& f) {
  const Outcome outcome = call(name, false, std::forward<F>(f));
  if (!outcome.all()) {
    wrong(name + " failed without a fault, on " +
          std::to_string(std::count(outcome.well.begin(), outcome.well.end(), 0)) + " ranks");
  }
  return outcome.all();
}

// What struck and was not told may be told later, once.
template <class F>
bool Player::must_in_the_end(const std::string& name, F&& f) {
  if (verdict_.struck == 0 || verdict_.told || !cell_->is_error()) return must(name, f);
  Outcome outcome = call(name, false, f);
  if (outcome.all()) return true;
  outcome.struck = verdict_.struck;
  judge(outcome, name, true);
  return must(name + " again", f);
}

void Player::judge(const Outcome& outcome, const std::string& name, bool collective) {
  verdict_.struck = std::max(verdict_.struck, outcome.struck);
  if (outcome.all()) {
    if (outcome.struck > 0 && cell_->is_error() && cell_->op == "sync" && cell_->call == "sync")
      wrong("fsync failed, and nobody was told");
    return;
  }
  verdict_.told = true;
  if (outcome.struck == 0) return wrong(name + " failed, and nothing had struck");
  if (!cell_->is_error()) return wrong(name + " failed by what is no error");
  if (collective && !outcome.none()) {
    std::string ranks;
    for (std::size_t r = 0; r < outcome.well.size(); ++r)
      if (outcome.well[r] != 0) ranks += " " + std::to_string(r);
    return wrong(name + " failed, and these ranks were not told:" + ranks);
  }
  // Of each kind of failure PnetCDF's driver tells three in a process.
  if (++told_before_ > 3 && cell_->library == "pnetcdf") return;
  if (rank_ != 0 || cell_->place == "memory" || cell_->place == "mark") return;
  // Here PnetCDF itself writes and reads, and has codes only; HDF5 takes a failed read for no file of its
  // own.
  const bool own = cell_->op == "create" || cell_->op == "open" || cell_->op == "resume" ||
                   cell_->op == "enddef" || (cell_->op == "put_alone" && cell_->library == "pnetcdf");
  const auto says = [&](const std::string& what) { return outcome.said.find(what) != std::string::npos; };
  if (cell_->place == "log" && !says(log_.name() + "/forebay-")) wrong(name + ": no message names the log");
  if (own && cell_->library != "tcio") return;
  // Of a log that cannot be opened only whoever typed the file's name knows what it is of.
  const bool typed = cell_->op == "recover" && cell_->place == "log" && cell_->call == "open";
  if (!typed && !says(path_.substr(path_.rfind('/') + 1))) wrong(name + ": no message names the file");
  if ((cell_->call == "write" || cell_->call == "read") && cell_->place == "file" && !says("bytes ["))
    wrong(name + ": no message names the range");
  if (!says(std::strerror(cell_->error)) && !says("MPI-IO does not say why") && !says("MPI_ERR_"))
    wrong(name + ": no message names the cause");
}

std::string Player::bytes_of_file() const {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  std::string bytes = fd >= 0 ? read_from(fd, 0) : "";
  if (fd >= 0) ::close(fd);
  return bytes;
}

Verdict Player::play(const Cell& cell, int number) {
  const std::string what = cell.library + "/" + cell.op + "/" + cell.kept;
  int known = references_.count(what) > 0 ? 1 : 0;
  MPI_Bcast(&known, 1, MPI_INT, 0, MPI_COMM_WORLD);
  cell_ = &cell;
  number_ = number;
  if (known == 0) {
    reference_ = true;
    path_ = folder_ + "/stock";
    ::setenv("FOREBAY_HINTS", "forebay_enable=off", 1);
    run();
    if (rank_ == 0) references_[what] = bytes_of_file();
    if (rank_ == 0) ::unlink(path_.c_str());
    if (!wrong_.empty()) wrong_ = "with the stock library: " + wrong_;
  }
  if (wrong_.empty()) {
    reference_ = false;
    path_ = folder_ + "/file" + std::to_string(number);
    const std::string hints = cell.hints + ";forebay_patience_seconds=5;forebay_ranks_per_node=" +
                              std::to_string(ranks_ / std::atoi(cell.nodes.c_str()));
    ::setenv("FOREBAY_HINTS", hints.c_str(), 1);
    run();
    if (wrong_.empty() && !verdict_.over) compare();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) ::unlink(path_.c_str());
  }
  verdict_.wrong = wrong_;
  return verdict_;
}

void Player::run() {
  model_ = Model();
  verdict_ = {};
  wrong_.clear();
  library_ = make_library(cell_->library);
  if (rank_ == 0) ::unlink(path_.c_str());
  run_op();
}

void Player::run_op() {
  const std::string& op = cell_->op;
  Library& l = *library_;
  const auto stop = [&] {
    agree_on_wrong();
    return !wrong_.empty();
  };
  const auto opens = [&](const char* name, auto&& f) {
    const Outcome outcome = call(name, op == name, f);
    if (op == name) judge(outcome, name, true);
    if (op != name && !outcome.all()) wrong(std::string(name) + " failed without a fault");
    if (stop()) return false;
    return outcome.all() || (must(std::string(name) + " again", f) && !stop());
  };
  if (!opens("create", [&] { return l.create(path_); })) return (void)stop();
  write(Way::together, kAll, "first write", false);
  if (stop() || !must("first sync", [&] { return l.sync(); })) return (void)stop();
  model_.synced();
  if (op == "open") {
    if (!must("first close", [&] { return l.close(); })) return (void)stop();
    if (!opens("open", [&] { return l.open(path_); })) return (void)stop();
  }
  if (cell_->kept == "collective") write(Way::together, rows_of(1), "write before", false);
  if (cell_->kept == "independent" || op == "put_alone") {
    if (!must("begin of independent calls", [&] { return l.be_alone(true); })) return (void)stop();
    if (op != "put_alone") write(Way::alone, rows_of(2), "write before", false);
  }
  if (stop()) return;
  if (has_log() && (op == "recover" || op == "resume")) {
    if (!crash()) return (void)stop();
    if (op == "recover") return recover();
    if (!opens("resume", [&] { return l.open(path_); })) return (void)stop();
    read("read after a crash");
    if (stop()) return;
  }

  if (op == "put") write(Way::together, rows_of(3), "put", true);
  if (op == "iput") write(Way::pending, rows_of(3), "iput and wait", true);
  if (op == "put_alone") write(Way::alone, rows_of(3), "independent put", true);
  if (op == "sync") {
    const Outcome outcome = call("sync", true, [&] { return l.sync(); });
    judge(outcome, "sync", true);
    if (stop()) return;
    if (!outcome.all()) {
      read("read after the failed sync");
      if (stop()) return;
    }
  }
  if ((op == "redef" || op == "enddef") && !change_definition()) return (void)stop();
  if (op == "read" || op == "read_alone") read(op);
  if (op == "drain") write_many(cell_->kept == "independent" ? Way::alone : Way::together);
  if (stop()) return;
  finish();
  stop();
}

// False: nothing more can be done.
bool Player::change_definition() {
  Library& l = *library_;
  const auto part = [&](const std::string& name, auto&& f) {
    const bool faulty = cell_->op == name;
    if (!faulty) return must(name, f);
    const Outcome outcome = call(name, true, f);
    // Fill values are written by rank 0, and HDF5 tells it alone.
    judge(outcome, name, cell_->library != "hdf5");
    agree_on_wrong();
    if (!wrong_.empty()) return false;
    if (outcome.all()) return true;
    verdict_.over = !l.goes_on();
    if (!verdict_.over) return must(name + " again", f);
    (void)library_.release();
    return false;
  };
  return part("redef", [&] { return l.redefine(); }) && part("enddef", [&] { return l.end_definition(); }) &&
         must("write of what is new", [&] { return l.fill_new(); });
}

void Player::write(Way way, const Part& whole, const std::string& name, bool faulty) {
  const bool mixed = way != Way::alone && whole.step != 0;
  const bool collective = way != Way::alone && !library_->writes_alone();
  const auto f = [&] { return library_->write(way, mine(whole, mixed, rank_)); };
  const Outcome outcome = call(name, faulty, f);
  if (faulty)
    judge(outcome, name, collective);
  else if (!outcome.all())
    wrong(name + " failed without a fault");
  for (int r = 0; r < ranks_; ++r)
    model_.put(mine(whole, mixed, r), r, outcome.well[static_cast<std::size_t>(r)] != 0);
  if (!faulty || outcome.all()) return;
  agree_on_wrong();
  if (!wrong_.empty()) return;
  const bool here = way != Way::alone || outcome.well[static_cast<std::size_t>(rank_)] == 0;
  if (!must(name + " again", [&] { return !here || f(); })) return;
  for (int r = 0; r < ranks_; ++r) model_.put(mine(whole, mixed, r), r, true);
}

// The cell's call, or one without a fault.
void Player::read(const std::string& name) {
  const bool faulty = name == cell_->op;
  const bool independent = faulty ? name == "read_alone" : cell_->kept == "independent";
  std::vector<std::int32_t> values(std::size_t{kArrays} * kRows * kColumns);
  const auto f = [&] {
    std::fill(values.begin(), values.end(), 0);
    const bool changed = library_->be_alone(independent);
    return library_->read(independent ? Way::alone : Way::together, values) && changed;
  };
  if (independent && !must("begin of independent calls", [&] { return library_->be_alone(true); })) return;
  Outcome outcome = call(name, faulty, f);
  if (faulty) {
    judge(outcome, name, !independent && !library_->writes_alone());
    agree_on_wrong();
    if (!wrong_.empty()) return;
    if (!outcome.all() && !independent && !must(name + " again", f)) return;
    if (!outcome.all() && independent) {
      const bool here = outcome.well[static_cast<std::size_t>(rank_)] == 0;
      if (!must(name + " again", [&] { return !here || f(); })) return;
    }
  } else if (!outcome.all()) {
    return wrong(name + " failed without a fault");
  }
  if (const std::string why = model_.judge(values, rank_, !independent); !why.empty())
    wrong(name + " on rank " + std::to_string(rank_) + ": " + why);
}

void Player::finish() {
  Library& l = *library_;
  if (cell_->op != "close") {
    if (!must_in_the_end("end of independent calls", [&] { return l.be_alone(false); })) return;
    if (!must_in_the_end("sync at the end", [&] { return l.sync(); })) return;
    if (rank_ == 0 && !hints_say("forebay_sync=log")) {
      if (const std::string why = model_.judge_file(path_, l); !why.empty()) wrong("after sync " + why);
    }
    agree_on_wrong();
    if (!wrong_.empty()) return;
    if (!must("close", [&] { return l.close(); })) return;
  } else {
    const Outcome outcome = call("close", true, [&] { return l.close(); });
    judge(outcome, "close", true);
    int left = has_log() && !outcome.all() && rank_ == 0 && !log_.left_of(path_).empty() ? 1 : 0;
    MPI_Bcast(&left, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (left != 0) {
      const bool goes_on = hints_say("forebay_close=background");
      if (rank_ == 0 && !goes_on && outcome.said.find("forebay recover") == std::string::npos)
        wrong("close: no message says what to type");
      agree_on_wrong();
      const auto f = [&] {
        return rank_ != 0 || (goes_on && LogFolder::run("wait --timeout 20", path_)) ||
               LogFolder::run("recover", path_);
      };
      if (!wrong_.empty() || !must("recover", f)) return;
    } else if (!outcome.all()) {
      model_.doubt(1);
    }
  }
  complete();
}

// After close.
void Player::complete() {
  if (has_log()) {
    const bool unmarked = cell_->place == "mark" && verdict_.struck > 0;
    if (hints_say("forebay_close=background") &&
        !must("wait", [&] { return rank_ != 0 || LogFolder::run("wait --timeout 20", path_) || unmarked; }))
      return;
    // What could not be told by the mark is told by whoever looks next.
    if (unmarked && !must("recover", [&] { return rank_ != 0 || LogFolder::run("recover", path_); })) return;
    if (const std::string left = rank_ == 0 ? log_.left_of(path_) : ""; !left.empty())
      wrong("left behind:" + left);
  }
  if (rank_ == 0) {
    if (const std::string why = model_.judge_file(path_, *library_); !why.empty()) wrong(why);
  }
}

// The file and its logs are as if the node had gone at this moment, and come back.
bool Player::crash() {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) log_.keep_copies(path_, folder_);
  if (!must("close", [&] { return library_->close(); })) return false;
  if (hints_say("forebay_close=background") &&
      !must("wait", [&] { return rank_ != 0 || LogFolder::run("wait --timeout 20", path_); }))
    return false;
  return must("the crash", [&] { return rank_ != 0 || log_.put_back(path_); });
}

void Player::recover() {
  const auto f = [&] { return rank_ != 0 || LogFolder::run("recover", path_); };
  const Outcome outcome = call("recover", true, f);
  judge(outcome, "recover", false);
  agree_on_wrong();
  if (!wrong_.empty() || (!outcome.all() && !must("recover again", f))) return;
  complete();
  agree_on_wrong();
}

// The last of them counts.
void Player::write_many(Way way) {
  const bool collective = way != Way::alone && !library_->writes_alone();
  const auto part = [&](int n) {
    Part whole = rows_of(3);
    whole.step = 3 + n;
    return whole;
  };
  const auto f = [&] {
    for (int n = 0; n < kMany; ++n) {
      if (!library_->write(way, mine(part(n), way != Way::alone, rank_))) return false;
    }
    return true;
  };
  const Outcome outcome = call("drain", true, f);
  judge(outcome, "drain", collective);
  agree_on_wrong();
  if (!wrong_.empty()) return;
  const Part last = part(kMany - 1);
  if (!outcome.all()) {
    const bool here = collective || outcome.well[static_cast<std::size_t>(rank_)] == 0;
    if (!must("drain again",
              [&] { return !here || library_->write(way, mine(last, way != Way::alone, rank_)); }))
      return;
  }
  for (int r = 0; r < ranks_; ++r) model_.put(mine(last, way != Way::alone, r), r, true);
}

// With the stock library's file; not where something failed and left its trace in what a library keeps of its
// own.
void Player::compare() {
  const bool own_traces = verdict_.told && (cell_->op == "create" || cell_->op == "redef" ||
                                            cell_->op == "enddef" || cell_->op == "close");
  // Which was not closed as stock closes it.
  const bool crashed = cell_->op == "recover" || cell_->op == "resume";
  if (rank_ == 0 && !own_traces && !crashed) {
    const std::string& right = references_[cell_->library + "/" + cell_->op + "/" + cell_->kept];
    const std::string got = bytes_of_file();
    if (got.size() != right.size()) {
      wrong("the file has " + std::to_string(got.size()) + " bytes, stock's has " +
            std::to_string(right.size()));
    } else if (got != right) {
      std::size_t at = 0;
      while (got[at] == right[at]) ++at;
      wrong("the file differs from stock's from byte " + std::to_string(at) + " on");
    }
  }
  agree_on_wrong();
}

}  // namespace faults
