// Scenario by scenario: every shape, method, type and rule of the put path, on PnetCDF's own driver and on
// Forebay's.
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "calls.hpp"
#include "file_calls.hpp"
#include "harness.hpp"

namespace forebay::test {
namespace {

// Reads a whole variable of doubles or less as text of a hash, collectively.
void log_contents(Run& run, int file, int variable) {
  int dims = 0;
  std::array<int, 8> ids{};
  ncmpi_inq_var(file, variable, nullptr, nullptr, &dims, ids.data(), nullptr);
  std::vector<MPI_Offset> start(static_cast<std::size_t>(dims), 0), count(static_cast<std::size_t>(dims));
  MPI_Offset n = 1;
  for (int d = 0; d < dims; ++d) {
    ncmpi_inq_dimlen(file, ids[static_cast<std::size_t>(d)], &count[static_cast<std::size_t>(d)]);
    n *= count[static_cast<std::size_t>(d)];
  }
  std::vector<double> values(static_cast<std::size_t>(n) + 1);
  run.code("get_vara_all",
           ncmpi_get_vara_double_all(file, variable, start.data(), count.data(), values.data()));
  run.value("contents", hash_of(values.data(), static_cast<std::size_t>(n) * sizeof(double)));
}

// ---- every shape, method and face, one type
// ------------------------------------------------------------------------

// The part of a variable [rows][columns] that this rank puts with `shape`; rows are dealt out. `slot` of
// `slots` within the rank.
Call call_of(Run& run, Shape shape, int variable, nc_type type, MPI_Offset rows, MPI_Offset columns, int slot,
             int slots) {
  Call call;
  call.shape = shape;
  call.variable = variable;
  call.type = type;
  call.memory = memory_of(type);
  const MPI_Offset all = static_cast<MPI_Offset>(run.ranks()) * slots;
  const MPI_Offset mine = static_cast<MPI_Offset>(run.rank()) * slots + slot;
  const MPI_Offset first = rows * mine / all, end = rows * (mine + 1) / all;
  const MPI_Offset height = end - first;
  switch (shape) {
    case Shape::var1:
      call.start = {std::min(first, rows - 1), mine % columns};
      call.elements = 1;
      break;
    case Shape::var:  // the same everywhere, so that overlapping writes agree
      call.elements = rows * columns;
      break;
    case Shape::vara:
      call.start = {first, 1};
      call.count = {height, columns - 2};
      call.elements = height * (columns - 2);
      break;
    case Shape::vars:
      call.start = {first, 0};
      call.count = {height, columns / 3};
      call.stride = {1, 3};
      call.elements = height * (columns / 3);
      break;
    case Shape::varm:  // transposed
      call.start = {first, 2};
      call.count = {height, columns / 4};
      call.stride = {1, 2};
      call.imap = {1, std::max<MPI_Offset>(height, 1)};
      call.elements = height * (columns / 4);
      break;
    case Shape::varn:
      for (MPI_Offset r = end; r-- > first;) {  // descending, ragged
        const MPI_Offset width = (r * 5) % (columns / 2);
        call.starts.push_back({r, columns / 2});
        call.counts.push_back({1, width});
        call.elements += width;
        call.starts.push_back({r, r % (columns / 2)});
        call.counts.push_back({});
        call.elements += 1;
      }
      break;
  }
  if (shape == Shape::var1 && height == 0 && run.rank() > 0) call.start = {0, mine % columns};
  return call;
}

void put_everything(Run& run, int format, nc_type type) {
  const int file = create(run, format);
  const MPI_Offset rows = 4 * run.ranks() + 3, columns = 24;
  const int y = dim(run, file, "y", rows), x = dim(run, file, "x", columns);
  // Filled, since ROMIO sieves independent puts whatever it is told, and then leaves in the holes what was in
  // its buffer.
  run.code("fill", ncmpi_set_fill(file, NC_FILL, nullptr));
  struct Job {
    Shape shape;
    Method method;
    Face face;
    int variable;
  };
  std::vector<Job> jobs;
  for (Shape shape : all_shapes) {
    for (Method method : put_methods) {
      for (Face face : {Face::typed, Face::flexible, Face::gaps, Face::as_variable}) {
        const std::string name = std::string(name_of(shape)) + "_" + name_of(method) + "_" + name_of(face);
        jobs.push_back({shape, method, face, var(run, file, name, type, {y, x})});
      }
    }
  }
  run.code("enddef", ncmpi_enddef(file));
  run.expect_driver(file);
  run.code("attach", ncmpi_buffer_attach(file, 1 << 20));
  std::vector<Call> posted;
  posted.reserve(jobs.size());
  const auto perform_all = [&](Method method) {
    for (const Job& job : jobs) {
      if (job.method != method) continue;
      Call call = call_of(run, job.shape, job.variable, type, rows, columns, 0, 1);
      call.method = method;
      call.face = job.face;
      const bool shared = job.shape == Shape::var;
      fill_buffer(call, static_cast<std::uint64_t>(job.variable * 1000 + (shared ? 0 : run.rank())), false);
      posted.push_back(std::move(call));
      Call& kept = posted.back();
      run.code(std::string(name_of(job.shape)) + " " + name_of(method) + " " + name_of(job.face),
               perform(file, kept));
      if (method == Method::collective || method == Method::independent)
        run.value("untouched", kept.buffer == kept.before);
    }
  };
  perform_all(Method::collective);
  run.code("begin_indep", ncmpi_begin_indep_data(file));
  // One at a time, and each until it is in the file: ranks that write the same bytes differently would race.
  for (int turn = 0; turn < run.ranks(); ++turn) {
    if (turn == run.rank()) {
      perform_all(Method::independent);
      run.code("flush", ncmpi_flush(file));
    }
    MPI_Barrier(run.comm());
  }
  run.code("end_indep", ncmpi_end_indep_data(file));
  perform_all(Method::iput);
  perform_all(Method::bput);
  log_sizes(run, file);
  MPI_Offset usage = 0;
  run.code("usage", ncmpi_inq_buffer_usage(file, &usage));
  run.value("usage", usage);
  std::vector<int> requests, statuses;
  for (const Call& call : posted) {
    if (call.method == Method::iput || call.method == Method::bput) requests.push_back(call.request);
  }
  statuses.resize(requests.size(), -1);
  run.value("requests", std::accumulate(requests.begin(), requests.end(), 0));
  run.code("wait_all",
           ncmpi_wait_all(file, static_cast<int>(requests.size()), requests.data(), statuses.data()));
  run.value("statuses", std::accumulate(statuses.begin(), statuses.end(), 0));
  run.value("requests", std::accumulate(requests.begin(), requests.end(), 0));
  for (const Call& call : posted) {
    if (call.buffer != call.before) run.value("touched buffer of", call.variable);
  }
  run.code("usage", ncmpi_inq_buffer_usage(file, &usage));
  run.value("usage", usage);
  run.code("detach", ncmpi_buffer_detach(file));
  close(run, file);
}

// ---- every memory type into every external type, with values out of range
// --------------------------------------------

void convert_everything(Run& run, int format) {
  const int file = create(run, format);
  const MPI_Offset width = 40;
  const int x = dim(run, file, "x", width * run.ranks());
  struct Job {
    nc_type type;
    Memory memory;
    Method method;
    int variable;
  };
  std::vector<Job> jobs;
  for (nc_type type : external_types(format)) {
    for (int memory = 0; memory < memory_types; ++memory) {
      for (Method method : {Method::collective, Method::iput, Method::bput}) {
        const std::string name = std::string(name_of_type(type)) + "_" +
                                 name_of(static_cast<Memory>(memory)) + "_" + name_of(method);
        const int id = var(run, file, name, type, {x});
        if (memory % 3 == 0 && type == NC_SHORT) {
          const short fill = -5;
          run.code("fill value", ncmpi_put_att_short(file, id, "_FillValue", NC_SHORT, 1, &fill));
        }
        jobs.push_back({type, static_cast<Memory>(memory), method, id});
      }
    }
  }
  run.code("enddef", ncmpi_enddef(file));
  run.expect_driver(file);
  run.code("attach", ncmpi_buffer_attach(file, 1 << 20));
  std::vector<Call> posted(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Call& call = posted[i];
    call.shape = i % 2 == 0 ? Shape::vara : Shape::varn;
    call.method = jobs[i].method;
    call.variable = jobs[i].variable;
    call.memory = jobs[i].memory;
    call.elements = width;
    if (call.shape == Shape::vara) {
      call.start = {width * run.rank()};
      call.count = {width};
    } else {
      call.starts = {{width * run.rank() + width / 2}, {width * run.rank()}};
      call.counts = {{width / 2}, {width / 2}};
    }
    fill_buffer(call, static_cast<std::uint64_t>(call.variable + run.rank()),
                run.rank() % 2 == 1 || run.ranks() == 1);
    run.code(std::string(name_of_type(jobs[i].type)) + " from " + name_of(call.memory) + " " +
                 name_of(call.method),
             perform(file, call));
  }
  run.code("wait_all", ncmpi_wait_all(file, NC_REQ_ALL, nullptr, nullptr));
  for (const Call& call : posted) {
    if (call.buffer != call.before) run.value("touched buffer of", call.variable);
  }
  for (const Job& job : jobs) {
    if (job.type != NC_CHAR && job.method == Method::collective) log_contents(run, file, job.variable);
  }
  run.code("detach", ncmpi_buffer_detach(file));
  close(run, file);
}

// Text is one type, and nothing else goes with it.
void refuse_text(Run& run) {
  const int file = create(run);
  const int x = dim(run, file, "x", 8);
  const int c = var(run, file, "c", NC_CHAR, {x}), n = var(run, file, "n", NC_INT, {x});
  run.code("enddef", ncmpi_enddef(file));
  const int value = 7;
  const MPI_Offset at[1] = {0};
  int request = 0;
  run.code("int into text", ncmpi_iput_var1_int(file, c, at, &value, &request));
  run.code("text into int", ncmpi_iput_var1_text(file, n, at, "x", &request));
  run.value("request", request);
  run.code("scalar", ncmpi_put_var1_text_all(file, c, at, "y"));
  close(run, file);
}

// ---- records
// -------------------------------------------------------------------------------------------------------

void grow_records(Run& run, int format) {
  const int file = create(run, format);
  const int t = dim(run, file, "t", NC_UNLIMITED), x = dim(run, file, "x", 5);
  const int one = var(run, file, "one", NC_SHORT, {t});
  const int two = var(run, file, "two", NC_DOUBLE, {t, x});
  const int odd = var(run, file, "odd", NC_BYTE, {t, x});
  const int fixed = var(run, file, "fixed", NC_INT, {x});
  run.code("enddef", ncmpi_enddef(file));
  run.expect_driver(file);
  const short s[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const double d[20] = {1.5, 2.5, 3.5, 4.5, 5.5};
  const signed char b[40] = {9, 8, 7, 6, 5};

  // one rank alone grows; the others write less or nothing
  MPI_Offset start[2] = {run.rank() == run.ranks() - 1 ? 3 : 0, 0};
  MPI_Offset count[2] = {run.rank() == run.ranks() - 1 ? 2 : run.rank() == 0 ? 1 : 0, 1};
  run.code("put one", ncmpi_put_vara_short_all(file, one, start, count, s));
  log_records(run, file, t);

  // varn with records out of order, blocking
  std::vector<std::vector<MPI_Offset>> starts{{7, run.rank() % 5}, {2, run.rank() % 5}};
  std::vector<std::vector<MPI_Offset>> counts{{1, 1}, {1, 1}};
  MPI_Offset* sp[2] = {starts[0].data(), starts[1].data()};
  MPI_Offset* cp[2] = {counts[0].data(), counts[1].data()};
  run.code("put varn", ncmpi_put_varn_double_all(file, two, run.rank() < 5 ? 2 : 0, sp, cp, d));
  log_records(run, file, t);

  // strided records; rank 0 only
  MPI_Offset start3[2] = {1, 0}, count3[2] = {run.rank() == 0 ? 4 : 0, 5}, stride3[2] = {3, 1};
  run.code("put vars", ncmpi_put_vars_schar_all(file, odd, start3, count3, stride3, b));
  log_records(run, file, t);

  // nonblocking, several in one wait, one rank without any
  std::vector<int> requests;
  if (run.rank() != 1) {
    for (int k = 0; k < 3; ++k) {
      int request = NC_REQ_NULL;
      MPI_Offset st[2] = {11 + k, 0}, co[2] = {1, 5};
      if (run.rank() == 0) run.code("iput", ncmpi_iput_vara_double(file, two, st, co, d, &request));
      requests.push_back(request);
    }
  }
  run.code("wait", ncmpi_wait_all(file, static_cast<int>(requests.size()), requests.data(), nullptr));
  log_records(run, file, t);

  // a collective put to a variable without records does not change the count
  run.code("put fixed", ncmpi_put_var_int_all(file, fixed, std::array<int, 5>{1, 2, 3, 4, 5}.data()));
  log_records(run, file, t);
  put_last_elements(run, file);
  log_contents(run, file, two);

  // the count survives metadata changes in data mode
  run.code("put_att", ncmpi_rename_var(file, odd, "od"));
  run.code("sync", ncmpi_sync(file));
  log_records(run, file, t);

  // a definition that moves the records
  run.code("redef", ncmpi_redef(file));
  log_records(run, file, t);
  var(run, file, "another", NC_INT, {t, x});
  const std::string text(3000, 'a');
  run.code("att",
           ncmpi_put_att_text(file, NC_GLOBAL, "long", static_cast<MPI_Offset>(text.size()), text.c_str()));
  run.code("enddef", ncmpi_enddef(file));
  log_records(run, file, t);
  log_contents(run, file, two);
  log_contents(run, file, odd);

  // independent growth, each rank by itself
  run.code("begin", ncmpi_begin_indep_data(file));
  MPI_Offset at[1] = {20 + run.rank()};
  run.code("put1", ncmpi_put_var1_short(file, one, at, s));
  int request = NC_REQ_NULL;
  MPI_Offset st[2] = {30 + 2 * run.rank(), 0}, co[2] = {1, 5};
  run.code("iput", ncmpi_iput_vara_double(file, two, st, co, d, &request));
  log_records(run, file, t);
  int status = -1;
  run.code("wait", ncmpi_wait(file, 1, &request, &status));
  run.value("status", status);
  run.value("request", request);
  log_records(run, file, t);
  run.code("sync_numrecs", ncmpi_sync_numrecs(file));
  log_records(run, file, t);
  run.code("end", ncmpi_end_indep_data(file));
  log_records(run, file, t);

  // collective growth, then independent mode until the end
  MPI_Offset st2[2] = {100, 0}, co2[2] = {1, run.rank() == 0 ? 5 : 0};
  run.code("put", ncmpi_put_vara_double_all(file, two, st2, co2, d));
  run.code("fill", ncmpi_fill_var_rec(file, one, 50));
  log_records(run, file, t);
  run.code("begin", ncmpi_begin_indep_data(file));
  log_records(run, file, t);
  close(run, file, !is_pnetcdf_1_15());

  int again = -1;
  run.code("open", ncmpi_open(run.comm(), run.path().c_str(), NC_WRITE, MPI_INFO_NULL, &again));
  log_records(run, again, t);
  MPI_Offset st4[1] = {101 + run.rank()}, co4[1] = {1};
  run.code("put", ncmpi_put_vara_short_all(again, one, st4, co4, s));
  log_records(run, again, t);
  put_last_elements(run, again);
  log_contents(run, again, one);
  close(run, again);
}

// A piece of put_varn that spans records. PnetCDF up to 1.14 takes its data from the wrong place (and from
// beyond the buffer), so there is nothing to compare with: what is read back must be what was put.
void pieces_over_records(Run& run) {
  if (!run.is_forebay()) use_forebay(true);
  const int file = create(run);
  const int t = dim(run, file, "t", NC_UNLIMITED), x = dim(run, file, "x", 2 * run.ranks());
  const int v = var(run, file, "v", NC_INT, {t, x}), w = var(run, file, "w", NC_SHORT, {t});
  run.code("enddef", ncmpi_enddef(file));
  std::vector<int> values(60);
  std::iota(values.begin(), values.end(), 1000 * run.rank());
  MPI_Offset start[2][2] = {{20, 2 * run.rank()}, {1, 2 * run.rank() + 1}}, count[2][2] = {{10, 2}, {40, 1}};
  MPI_Offset* starts[2] = {start[0], start[1]};
  MPI_Offset* counts[2] = {count[0], count[1]};
  // The second piece overlaps the first in records 20 to 29, and comes later.
  run.code("put", ncmpi_put_varn_int_all(file, v, 2, starts, counts, values.data()));
  log_records(run, file, t);
  std::vector<int> back(static_cast<std::size_t>(41 * 2));
  MPI_Offset all[2] = {0, 2 * run.rank()}, extent[2] = {41, 2};
  run.code("get", ncmpi_get_vara_int_all(file, v, all, extent, back.data()));
  int wrong = 0;
  for (int r = 0; r < 41; ++r) {
    const auto at = static_cast<std::size_t>(2 * r);
    if (r >= 20 && r < 30 && back[at] != values[static_cast<std::size_t>(2 * (r - 20))]) ++wrong;
    if (r >= 1 && back[at + 1] != values[static_cast<std::size_t>(20 + r - 1)]) ++wrong;
  }
  if (run.rank() == 0) {
    int request = NC_REQ_NULL;
    MPI_Offset one[1] = {3}, many[1] = {50};
    MPI_Offset* ones[1] = {one};
    MPI_Offset* manys[1] = {many};
    std::vector<short> shorts(50);
    std::iota(shorts.begin(), shorts.end(), short{7});
    run.code("iput", ncmpi_iput_varn_short(file, w, 1, ones, manys, shorts.data(), &request));
    run.code("wait", ncmpi_wait_all(file, 1, &request, nullptr));
    std::vector<short> shorts_back(50);
    run.code("get", ncmpi_get_vara_short_all(file, w, one, many, shorts_back.data()));
    if (shorts != shorts_back) ++wrong;
  } else {
    run.code("wait", ncmpi_wait_all(file, 0, nullptr, nullptr));
    MPI_Offset none[1] = {0};
    run.code("get", ncmpi_get_vara_short_all(file, w, none, none, nullptr));
  }
  log_records(run, file, t);
  if (wrong != 0) std::fprintf(stderr, "rank %d: %d wrong values\n", run.rank(), wrong);
  run.value(run.is_forebay() ? "wrong" : "wrong", wrong == 0         ? "nothing"
                                                  : run.is_forebay() ? "here"
                                                                     : "there");
  close(run, file);
  use_forebay(run.is_forebay());
}

// ---- nonblocking rules
// ---------------------------------------------------------------------------------------------

void wait_in_all_ways(Run& run) {
  const int file = create(run, 2);
  const MPI_Offset width = 2000;
  const int x = dim(run, file, "x", width * run.ranks());
  std::vector<int> v;
  for (int i = 0; i < 12; ++i)
    v.push_back(var(run, file, "v" + std::to_string(i), i % 2 == 0 ? NC_INT : NC_FLOAT, {x}));
  // A buffer each: PnetCDF swaps the bytes of pending buffers in place.
  std::vector<std::vector<int>> values(v.size(), std::vector<int>(static_cast<std::size_t>(width)));
  for (auto& buffer : values) std::iota(buffer.begin(), buffer.end(), run.rank());
  const MPI_Offset start[1] = {width * run.rank()}, count[1] = {width};
  std::vector<int> ids(12, NC_REQ_NULL), statuses(12, -9);
  const auto log_ids = [&](const char* what) {
    std::string text;
    for (int id : ids) text += std::to_string(id) + " ";
    for (int status : statuses) text += std::to_string(status) + " ";
    run.value(what, text);
    log_sizes(run, file);
  };
  const auto post = [&](int i) {
    run.code("iput", ncmpi_iput_vara_int(file, v[static_cast<std::size_t>(i)], start, count,
                                         values[static_cast<std::size_t>(i)].data(),
                                         &ids[static_cast<std::size_t>(i)]));
  };

  // in define mode: the variables have no place yet
  post(0);
  post(1);
  log_ids("define mode");
  run.code("wait in define mode", ncmpi_wait_all(file, 2, ids.data(), statuses.data()));
  run.code("enddef", ncmpi_enddef(file));
  run.expect_driver(file);
  post(2);
  log_ids("posted");
  run.code("independent wait in collective mode", ncmpi_wait(file, 1, ids.data() + 2, statuses.data()));
  run.code("wait all three", ncmpi_wait_all(file, 3, ids.data(), statuses.data()));
  log_ids("waited");

  // subsets, null requests, unknown and repeated numbers
  post(3), post(4), post(5), post(6);
  log_ids("four");
  std::array<int, 3> some{ids[4], NC_REQ_NULL, ids[3]}, status3{-9, -9, -9};
  run.code("subset", ncmpi_wait_all(file, 3, some.data(), status3.data()));
  run.value("subset", std::to_string(some[0]) + " " + std::to_string(some[1]) + " " +
                          std::to_string(some[2]) + " " + std::to_string(status3[0]) + " " +
                          std::to_string(status3[1]) + " " + std::to_string(status3[2]));
  log_sizes(run, file);
  std::array<int, 3> bad{4444, NC_REQ_NULL, 4446};
  run.code("unknown", ncmpi_wait_all(file, 3, bad.data(), status3.data()));
  run.value("unknown",
            std::to_string(status3[0]) + " " + std::to_string(status3[1]) + " " + std::to_string(status3[2]));
  run.code("the rest", ncmpi_wait_all(file, NC_PUT_REQ_ALL, nullptr, nullptr));
  log_sizes(run, file);

  // cancel
  post(7), post(8), post(9);
  std::array<int, 3> drop{ids[8], 777776, NC_REQ_NULL};
  run.code("cancel", ncmpi_cancel(file, 3, drop.data(), status3.data()));
  run.value("cancel", std::to_string(drop[0]) + " " + std::to_string(drop[1]) + " " +
                          std::to_string(status3[0]) + " " + std::to_string(status3[1]) + " " +
                          std::to_string(status3[2]));
  log_sizes(run, file);
  run.code("cancel all puts", ncmpi_cancel(file, NC_PUT_REQ_ALL, nullptr, nullptr));
  log_sizes(run, file);
  run.code("wait for nothing", ncmpi_wait_all(file, 0, nullptr, nullptr));
  run.code("bad count", ncmpi_cancel(file, -7, nullptr, nullptr));

  // puts and gets in one wait: the puts land first
  post(10);
  std::vector<int> got(static_cast<std::size_t>(width), -1);
  int get_id = NC_REQ_NULL;
  run.code("iget", ncmpi_iget_vara_int(file, v[10], start, count, got.data(), &get_id));
  run.value("get id", get_id);
  std::array<int, 3> both{get_id, NC_REQ_NULL, ids[10]};
  run.code("both", ncmpi_wait_all(file, 3, both.data(), status3.data()));
  run.value("both", std::to_string(both[0]) + " " + std::to_string(both[2]) + " " +
                        std::to_string(status3[0]) + " " + std::to_string(status3[2]));
  run.value("got", got == values[10]);
  // only some ranks get
  post(11);
  if (run.rank() % 2 == 0)
    run.code("iget", ncmpi_iget_vara_int(file, v[10], start, count, got.data(), &get_id));
  run.code("all", ncmpi_wait_all(file, NC_REQ_ALL, nullptr, nullptr));
  log_sizes(run, file);

  // independent mode
  run.code("begin", ncmpi_begin_indep_data(file));
  run.code("collective wait in independent mode", ncmpi_wait_all(file, 0, nullptr, nullptr));
  if (run.rank() != 1) post(7), post(8);
  run.code("independent wait", ncmpi_wait(file, NC_REQ_ALL, nullptr, nullptr));
  run.code("end", ncmpi_end_indep_data(file));

  // left pending
  if (run.rank() == run.ranks() - 1) post(9);
  close(run, file);
}

void buffered_puts(Run& run) {
  const int file = create(run);
  const int x = dim(run, file, "x", 64 * run.ranks());
  const int v = var(run, file, "v", NC_INT, {x}), w = var(run, file, "w", NC_SHORT, {x});
  run.code("enddef", ncmpi_enddef(file));
  int ids[6];
  const int values[64] = {5, 70000, 7};
  const MPI_Offset start[1] = {64 * run.rank()};
  const auto put = [&](int i, int variable, MPI_Offset n) {
    const MPI_Offset count[1] = {n};
    run.code("bput", ncmpi_bput_vara_int(file, variable, start, count, values, &ids[i]));
    MPI_Offset usage = -1;
    run.code("usage", ncmpi_inq_buffer_usage(file, &usage));
    run.value("usage", usage);
  };
  MPI_Offset size = -1;
  run.code("not attached", ncmpi_inq_buffer_size(file, &size));
  put(0, v, 4);
  run.code("detach nothing", ncmpi_buffer_detach(file));
  run.code("attach nothing", ncmpi_buffer_attach(file, 0));
  run.code("attach", ncmpi_buffer_attach(file, 256));
  run.code("attach twice", ncmpi_buffer_attach(file, 256));
  run.code("size", ncmpi_inq_buffer_size(file, &size));
  run.value("size", size);
  put(0, v, 40);  // 160 bytes
  put(1, w, 40);  // 80, and a value out of range
  put(2, v, 10);  // too much
  put(2, v, 4);   // exactly the rest
  run.code("detach with pending", ncmpi_buffer_detach(file));
  run.code("wait the first", ncmpi_wait_all(file, 1, &ids[0], nullptr));
  put(3, v, 4);  // its space is free only when what is behind it is
  run.code("wait the others", ncmpi_wait_all(file, 2, &ids[1], nullptr));
  put(3, v, 64);
  run.code("cancel", ncmpi_cancel(file, 1, &ids[3], nullptr));
  put(4, w, 64);
  put(5, w, 0);
  run.code("wait", ncmpi_wait_all(file, NC_REQ_ALL, nullptr, nullptr));
  run.code("detach", ncmpi_buffer_detach(file));
  close(run, file);
}

// Many small requests in one wait, of one variable and of many, ascending and not.
void many_requests(Run& run, int per_rank) {
  const int file = create(run);
  const int t = dim(run, file, "t", NC_UNLIMITED);
  const int x = dim(run, file, "x", static_cast<MPI_Offset>(per_rank) * run.ranks());
  const int a = var(run, file, "a", NC_INT, {x}), b = var(run, file, "b", NC_DOUBLE, {t, x});
  run.code("enddef", ncmpi_enddef(file));
  std::vector<int> values(static_cast<std::size_t>(per_rank));
  int request = 0;
  for (int i = 0; i < per_rank; ++i) {
    values[static_cast<std::size_t>(i)] = i * 31 + run.rank();
    MPI_Offset at[2] = {i % 3, static_cast<MPI_Offset>(i) * run.ranks() + run.rank()};
    const int err = i % 2 == 0
                        ? ncmpi_iput_var1_int(file, a, at + 1, &values[static_cast<std::size_t>(i)], &request)
                        : ncmpi_iput_var1_int(file, b, at, &values[static_cast<std::size_t>(i)], &request);
    if (err != NC_NOERR) run.code("iput", err);
  }
  run.value("last", request);
  run.code("wait", ncmpi_wait_all(file, NC_REQ_ALL, nullptr, nullptr));
  log_records(run, file, t);
  close(run, file);
}

// What one rank gets wrong stays with it; the others' data are written.
void one_rank_errs(Run& run) {
  const int file = create(run);
  const int x = dim(run, file, "x", 100 * run.ranks());
  const int v = var(run, file, "v", NC_INT, {x}), w = var(run, file, "w", NC_INT, {x});
  run.code("enddef", ncmpi_enddef(file));
  std::vector<int> values(100, run.rank() + 1);
  const bool wrong = run.rank() == run.ranks() - 1;
  MPI_Offset start[1] = {wrong ? 100 * run.ranks() + 5 : 100 * run.rank()}, count[1] = {100};
  run.code("edge", ncmpi_put_vara_int_all(file, v, start, count, values.data()));
  start[0] = 100 * run.rank();
  run.code("mismatch", ncmpi_put_vara_all(file, w, start, count, values.data(), wrong ? 99 : 100, MPI_INT));
  MPI_Offset* starts[1] = {start};
  MPI_Offset* counts[1] = {count};
  count[0] = wrong ? 1000000 : 50;
  run.code("varn", ncmpi_put_varn_int_all(file, w, 1, starts, counts, values.data()));
  count[0] = 100;
  int request = 0;
  MPI_Datatype mixed;
  const int lengths[2] = {1, 1};
  const MPI_Aint places[2] = {0, 8};
  const MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, kinds, &mixed);
  MPI_Type_commit(&mixed);
  run.code("two types", ncmpi_iput_vara(file, v, start, count, values.data(), 50, mixed, &request));
  run.value("request", request);
  MPI_Type_free(&mixed);
  MPI_Type_dup(MPI_INT, &mixed);
  run.code("dup", ncmpi_iput_vara(file, v, start, count, values.data(), 100, mixed, &request));
  run.value("request", request);
  MPI_Type_free(&mixed);
  run.code("complex",
           ncmpi_iput_vara(file, v, start, count, values.data(), 100, MPI_C_DOUBLE_COMPLEX, &request));
  run.code("wait", ncmpi_wait_all(file, NC_REQ_ALL, nullptr, nullptr));
  close(run, file);
}

// ---- fill mode, several files, small communicators
// --------------------------------------------------------------------

void fill_mode(Run& run) {
  const int file = create(run, 1);
  int old = 0;
  run.code("set_fill", ncmpi_set_fill(file, NC_FILL, &old));
  const int t = dim(run, file, "t", NC_UNLIMITED), x = dim(run, file, "x", 30);
  const int f = var(run, file, "f", NC_FLOAT, {x}), r = var(run, file, "r", NC_SHORT, {t, x}),
            q = var(run, file, "q", NC_INT, {t});
  run.code("def fill", ncmpi_def_var_fill(file, q, 1, nullptr));
  run.code("enddef", ncmpi_enddef(file));
  for (int record = 0; record < 3; ++record) {
    run.code("fill_rec", ncmpi_fill_var_rec(file, r, record));
    const short values[30] = {1, 2, 3};
    MPI_Offset start[2] = {record, run.rank() % 30}, count[2] = {1, run.rank() < 30 ? 1 : 0};
    run.code("put", ncmpi_put_vara_short_all(file, r, start, count, values));
    log_records(run, file, t);
  }
  const float values[30] = {1.5f};
  MPI_Offset start[1] = {run.rank() % 30}, count[1] = {run.rank() < 30 ? 1 : 0};
  run.code("put", ncmpi_put_vara_float_all(file, f, start, count, values));
  put_last_elements(run, file);
  run.code("redef", ncmpi_redef(file));
  var(run, file, "late", NC_DOUBLE, {t, x});
  run.code("enddef", ncmpi_enddef(file));
  log_records(run, file, t);
  close(run, file);
}

void two_files(Run& run) {
  const std::string other = run.path() + ".second";
  const int a = create(run);
  int b = -1;
  run.code("create", ncmpi_create(run.comm(), other.c_str(), create_mode(2), MPI_INFO_NULL, &b));
  const int xa = dim(run, a, "x", 10 * run.ranks()), xb = dim(run, b, "x", 10 * run.ranks());
  const int va = var(run, a, "v", NC_INT, {xa}), vb = var(run, b, "v", NC_FLOAT, {xb});
  const int att = 3;
  run.code("att", ncmpi_put_att_int(a, va, "three", NC_INT, 1, &att));
  run.code("copy_att", ncmpi_copy_att(a, va, "three", b, vb));
  run.code("enddef", ncmpi_enddef(a));
  run.code("enddef", ncmpi_enddef(b));
  std::vector<int> values(10, run.rank());
  int ra = 0, rb = 0;
  const MPI_Offset start[1] = {10 * run.rank()}, count[1] = {10};
  run.code("iput", ncmpi_iput_vara_int(a, va, start, count, values.data(), &ra));
  run.code("iput", ncmpi_iput_vara_int(b, vb, start, count, values.data(), &rb));
  run.code("wait b", ncmpi_wait_all(b, 1, &rb, nullptr));
  run.code("wait a", ncmpi_wait_all(a, 1, &ra, nullptr));
  log_contents(run, b, vb);
  close(run, a);
  close(run, b);
  std::remove(other.c_str());
}

void mput(Run& run) {
  const int file = create(run);
  const int x = dim(run, file, "x", 10 * run.ranks());
  int v[2] = {var(run, file, "v", NC_INT, {x}), var(run, file, "w", NC_SHORT, {x})};
  run.code("enddef", ncmpi_enddef(file));
  std::vector<int> one(10, run.rank()), two(10, 70000);
  int* const bufs[2] = {one.data(), two.data()};
  MPI_Offset start[1] = {10 * run.rank()}, count[1] = {10};
  MPI_Offset* const starts[2] = {start, start};
  MPI_Offset* const counts[2] = {count, count};
  run.code("mput", ncmpi_mput_vara_int_all(file, 2, v, starts, counts, bufs));
  std::vector<int> back(10);
  int* gets[2] = {back.data(), back.data()};
  run.code("mget", ncmpi_mget_vara_int_all(file, 1, v, starts, counts, gets));
  run.value("back", back == one);
  run.code("begin", ncmpi_begin_indep_data(file));
  if (run.rank() % 2 == 0) run.code("mput", ncmpi_mput_vara_int(file, 1, v, starts, counts, bufs));
  run.code("end", ncmpi_end_indep_data(file));
  close(run, file);
}

void vard(Run& run) {
  const int file = create(run);
  const int t = dim(run, file, "t", NC_UNLIMITED), x = dim(run, file, "x", 4);
  const int v = var(run, file, "v", NC_INT, {t, x});
  run.code("enddef", ncmpi_enddef(file));
  const int values[4] = {1, 2, 3, 4};
  MPI_Offset start[2] = {5, 0}, count[2] = {run.rank() == 0 ? 1 : 0, 4};
  run.code("put", ncmpi_put_vara_int_all(file, v, start, count, values));
  log_records(run, file, t);
  run.code("vard", ncmpi_put_vard_all(file, v, MPI_INT, values, run.rank() == 0 ? 1 : 0, MPI_INT));
  log_records(run, file, t);
  // Not its put_size: PnetCDF's own driver counts that it writes the number of records once more.
  run.code("close", ncmpi_close(file));
}

// A hint of PnetCDF that changes what its own driver does below ours.
void aggregation_hint(Run& run) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nc_num_aggrs_per_node", "1");
  const int file = create(run, 5, info);
  MPI_Info_free(&info);
  const int t = dim(run, file, "t", NC_UNLIMITED), x = dim(run, file, "x", 4 * run.ranks());
  const int v = var(run, file, "v", NC_INT, {t, x});
  run.code("enddef", ncmpi_enddef(file));
  const int values[4] = {1, 2, 3, 4};
  MPI_Offset start[2] = {2, 4 * run.rank()}, count[2] = {1, 4};
  run.code("put", ncmpi_put_vara_int_all(file, v, start, count, values));
  run.code("redef", ncmpi_redef(file));
  var(run, file, "w", NC_INT, {t, x});
  run.code("enddef", ncmpi_enddef(file));
  log_records(run, file, t);
  log_contents(run, file, v);
  // Not its put_size, which is the aggregators' there.
  run.code("close", ncmpi_close(file));
}

void abort_file(Run& run) {
  const int file = create(run);
  const int t = dim(run, file, "t", NC_UNLIMITED);
  const int v = var(run, file, "v", NC_INT, {t});
  run.code("enddef", ncmpi_enddef(file));
  const int value = 4;
  MPI_Offset at[1] = {run.rank()};
  run.code("put", ncmpi_put_var1_int_all(file, v, at, &value));
  run.code("redef", ncmpi_redef(file));
  var(run, file, "w", NC_INT, {t});
  run.code("abort", ncmpi_abort(file));
  int again = -1;
  run.code("open", ncmpi_open(run.comm(), run.path().c_str(), NC_NOWRITE, MPI_INFO_NULL, &again));
  log_records(run, again, t);
  int count = 0;
  ncmpi_inq_nvars(again, &count);
  run.value("variables", count);
  run.code("close", ncmpi_close(again));
}

void large_put(Run& run) {
  const int file = create(run);
  const MPI_Offset width = 300000;  // 1.2 MB a rank: some of it passes by the windows
  const int x = dim(run, file, "x", width * run.ranks()), y = dim(run, file, "y", 3);
  const int v = var(run, file, "v", NC_FLOAT, {y, x}), w = var(run, file, "w", NC_BYTE, {x});
  run.code("enddef", ncmpi_enddef(file));
  std::vector<float> values(static_cast<std::size_t>(3 * width));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i) + static_cast<float>(run.rank()) * 0.25f;
  MPI_Offset start[2] = {0, width * run.rank()}, count[2] = {3, width};
  run.code("put", ncmpi_put_vara_float_all(file, v, start, count, values.data()));
  std::vector<signed char> bytes(static_cast<std::size_t>(width), static_cast<signed char>(run.rank() + 1));
  run.code("put", ncmpi_put_vara_schar_all(file, w, start + 1, count + 1, bytes.data()));
  close(run, file);
}

