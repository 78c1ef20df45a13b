// Every shape, method, type and conversion of the get path, on PnetCDF's own driver and on Forebay's.
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "calls.hpp"
#include "file_calls.hpp"
#include "gets.hpp"
#include "harness.hpp"

namespace forebay::test {
namespace {

void log_got(Run& run, const Call& call) {
  run.value(std::string("got ") + name_of(call.memory), hash_of(call.buffer.data(), call.buffer.size()));
}

// All ranks put all of a variable; `wild`: also what other types cannot hold.
void put_all_of(Run& run, int file, int variable, nc_type type, std::vector<MPI_Offset> count, bool wild) {
  Call call;
  call.variable = variable;
  call.type = type;
  call.memory = memory_of(type);
  call.start.assign(count.size(), 0);
  call.elements = 1;
  for (MPI_Offset n : count) call.elements *= n;
  if (run.rank() > 0) count[0] = 0, call.elements = 0;
  call.count = count;
  fill_buffer(call, static_cast<std::uint64_t>(variable + 77), wild);
  run.code("put", perform(file, call));
}

// ---- every shape, method and face, one type

Call get_of(Run& run, Shape shape, int variable, nc_type type, MPI_Offset rows, MPI_Offset columns) {
  Call call;
  call.shape = shape;
  call.variable = variable;
  call.type = type;
  call.memory = memory_of(type);
  const MPI_Offset first = run.rank() % (rows / 2), height = rows / 2;
  switch (shape) {
    case Shape::var1:
      call.start = {first, 3};
      call.elements = 1;
      break;
    case Shape::var:
      call.elements = rows * columns;
      break;
    case Shape::vara:
      call.start = {first, 1};
      call.count = {height, columns - 2};
      break;
    case Shape::vars:
      call.start = {first, 0};
      call.count = {height, columns / 3};
      call.stride = {1, 3};
      break;
    case Shape::varm:  // transposed
      call.start = {first, 2};
      call.count = {height, columns / 4};
      call.stride = {1, 2};
      call.imap = {1, height};
      break;
    case Shape::varn:
      for (MPI_Offset r = first + height; r-- > first;) {  // descending, ragged
        const MPI_Offset width = (r * 5) % (columns / 2);
        call.starts.push_back({r, columns / 2});
        call.counts.push_back({1, width});
        call.starts.push_back({r, r % (columns / 2)});
        call.counts.push_back({});
        call.elements += width + 1;
      }
      break;
  }
  if (!call.count.empty()) call.elements = call.count[0] * call.count[1];
  fill_buffer(call, 5, false);
  return call;
}

void get_everything(Run& run, int format, nc_type type, bool records) {
  const int file = create(run, format);
  const MPI_Offset rows = 12, columns = 24;
  const int y = dim(run, file, "y", records ? NC_UNLIMITED : rows), x = dim(run, file, "x", columns);
  // Something before and after, so that elements of 8 bytes do not lie at multiples of 8.
  const int odd = var(run, file, "odd", NC_INT, records ? std::vector{y} : std::vector<int>{});
  const int v = var(run, file, "v", type, {y, x}), w = var(run, file, "w", type, {y, x});
  run.code("enddef", ncmpi_enddef(file));
  run.expect_driver(file);
  (void)odd;
  for (int variable : {v, w}) put_all_of(run, file, variable, type, {rows, columns}, false);
  std::vector<Call> posted;
  posted.reserve(100);
  const auto perform_all = [&](Method method) {
    for (Shape shape : all_shapes) {
      for (Face face : {Face::typed, Face::flexible, Face::gaps, Face::as_variable}) {
        if (type == NC_CHAR && face == Face::gaps) continue;
        Call call = get_of(run, shape, method == Method::iget ? w : v, type, rows, columns);
        call.method = method;
        call.face = face;
        if (face == Face::gaps) fill_buffer(call, 5, false);
        posted.push_back(std::move(call));
        Call& kept = posted.back();
        run.code(std::string(name_of(shape)) + " " + name_of(method) + " " + name_of(face),
                 perform(file, kept));
        if (method == Method::iget) {  // one by one, since PnetCDF fills only one of gets that overlap
          int status = -1;
          run.code("wait", ncmpi_wait_all(file, 1, &kept.request, &status));
          run.value("status", status);
        }
        log_got(run, kept);
      }
    }
  };
  perform_all(Method::get_all);
  perform_all(Method::iget);
  run.code("begin_indep", ncmpi_begin_indep_data(file));
  perform_all(Method::get);
  run.code("end_indep", ncmpi_end_indep_data(file));
  close(run, file, !records);
}

// ---- every external type into every memory type, with values out of range

void convert_everything(Run& run, int format) {
  const int file = create(run, format);
  const MPI_Offset width = 60;
  const int x = dim(run, file, "x", width);
  std::vector<std::pair<nc_type, int>> variables;
  for (nc_type type : external_types(format))
    variables.emplace_back(type, var(run, file, name_of_type(type), type, {x}));
  run.code("enddef", ncmpi_enddef(file));
  run.expect_driver(file);
  for (const auto& [type, id] : variables) put_all_of(run, file, id, type, {width}, true);
  for (const auto& [type, id] : variables) {
    for (int memory = 0; memory < memory_types; ++memory) {
      if ((type == NC_CHAR) != (memory == text)) continue;
      for (Face face : {Face::typed, Face::flexible, Face::gaps}) {
        Call call;
        call.variable = id;
        call.type = type;
        call.memory = static_cast<Memory>(memory);
        call.face = face;
        call.method = memory % 2 == 0 ? Method::get_all : Method::iget;
        call.shape = face == Face::typed ? Shape::varn : Shape::varm;
        call.elements = width;
        if (call.shape == Shape::varn) {
          call.starts = {{width / 2}, {0}, {5}};
          call.counts = {{width / 2}, {5}, {width / 2 - 5}};
        } else {
          call.start = {0};
          call.count = {width / 2};
          call.stride = {2};
          call.imap = {face == Face::flexible ? 2 : 1};
          call.elements = width / 2;
        }
        fill_buffer(call, 3, false);
        run.code(std::string(name_of_type(type)) + " into " + name_of(call.memory), perform(file, call));
        if (call.method == Method::iget) {
          int status = -1;
          run.code("wait", ncmpi_wait_all(file, 1, &call.request, &status));
          run.value("status", status);
        }
        log_got(run, call);
      }
    }
  }
  close(run, file);
}

// Long runs, and many elements that a round or a read ends in.
void large_get(Run& run) {
  const int file = create(run);
  const MPI_Offset width = 200001;
  const int x = dim(run, file, "x", width);
  var(run, file, "odd", NC_INT, {});
  const int d = var(run, file, "d", NC_DOUBLE, {x}), i = var(run, file, "i", NC_INT64, {x});
  run.code("enddef", ncmpi_enddef(file));
  std::vector<double> values(static_cast<std::size_t>(width));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>(k) * 0.5;
  run.code("put", ncmpi_put_var_double_all(file, d, values.data()));
  run.code("put", ncmpi_put_var_double_all(file, i, values.data()));
  std::vector<float> floats(values.size());
  std::vector<int> ints(values.size());
  run.code("floats", ncmpi_get_var_float_all(file, d, floats.data()));
  run.code("ints", ncmpi_get_var_int_all(file, i, ints.data()));
  run.code("doubles", ncmpi_get_var_double_all(file, d, values.data()));
  run.value("floats", hash_of(floats.data(), floats.size() * sizeof(float)));
  run.value("ints", hash_of(ints.data(), ints.size() * sizeof(int)));
  run.value("doubles", hash_of(values.data(), values.size() * sizeof(double)));
  const MPI_Offset start[1] = {run.rank()}, stride[1] = {2}, imap[1] = {3},
                   count[1] = {(width - run.rank()) / 2 / 2};
  std::vector<short> shorts(3 * values.size(), -1);
  run.code("shorts", ncmpi_get_varm_short_all(file, d, start, count, stride, imap, shorts.data()));
  run.value("shorts", hash_of(shorts.data(), shorts.size() * sizeof(short)));
  close(run, file);
}

// ---- all of them

std::vector<Scenario> scenarios() {
  std::vector<Scenario> list;
  for (const bool records : {false, true}) {
    const std::string where = records ? " records" : " fixed";
    list.emplace_back("int" + where, [records](Run& r) { get_everything(r, 5, NC_INT, records); });
    list.emplace_back("double" + where, [records](Run& r) { get_everything(r, 1, NC_DOUBLE, records); });
    list.emplace_back("byte" + where, [records](Run& r) { get_everything(r, 2, NC_BYTE, records); });
    list.emplace_back("text" + where, [records](Run& r) { get_everything(r, 1, NC_CHAR, records); });
  }
  for (const int format : {1, 2, 5}) {
    list.emplace_back("convert cdf" + std::to_string(format),
                      [format](Run& r) { convert_everything(r, format); });
  }
  list.emplace_back("large", large_get);
  for (Scenario& scenario : get_waits()) list.push_back(std::move(scenario));
  return list;
}

}  // namespace
}  // namespace forebay::test

int main(int argc, char** argv) {
  using namespace forebay::test;
  MPI_Init(&argc, &argv);
  int rank = 0, failed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string only = argc > 1 ? argv[1] : "";
  for (const auto& [name, program] : scenarios()) {
    if (!only.empty() && only != name) continue;
    const double begin = MPI_Wtime();
    const bool same = same_on_both("gets " + name, MPI_COMM_WORLD, program);
    if (!same) ++failed;
    if (rank == 0)
      std::printf("%-24s %s  %.2f s\n", name.c_str(), same ? "same" : "DIFFERS", MPI_Wtime() - begin);
  }
  MPI_Finalize();
  return failed == 0 ? 0 : 1;
}
