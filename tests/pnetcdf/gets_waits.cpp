// Gets that wait, that ask for what is not there or of a file that is only read, and what one rank gets
// wrong.
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
#include <string>
#include <vector>

#include "calls.hpp"
#include "file_calls.hpp"
#include "gets.hpp"
#include "harness.hpp"

namespace forebay::test {
namespace {

// A file of records and one fixed variable, with values out of the range of short in every third column.
struct Table {
  static constexpr MPI_Offset width = 9;
  int file, t, fixed, wide;

  explicit Table(Run& run) : file(create(run)) {
    t = dim(run, file, "t", NC_UNLIMITED);
    const int x = dim(run, file, "x", width * run.ranks());
    fixed = var(run, file, "fixed", NC_INT, {x});
    wide = var(run, file, "wide", NC_INT, {t, x});
    run.code("enddef", ncmpi_enddef(file));
    run.expect_driver(file);
  }
  static std::vector<int> values(const Run& run, int base) {
    std::vector<int> v(width);
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] = (i % 3 == 2 ? 100000 : 100) + base + run.rank() * 10 + static_cast<int>(i);
    return v;
  }
  int put(Run& run, int record, const std::vector<int>& v) const {
    const MPI_Offset start[2] = {record, width * run.rank()}, count[2] = {1, width};
    int request = NC_REQ_NULL;
    run.code("iput", record < 0 ? ncmpi_iput_vara_int(file, fixed, start + 1, count + 1, v.data(), &request)
                                : ncmpi_iput_vara_int(file, wide, start, count, v.data(), &request));
    run.value("request", request);
    return request;
  }
  // Two columns: from column 0 both in range of short, from column 2 one is not.
  int get(Run& run, int record, MPI_Offset column, short* to) const {
    const MPI_Offset start[2] = {record, width * run.rank() + column}, count[2] = {1, 2};
    int request = NC_REQ_NULL;
    run.code("iget", record < 0 ? ncmpi_iget_vara_short(file, fixed, start + 1, count + 1, to, &request)
                                : ncmpi_iget_vara_short(file, wide, start, count, to, &request));
    run.value("request", request);
    return request;
  }
};

void log_wait(Run& run, const char* what, int err, const std::vector<int>& requests,
              const std::vector<int>& statuses, const std::vector<short>& got) {
  run.code(what, err);
  for (int request : requests) run.value("  request", request);
  for (int status : statuses) run.value("  status", status);
  for (short value : got) run.value("  got", value);
}

void wait_for_gets(Run& run) {
  const Table table(run);
  const std::vector<int> a = Table::values(run, 0), b = Table::values(run, 1000);
  std::vector<short> got(8, -3);
  std::vector<int> requests, statuses;
  const auto wait = [&](const char* what, std::vector<int> list, bool with_statuses = true) {
    statuses.assign(list.size(), -9);
    const int err = ncmpi_wait_all(table.file, static_cast<int>(list.size()), list.data(),
                                   with_statuses ? statuses.data() : nullptr);
    log_wait(run, what, err, list, statuses, got);
    log_sizes(run, table.file);
    std::fill(got.begin(), got.end(), short{-3});
  };
  run.code("wait", [&] {
    int request = table.put(run, 0, a);
    return ncmpi_wait_all(table.file, 1, &request, nullptr);
  }());
  // Puts of this wait are got in it.
  requests = {table.put(run, -1, a), table.get(run, -1, 0, got.data()), table.put(run, 1, b),
              table.get(run, 0, 2, got.data() + 2)};
  wait("puts and gets", requests);
  requests = {table.get(run, -1, 0, got.data()), table.put(run, 2, b), table.get(run, 1, 0, got.data() + 2),
              table.get(run, 1, 2, got.data() + 4)};
  wait("two of four", {requests[2], requests[1]});
  wait("the other two", {requests[0], requests[3]});
  requests = {table.get(run, 0, 0, got.data()), table.get(run, 0, 3, got.data() + 2)};
  wait("all gets", requests);
  table.get(run, 2, 0, got.data()), table.put(run, -1, b);
  run.code("gets", ncmpi_wait_all(table.file, NC_GET_REQ_ALL, nullptr, nullptr));
  wait("no more", {});
  table.get(run, -1, 2, got.data());
  log_wait(run, "everything", ncmpi_wait_all(table.file, NC_REQ_ALL, nullptr, nullptr), {}, {}, got);
  requests = {table.get(run, -1, 2, got.data()), table.put(run, -1, a)};
  wait("as many, no statuses", requests, false);

  // Cancelled: nothing arrives.
  requests = {table.get(run, 0, 0, got.data()), table.get(run, 0, 3, got.data() + 2), NC_REQ_NULL, 4711};
  statuses.assign(4, -9);
  const int cancelled = ncmpi_cancel(table.file, 4, requests.data(), statuses.data());
  log_wait(run, "cancel", cancelled, requests, statuses, got);
  table.get(run, 0, 0, got.data());
  run.code("cancel gets", ncmpi_cancel(table.file, NC_GET_REQ_ALL, nullptr, nullptr));
  wait("nothing", {});

  // Alone.
  run.code("begin_indep", ncmpi_begin_indep_data(table.file));
  requests = {table.get(run, 0, 0, got.data()), table.get(run, 1, 2, got.data() + 2)};
  statuses.assign(2, -9);
  const int alone = ncmpi_wait(table.file, 2, requests.data(), statuses.data());
  log_wait(run, "wait alone", alone, requests, statuses, got);
  run.code("end_indep", ncmpi_end_indep_data(table.file));
  close(run, table.file);
}

// A blocking get of a list takes a number, too, while others are pending.
void numbers(Run& run) {
  const Table table(run);
  const std::vector<int> a = Table::values(run, 0);
  int request = table.put(run, 0, a);
  run.code("wait", ncmpi_wait_all(table.file, 1, &request, nullptr));
  std::vector<short> got(6, -1);
  table.get(run, 0, 0, got.data());
  table.put(run, 1, a);
  MPI_Offset start[2] = {0, Table::width * run.rank() + 3}, count[2] = {1, 2};
  MPI_Offset *starts[1] = {start}, *counts[1] = {count};
  run.code("get_varn", ncmpi_get_varn_short_all(table.file, table.wide, 1, starts, counts, got.data() + 2));
  table.get(run, 0, 6, got.data() + 4);
  table.put(run, 2, a);
  run.code("wait", ncmpi_wait_all(table.file, NC_REQ_ALL, nullptr, nullptr));
  for (short value : got) run.value("got", value);
  table.get(run, 0, 0, got.data());
  run.code("wait", ncmpi_wait_all(table.file, NC_REQ_ALL, nullptr, nullptr));
  close(run, table.file);
}

void define_mode_and_close(Run& run) {
  const Table table(run);
  const std::vector<int> a = Table::values(run, 0);
  int request = table.put(run, -1, a);
  run.code("wait", ncmpi_wait_all(table.file, 1, &request, nullptr));
  std::vector<short> got(4, -1);
  run.code("redef", ncmpi_redef(table.file));
  request = table.get(run, -1, 0, got.data());
  run.code("wait in define mode", ncmpi_wait_all(table.file, 1, &request, nullptr));
  // The variable moves before it is read.
  const std::string longer(3000, 'x');
  run.code("att", ncmpi_put_att_text(table.file, NC_GLOBAL, "a", 3000, longer.c_str()));
  run.code("enddef", ncmpi_enddef(table.file));
  run.code("wait", ncmpi_wait_all(table.file, NC_REQ_ALL, nullptr, nullptr));
  table.get(run, -1, 3, got.data() + 2);
  for (short value : got) run.value("got", value);
  close(run, table.file);  // NC_EPENDING
  for (short value : got) run.value("got", value);
}

// ---- what is not there, and what one rank gets wrong

void past_the_records(Run& run) {
  const Table table(run);
  const std::vector<int> a = Table::values(run, 0);
  int value = -1, request = NC_REQ_NULL;
  const auto get = [&](const char* what, MPI_Offset record, MPI_Offset records) {
    const MPI_Offset start[2] = {record, Table::width * run.rank()}, count[2] = {records, 1};
    std::vector<int> got(static_cast<std::size_t>(records) + 1, -1);
    run.code(what, ncmpi_get_vara_int_all(table.file, table.wide, start, count, got.data()));
    for (int v : got) run.value("  got", v);
    run.code(what, ncmpi_iget_vara_int(table.file, table.wide, start, count, got.data(), &request));
    run.value("  request", request);
    run.code("  wait", ncmpi_wait_all(table.file, NC_REQ_ALL, nullptr, nullptr));
    for (int v : got) run.value("  got", v);
  };
  get("no record", 0, 1);
  get("nothing of no record", 0, 0);
  // Only the last rank adds a record; all may read it.
  if (run.rank() == run.ranks() - 1) table.put(run, 2, a);
  run.code("wait", ncmpi_wait_all(table.file, NC_REQ_ALL, nullptr, nullptr));
  put_last_elements(run, table.file);
  get("the last", 2, 1);
  get("one more", 3, 1);
  get("more than there are", 1, 3);
  get("none at the end", 3, 0);
  run.code("begin_indep", ncmpi_begin_indep_data(table.file));
  const MPI_Offset at[2] = {3, Table::width * run.rank()};
  run.code("beyond, alone", ncmpi_get_var1_int(table.file, table.wide, at, &value));
  if (run.rank() == 0) {
    run.code("put", ncmpi_put_var1_int(table.file, table.wide, at, a.data()));
    run.code("get what it put", ncmpi_get_var1_int(table.file, table.wide, at, &value));
    run.value("value", value);
  }
  run.code("end_indep", ncmpi_end_indep_data(table.file));
  put_last_elements(run, table.file);
  get("the new one", 3, 1);
  close(run, table.file, false);
}

void one_rank_errs(Run& run) {
  const Table table(run);
  int request = table.put(run, -1, Table::values(run, 0));
  run.code("wait", ncmpi_wait_all(table.file, 1, &request, nullptr));
  const bool wrong = run.rank() == run.ranks() - 1;
  const MPI_Offset width = Table::width;
  MPI_Offset start[1] = {wrong ? width * run.ranks() + 5 : width * run.rank()}, count[1] = {width};
  std::vector<int> got(static_cast<std::size_t>(width), -1);
  const auto log = [&] { run.value("got", hash_of(got.data(), got.size() * sizeof(int))); };
  run.code("edge", ncmpi_get_vara_int_all(table.file, table.fixed, start, count, got.data()));
  log();
  start[0] = width * run.rank();
  std::fill(got.begin(), got.end(), -1);
  run.code("mismatch",
           ncmpi_get_vara_all(table.file, table.fixed, start, count, got.data(), wrong ? 1 : width, MPI_INT));
  log();
  std::fill(got.begin(), got.end(), -1);
  MPI_Offset *starts[1] = {start}, *counts[1] = {count};
  count[0] = wrong ? 1000000 : width;
  run.code("varn", ncmpi_get_varn_int_all(table.file, table.fixed, 1, starts, counts, got.data()));
  log();
  run.code("no pieces",
           ncmpi_get_varn_int_all(table.file, table.fixed, wrong ? 0 : 1, starts, counts, got.data()));
  run.code("text", ncmpi_get_var_text_all(table.file, table.fixed, reinterpret_cast<char*>(got.data())));
  run.code("complex", ncmpi_iget_vara(table.file, table.fixed, start, count, got.data(), 1,
                                      MPI_C_DOUBLE_COMPLEX, &request));
  run.value("request", request);
  close(run, table.file);
}

void mget(Run& run) {
  const Table table(run);
  int request = table.put(run, -1, Table::values(run, 0));
  run.code("wait", ncmpi_wait_all(table.file, 1, &request, nullptr));
  const bool wrong = run.rank() == run.ranks() - 1;
  std::vector<int> one(4, -1), two(4, -1);
  int* bufs[2] = {one.data(), two.data()};
  int ids[2] = {table.fixed, table.fixed};
  MPI_Offset first[1] = {Table::width * run.rank()}, second[1] = {Table::width * run.rank() + 4},
             count[1] = {4};
  MPI_Offset *starts[2] = {first, second}, *counts[2] = {count, count};
  run.code("mget", ncmpi_mget_vara_int_all(table.file, 2, ids, starts, counts, bufs));
  run.value("one", hash_of(one.data(), 16));
  run.value("two", hash_of(two.data(), 16));
  std::fill(one.begin(), one.end(), -1);
  run.code("mget, different numbers",
           ncmpi_mget_vara_int_all(table.file, run.rank() % 3, ids, starts, counts, bufs));
  run.value("one", hash_of(one.data(), 16));
  if (wrong) ids[1] = 99;
  run.code("mget, one wrong", ncmpi_mget_vara_int_all(table.file, 2, ids, starts, counts, bufs));
  run.code("begin_indep", ncmpi_begin_indep_data(table.file));
  std::fill(one.begin(), one.end(), -1);
  run.code("mget alone", ncmpi_mget_vara_int(table.file, 1, ids, starts, counts, bufs));
  run.value("one", hash_of(one.data(), 16));
  run.code("end_indep", ncmpi_end_indep_data(table.file));
  close(run, table.file);
}

void read_only(Run& run) {
  {
    const Table table(run);
    table.put(run, -1, Table::values(run, 0));
    table.put(run, 0, Table::values(run, 0));
    run.code("wait", ncmpi_wait_all(table.file, NC_REQ_ALL, nullptr, nullptr));
    close(run, table.file);
  }
  int file = -1;
  run.code("open", ncmpi_open(run.comm(), run.path().c_str(), NC_NOWRITE, MPI_INFO_NULL, &file));
  run.expect_driver(file);
  std::vector<int> got(static_cast<std::size_t>(Table::width * run.ranks()), -1);
  run.code("put", ncmpi_put_var_int_all(file, 0, got.data()));
  run.code("redef", ncmpi_redef(file));
  run.code("get", ncmpi_get_var_int_all(file, 0, got.data()));
  run.value("got", hash_of(got.data(), got.size() * sizeof(int)));
  run.code("sync", ncmpi_sync(file));
  run.code("begin_indep", ncmpi_begin_indep_data(file));
  std::vector<double> numbers(got.size());
  run.code("get", ncmpi_get_var_double(file, 1, numbers.data()));
  run.value("got", hash_of(numbers.data(), numbers.size() * sizeof(double)));
  run.code("flush", ncmpi_flush(file));
  run.code("end_indep", ncmpi_end_indep_data(file));
  int request = NC_REQ_NULL;
  run.code("iget", ncmpi_iget_var_double(file, 0, numbers.data(), &request));
  run.value("request", request);
  run.code("wait", ncmpi_wait_all(file, 1, &request, nullptr));
  run.value("got", hash_of(numbers.data(), numbers.size() * sizeof(double)));
  run.code("iget", ncmpi_iget_var_double(file, 0, numbers.data(), &request));
  close(run, file);
}

}  // namespace

std::vector<Scenario> get_waits() {
  return {{"waits", wait_for_gets},
          {"numbers", numbers},
          {"define mode and close", define_mode_and_close},
          {"past the records", past_the_records},
          {"one rank errs", one_rank_errs},
          {"mget", mget},
          {"read only", read_only}};
}

}  // namespace forebay::test
