// Where collective calls could hang: ranks that wait for different numbers of requests, or for none; numbers
// that do not exist, or are named twice, on one rank or on all; very many requests; records that grow where
// some ranks put nothing.
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"

namespace forebay::test {
namespace {

constexpr MPI_Offset width = 24;
constexpr int variables = 6;

// A file with fixed and record variables of which a rank has `width` columns.
class Waits {
 public:
  explicit Waits(Run& run) : run_(run) {
    run.code("create",
             ncmpi_create(run.comm(), run.path().c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file_));
    int x = -1;
    run.code("def_dim", ncmpi_def_dim(file_, "t", NC_UNLIMITED, &time_));
    run.code("def_dim", ncmpi_def_dim(file_, "x", width * run.ranks(), &x));
    for (int v = 0; v < variables; ++v) {
      const int dims[2] = {time_, x};
      const bool fixed = v < variables / 2;
      run.code("def_var", ncmpi_def_var(file_, ("v" + std::to_string(v)).c_str(), NC_INT, fixed ? 1 : 2,
                                        fixed ? dims + 1 : dims, &ids_[v]));
    }
    run.code("enddef", ncmpi_enddef(file_));
    run.expect_driver(file_);
  }

  // Posts a put of this rank's columns of a variable, in record `record` where it has records.
  int post(int variable, MPI_Offset record = 0) {
    values_.emplace_back(static_cast<std::size_t>(width));
    for (std::size_t i = 0; i < values_.back().size(); ++i)
      values_.back()[i] = static_cast<int>(values_.size() * 1000 + i) + run_.rank();
    const MPI_Offset start[2] = {record, width * run_.rank()}, count[2] = {1, width};
    const int skip = variable < variables / 2 ? 1 : 0;
    int request = NC_REQ_NULL;
    run_.code("iput", ncmpi_iput_vara_int(file_, ids_[variable], start + skip, count + skip,
                                          values_.back().data(), &request));
    return request;
  }
  int post_get(int variable) {
    values_.emplace_back(static_cast<std::size_t>(width));
    const MPI_Offset start[1] = {width * run_.rank()}, count[1] = {width};
    int request = NC_REQ_NULL;
    run_.code("iget",
              ncmpi_iget_vara_int(file_, ids_[variable], start, count, values_.back().data(), &request));
    return request;
  }

  // How much of what comes back from a wait is compared: the code, the list and its statuses, what the file
  // tells.
  enum class Log { code, list, state };

  void wait(const char* what, std::vector<int> requests, Log log_what = Log::state,
            bool with_statuses = true) {
    std::vector<int> statuses(requests.size(), -9);
    run_.code(what, ncmpi_wait_all(file_, static_cast<int>(requests.size()), requests.data(),
                                   with_statuses ? statuses.data() : nullptr));
    std::string text;
    for (int request : requests) text += std::to_string(request) + " ";
    text += "|";
    for (int status : statuses) text += " " + std::to_string(status);
    if (log_what != Log::code) run_.value(what, text);
    if (log_what == Log::state) log();
  }
  void wait_for(const char* what, int which) {
    run_.code(what, ncmpi_wait_all(file_, which, nullptr, nullptr));
    log();
  }
  void log_pending() {
    int pending = -1;
    ncmpi_inq_nreqs(file_, &pending);
    run_.value("pending", pending);
  }
  void log() {
    log_pending();
    MPI_Offset records = -1;
    ncmpi_inq_dimlen(file_, time_, &records);
    run_.value("records", records);
  }
  void close() { run_.code("close", ncmpi_close(file_)); }
  int file() const { return file_; }
  int id(int variable) const { return ids_[variable]; }

 private:
  Run& run_;
  int file_ = -1, time_ = -1;
  int ids_[variables] = {};
  std::vector<std::vector<int>> values_;  // what is pending stays where it is
};

bool is_last(const Run& run) {
  return run.rank() == run.ranks() - 1;
}

// Every rank has another number of requests, in every way to name them.
void different_numbers(Run& run) {
  Waits file(run);
  for (int round = 0; round < 4; ++round) {
    const int mine = (run.rank() + round) % run.ranks() * 2;
    std::vector<int> requests;
    for (int i = 0; i < mine; ++i)  // no element twice in one wait
      requests.push_back(file.post(i < variables ? i : 3 + i % 3, 5 * i + round + run.rank()));
    switch (round) {
      case 0:
        file.wait_for("NC_REQ_ALL", NC_REQ_ALL);
        break;
      case 1:
        file.wait_for("NC_PUT_REQ_ALL", NC_PUT_REQ_ALL);
        break;
      case 2:
        file.wait("all of them", requests);
        break;
      default:
        file.wait("one of them", mine > 0 ? std::vector<int>{requests.back()} : std::vector<int>{});
        if (run.rank() % 2 == 0) {
          file.wait_for("the others", NC_REQ_ALL);
        } else {
          file.wait("null", {NC_REQ_NULL, NC_REQ_NULL});
        }
    }
  }
  file.wait_for("NC_GET_REQ_ALL", NC_GET_REQ_ALL);
  file.wait_for("NC_REQ_ALL", NC_REQ_ALL);
  file.close();
}

// A wait that is wrong on the last rank only, or on all: every rank comes back with the same codes and
// numbers as from PnetCDF's own driver. What is still pending then is not compared: there a good rank's
// requests are neither ended nor known by their numbers any more when another rank's list is wrong, and a
// wrong list's good requests are forgotten at the next wait; here a good rank's are written and a wrong list
// ends nothing. So all is cancelled, and put once more at the end.
class WrongWaits {
 public:
  WrongWaits(Run& run, bool on_all) : run_(run), file_(run), wrong_(on_all || is_last(run)) {}