void scalars(Run& run) {
  const int file = create(run, 1);
  const int s = var(run, file, "s", NC_DOUBLE, {}), i = var(run, file, "i", NC_INT, {});
  run.code("enddef", ncmpi_enddef(file));
  const double value = 2.25;
  const int number = 17;
  int request = 0;
  run.code("put", ncmpi_put_var_double_all(file, s, &value));
  run.code("iput", ncmpi_iput_var_int(file, i, &number, &request));
  run.code("wait", ncmpi_wait_all(file, 1, &request, nullptr));
  run.code("varn", ncmpi_put_varn_double_all(file, s, 1, nullptr, nullptr, &value));
  close(run, file);
}

struct Scenario {
  std::string name;
  Program program;
};

std::vector<Scenario> scenarios() {
  std::vector<Scenario> list;
  const auto add = [&](std::string name, Program program) {
    list.push_back({std::move(name), std::move(program)});
  };
  add("shapes int", [](Run& run) { put_everything(run, 5, NC_INT); });
  add("shapes double", [](Run& run) { put_everything(run, 1, NC_DOUBLE); });
  add("shapes byte", [](Run& run) { put_everything(run, 2, NC_BYTE); });
  add("shapes text", [](Run& run) { put_everything(run, 1, NC_CHAR); });
  for (int format : {1, 2, 5})
    add("convert cdf" + std::to_string(format), [format](Run& run) { convert_everything(run, format); });
  add("text", refuse_text);
  for (int format : {1, 5})
    add("records cdf" + std::to_string(format), [format](Run& run) { grow_records(run, format); });
  if (can_switch()) add("pieces over records", pieces_over_records);
  add("waits", wait_in_all_ways);
  add("buffered", buffered_puts);
  add("many", [](Run& run) { many_requests(run, 100000 / run.ranks()); });
  add("one rank errs", one_rank_errs);
  add("fill mode", fill_mode);
  add("two files", two_files);
  add("mput", mput);
  add("vard", vard);
  add("aggregation hint", aggregation_hint);
  add("abort", abort_file);
  add("large", large_put);
  add("scalars", scalars);
  return list;
}

}  // namespace
}  // namespace forebay::test

int main(int argc, char** argv) {
  using namespace forebay::test;
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string only = argc > 1 ? argv[1] : "";
  int failed = 0;
  const auto run = [&](const std::string& name, MPI_Comm comm, const Program& program) {
    const double begin = MPI_Wtime();
    const bool same = same_on_both(name, comm, program);
    if (!same) ++failed;
    if (rank == 0)
      std::printf("%-24s %s  %.2f s\n", name.c_str(), same ? "same" : "DIFFERS", MPI_Wtime() - begin);
  };
  for (const Scenario& scenario : scenarios()) {
    if (only.empty() || only == scenario.name) run(scenario.name, MPI_COMM_WORLD, scenario.program);
  }
  if (only.empty()) {
    // On part of the ranks, and each rank by itself.
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    run("half " + std::to_string(rank % 2), half, [](Run& r) { grow_records(r, 2); });
    MPI_Comm_free(&half);
    run("self " + std::to_string(rank), MPI_COMM_SELF, [](Run& r) { put_everything(r, 5, NC_SHORT); });
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failed == 0 ? 0 : 1;
}