  using Lists = std::function<std::pair<std::vector<int>, std::vector<int>>()>;  // where wrong, elsewhere
  void wait(const char* what, const Lists& post, Waits::Log log = Waits::Log::list,
            bool with_statuses = true) {
    const auto lists = post();
    file_.wait(what, wrong_ ? lists.first : lists.second, log, with_statuses);
    run_.code("cancel", ncmpi_cancel(file_.file(), NC_REQ_ALL, nullptr, nullptr));
    file_.log_pending();
  }
  void close() {
    for (int v = 0; v < variables; ++v) {
      for (MPI_Offset record = 0; record < (v < variables / 2 ? 1 : 4); ++record) file_.post(v, record);
    }
    run_.code("all", ncmpi_wait_all(file_.file(), NC_REQ_ALL, nullptr, nullptr));
    file_.log();
    file_.close();
  }
  int post(int variable, MPI_Offset record = 0) { return file_.post(variable, record); }
  int post_get(int variable) { return file_.post_get(variable); }
  void end(int request) { file_.wait("good", {request, NC_REQ_NULL}, Waits::Log::list); }

 private:
  Run& run_;
  Waits file_;
  bool wrong_;
};

using List = std::vector<int>;

// Numbers never given out, given out and ended, of gets and of puts, negative.
void unknown_numbers(Run& run, bool on_all) {
  WrongWaits file(run, on_all);
  file.wait("never given", [&] {
    const int a = file.post(0);
    file.post(3, 1);
    return std::pair(List{a, 9998}, List{a});
  });
  file.wait("only unknown", [&] {
    const int a = file.post(3, 2);
    file.post(1);
    return std::pair(List{9998}, List{a});
  });
  file.wait("negative", [&] { return std::pair(List{-6, NC_REQ_NULL}, List{file.post(2)}); });
  file.wait(
      "without statuses", [&] { return std::pair(List{9998, 7776}, List{file.post(1)}); }, Waits::Log::list,
      false);
  file.wait("ended", [&] {
    const int a = file.post(1);
    file.post(0);
    file.end(a);
    return std::pair(List{a, NC_REQ_NULL}, List{});
  });
  // A list as long as what is pending. The put of such a list is written here, and is not there.
  file.wait(
      "unknown get",
      [&] {
        const int a = file.post(2);
        file.post_get(0);
        return std::pair(List{a, 10001}, List{a});
      },
      Waits::Log::code);
  file.wait("get and unknown put", [&] {
    const int got = file.post_get(0);
    file.post(1);
    return std::pair(List{got, 10002}, List{got});
  });
  file.close();
}

// A number twice in one list.
void numbers_twice(Run& run, bool on_all) {
  WrongWaits file(run, on_all);
  file.wait("put twice", [&] {
    const int a = file.post(0);
    file.post(1), file.post(3, 1);
    return std::pair(List{a, a}, List{a});
  });
  file.wait("twice among three", [&] {
    const int a = file.post(0), b = file.post(4, 2);
    return std::pair(List{a, b, a, NC_REQ_NULL}, List{a, b});
  });
  file.wait("as many as are pending", [&] {
    const int a = file.post(2);
    file.post(4, 3);
    return std::pair(List{a, a}, List{a, NC_REQ_NULL});
  });
  file.wait("get twice", [&] {
    const int got = file.post_get(0);
    file.post(1);
    return std::pair(List{got, got, NC_REQ_NULL}, List{got});
  });
  file.close();
}

// Of very many requests half by a list in no order, the rest at once; the ranks have different numbers of
// them.
void many_listed(Run& run, int most) {
  Waits file(run);
  // An even number: both halves reach the last record. (From a list in no order PnetCDF's own driver can miss
  // it.)
  const int mine = most / run.ranks() * (run.rank() + 1) / run.ranks() / 2 * 2;
  std::vector<int> value(static_cast<std::size_t>(mine)), requests, half;
  for (int i = 0; i < mine; ++i) {
    value[static_cast<std::size_t>(i)] = i * 7 + run.rank();
    // no element twice: which of two puts of one wait stays is not defined
    const MPI_Offset at[2] = {i / width, width * run.rank() + i % width};
    int request = NC_REQ_NULL;
    const int err = ncmpi_iput_var1_int(file.file(), file.id(3 + i % 2), at,
                                        &value[static_cast<std::size_t>(i)], &request);
    if (err != NC_NOERR) run.code("iput", err);
    requests.push_back(request);
  }
  for (std::size_t i = 0; i < requests.size(); i += 2) half.push_back(requests[requests.size() - 1 - i]);
  std::vector<int> statuses(half.size(), -1);
  run.code("half", ncmpi_wait_all(file.file(), static_cast<int>(half.size()), half.data(), statuses.data()));
  run.value("wrong statuses", std::count_if(statuses.begin(), statuses.end(), [](int s) { return s != 0; }));
  file.wait_for("the other half", NC_PUT_REQ_ALL);
  file.close();
}

// 10⁵ requests of one rank in one wait; nothing from the others.
void very_many(Run& run, int count) {
  Waits file(run);
  std::vector<int> value(static_cast<std::size_t>(count), 5);
  for (int i = 0; is_last(run) && i < count; ++i) {
    value[static_cast<std::size_t>(i)] = i;
    const MPI_Offset at[2] = {i / (width * run.ranks()), i % (width * run.ranks())};
    const int err = ncmpi_iput_var1_int(file.file(), file.id(variables - 1), at,
                                        &value[static_cast<std::size_t>(i)], nullptr);
    if (err != NC_NOERR) run.code("iput", err);
  }
  file.wait_for("all", NC_REQ_ALL);
  file.close();
}

// Blocking puts that grow the records where ranks put nothing: nothing at the start, nothing beyond the end,
// no piece at all.
void zero_length(Run& run) {
  Waits file(run);
  const int v = file.id(variables - 1);
  const std::vector<int> values(static_cast<std::size_t>(width) * 4, run.rank() + 1);
  const MPI_Offset left = width * run.rank();
  for (int turn = 0; turn < std::min(run.ranks(), 3); ++turn) {
    const bool mine = turn == run.rank();
    MPI_Offset start[2] = {mine ? 3 * turn + 1 : 0, left}, count[2] = {mine ? 2 : 0, width};
    run.code("vara", ncmpi_put_vara_int_all(file.file(), v, start, count, values.data()));
    file.log();
    start[0] = 3 * turn + 2;  // a record that is not there yet
    count[0] = 1, count[1] = mine ? width : 0;
    run.code("vara no columns", ncmpi_put_vara_int_all(file.file(), v, start, count, values.data()));
    file.log();
    MPI_Offset far[2] = {mine ? 3 * turn + 3 : 1000, left}, none[2] = {mine ? 1 : 0, width};
    run.code("vara far", ncmpi_put_vara_int_all(file.file(), v, far, none, values.data()));
    file.log();
    MPI_Offset at[2] = {30 + turn, left}, one[2] = {1, 1};
    MPI_Offset *starts[1] = {at}, *counts[1] = {one};
    run.code("varn", ncmpi_put_varn_int_all(file.file(), v, mine ? 1 : 0, mine ? starts : nullptr,
                                            mine ? counts : nullptr, mine ? values.data() : nullptr));
    file.log();
    if (mine) file.post(4, 40 + turn);
    file.wait_for("wait", NC_REQ_ALL);
  }
  file.close();
}

}  // namespace
}  // namespace forebay::test

int main(int argc, char** argv) {
  using namespace forebay::test;
  MPI_Init(&argc, &argv);
  int rank = 0, failed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string only = argc > 1 ? argv[1] : "";
  const auto run = [&](const std::string& name, const Program& program) {
    if (!only.empty() && only != name) return;
    const double begin = MPI_Wtime();
    const bool same = same_on_both(name, MPI_COMM_WORLD, program);
    if (!same) ++failed;
    if (rank == 0)
      std::printf("%-24s %s  %.2f s\n", name.c_str(), same ? "same" : "DIFFERS", MPI_Wtime() - begin);
  };
  run("different numbers", different_numbers);
  for (bool on_all : {true, false}) {
    const std::string where = on_all ? " on all ranks" : " on one rank";
    run("unknown" + where, [on_all](Run& r) { unknown_numbers(r, on_all); });
    run("twice" + where, [on_all](Run& r) { numbers_twice(r, on_all); });
  }
  run("many listed", [](Run& r) { many_listed(r, 20000); });
  run("very many", [](Run& r) { very_many(r, 100000); });
  run("zero length", zero_length);
  MPI_Finalize();
  return failed == 0 ? 0 : 1;
}
