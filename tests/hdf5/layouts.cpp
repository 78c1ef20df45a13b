// Types, chunks, filters, several datasets in one call, and datasets that grow.
#include <algorithm>
#include <cstring>
#include <vector>

#include "harness.hpp"

using namespace test;

namespace {

void select(hid_t where, std::vector<hsize_t> start, std::vector<hsize_t> stride,
            std::vector<hsize_t> count) {
  CHECK(H5Sselect_hyperslab(where, H5S_SELECT_SET, start.data(), stride.empty() ? nullptr : stride.data(),
                            count.data(), nullptr) >= 0);
}

/// Every ranks-th column.
Id my_columns(const Run& run, const Id& extent) {
  hsize_t dims[2];
  H5Sget_simple_extent_dims(extent, dims, nullptr);
  Id mine(H5Scopy(extent));
  const auto ranks = static_cast<hsize_t>(run.ranks);
  select(mine, {0, static_cast<hsize_t>(run.rank)}, {1, ranks},
         {dims[0], (dims[1] - static_cast<hsize_t>(run.rank) + ranks - 1) / ranks});
  return mine;
}

Id chunked(hsize_t rows, hsize_t columns) {
  Id dcpl = creation();
  const hsize_t chunk[] = {rows, columns};
  CHECK(H5Pset_chunk(dcpl, 2, chunk) >= 0);
  return dcpl;
}

}  // namespace

CASE(type_conversion) {
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({64, 90});
  const Id mine = my_columns(run, extent);
  const auto n = static_cast<std::size_t>(H5Sget_select_npoints(mine));
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<double>(value_of(i, static_cast<unsigned>(run.rank))) / 3;
  const Id memory = space({n});
  const std::pair<const char*, hid_t> types[] = {{"big_int", H5T_STD_I32BE},
                                                 {"big_float", H5T_IEEE_F32BE},
                                                 {"short", H5T_STD_I16LE},
                                                 {"long", H5T_STD_I64BE},
                                                 {"double", H5T_IEEE_F64LE}};
  for (const auto& [name, type] : types) {
    const Id set = dataset(file, name, type, extent);
    CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, mine, collective(), values.data()) >= 0);
    std::vector<float> back(n);
    CHECK(H5Dread(set, H5T_NATIVE_FLOAT, memory, mine, collective(), back.data()) >= 0);
  }
  // Too small a buffer for conversion: HDF5 then turns selection I/O off.
  const Id small = collective();
  CHECK(H5Pset_buffer(small, 512, nullptr, nullptr) >= 0);
  const Id set = dataset(file, "small_buffer", H5T_STD_I32BE, extent);
  CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, mine, small, values.data()) >= 0);
}

CASE(compound_and_part_of_it) {
  struct Cell {
    int id;
    double heat;
    float speed[3];
  };
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({40, 60});
  const Id mine = my_columns(run, extent);
  const std::vector<std::uint64_t> indices = selected(mine);
  const hsize_t three[] = {3};
  const Id speed(H5Tarray_create2(H5T_NATIVE_FLOAT, 1, three));
  const Id type(H5Tcreate(H5T_COMPOUND, sizeof(Cell)));
  H5Tinsert(type, "id", HOFFSET(Cell, id), H5T_NATIVE_INT);
  H5Tinsert(type, "heat", HOFFSET(Cell, heat), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "speed", HOFFSET(Cell, speed), speed);
  const Id packed(H5Tcopy(type));
  H5Tpack(packed);
  std::vector<Cell> cells(indices.size());
  std::memset(static_cast<void*>(cells.data()), 0, cells.size() * sizeof(Cell));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].id = value_of(indices[i]);
    cells[i].heat = value_of(indices[i], 1) / 7.0;
    for (unsigned k = 0; k < 3; ++k) cells[i].speed[k] = static_cast<float>(value_of(indices[i], 2 + k));
  }
  const Id memory = space({std::max<std::size_t>(cells.size(), 1)});
  if (cells.empty()) H5Sselect_none(memory);
  const Id whole = dataset(file, "whole", packed, extent);
  CHECK(H5Dwrite(whole, type, memory, mine, collective(), cells.data()) >= 0);
  // One member: HDF5 reads, merges and writes elements.
  const Id part(H5Tcreate(H5T_COMPOUND, sizeof(double)));
  H5Tinsert(part, "heat", 0, H5T_NATIVE_DOUBLE);
  std::vector<double> heat(indices.size(), 0.5);
  CHECK(H5Dwrite(whole, part, memory, mine, collective(), heat.data()) >= 0);
  std::vector<Cell> back(indices.size());
  CHECK(H5Dread(whole, type, memory, mine, collective(), back.data()) >= 0);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < back.size(); ++i) {
    wrong +=
        back[i].id != cells[i].id || back[i].heat != 0.5 || back[i].speed[2] != cells[i].speed[2] ? 1 : 0;
  }
  CHECK(wrong == 0);
}

CASE(chunks) {
  const Id fapl = run.access();
  const Id extent = space({100, 130});
  {
    const Id file = run.create(fapl);
    const Id set = dataset(file, "chunks", H5T_NATIVE_INT, extent, chunked(16, 24));
    const Id mine = my_columns(run, extent);
    write_selected(set, mine, collective());
    check_selected(set, mine, collective());
    // Many small chunks: a list of pieces in one call.
    const Id small = dataset(file, "small", H5T_NATIVE_INT, extent, chunked(2, 3));
    write_selected(small, mine, collective(), 5);
    check_selected(small, mine, collective(), 5);
    const Id linked = collective();
    H5Pset_dxpl_mpio_chunk_opt(linked, H5FD_MPIO_CHUNK_ONE_IO);
    write_selected(small, mine, linked, 6);
  }
  const Id file = run.open(fapl);
  const Id set(H5Dopen2(file, "chunks", H5P_DEFAULT));
  Id rows(H5Scopy(extent));
  const hsize_t share = 100 / static_cast<hsize_t>(run.ranks);
  select(rows, {share * static_cast<hsize_t>(run.rank), 0}, {}, {share, 130});
  check_selected(set, rows, collective());
}

CASE(fill_then_write_at_once) {
  // The fill of new chunks is a collective vector; what follows may be an independent write of other chunks
  // at once.
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({128, 128});
  for (int round = 0; round < 4; ++round) {
    const Id dcpl = chunked(8, 128);
    const int fill = -round - 1;
    CHECK(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill) >= 0);
    CHECK(H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY) >= 0);
    const Id set = dataset(file, "set" + std::to_string(round), H5T_NATIVE_INT, extent, dcpl);
    Id mine(H5Scopy(extent));
    // Backwards, so that a rank writes first what another rank fills last.
    const hsize_t share = 128 / static_cast<hsize_t>(run.ranks);
    select(mine, {share * static_cast<hsize_t>(run.ranks - 1 - run.rank), 0}, {}, {share, 100});
    write_selected(set, mine, transfer(H5FD_MPIO_INDEPENDENT));
    check_selected(set, mine, transfer(H5FD_MPIO_INDEPENDENT));
  }
  // A contiguous dataset is filled by rank 0 alone.
  const Id dcpl = creation();
  const int fill = 77;
  H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill);
  H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC);
  const Id set = dataset(file, "flat", H5T_NATIVE_INT, extent, dcpl);
  const Id mine = my_columns(run, extent);
  write_selected(set, mine, transfer(H5FD_MPIO_INDEPENDENT));
}

CASE(filtered_chunks) {
  const Id fapl = run.access();
  const Id extent = space({90, 120});
  {
    const Id file = run.create(fapl);
    const Id dcpl = chunked(16, 16);
    CHECK(H5Pset_deflate(dcpl, 4) >= 0);
    const Id set = dataset(file, "gzip", H5T_NATIVE_INT, extent, dcpl);
    const Id mine = my_columns(run, extent);
    write_selected(set, mine, collective());
    Id rows(H5Scopy(extent));  // again, so that chunks change their size and move
    const hsize_t share = 90 / static_cast<hsize_t>(run.ranks);
    select(rows, {share * static_cast<hsize_t>(run.rank), 0}, {}, {share, 110});
    write_selected(set, rows, collective());
    check_selected(set, rows, collective());
    const Id shuffle = chunked(10, 40);
    H5Pset_shuffle(shuffle);
    H5Pset_deflate(shuffle, 1);
    H5Pset_fletcher32(shuffle);
    const Id other = dataset(file, "shuffle", H5T_NATIVE_INT, extent, shuffle);
    write_selected(other, mine, collective(), 1);
    check_selected(other, mine, collective(), 1);
  }
  const Id file = run.open(fapl, H5F_ACC_RDONLY);
  const Id set(H5Dopen2(file, "shuffle", H5P_DEFAULT));
  check_selected(set, my_columns(run, extent), collective(), 1);
}

namespace {

/// One H5Dwrite_multi over all of `sets`; then reads them with one H5Dread_multi.
void write_multi(const Run& run, std::vector<Id>& sets, const Id& extent) {
  const Id mine = my_columns(run, extent);
  const std::vector<std::uint64_t> indices = selected(mine);
  const std::size_t count = sets.size();
  const Id memory = space({std::max<std::size_t>(indices.size(), 1)});
  if (indices.empty()) H5Sselect_none(memory);
  std::vector<std::vector<int>> values(count, std::vector<int>(std::max<std::size_t>(indices.size(), 1)));
  std::vector<hid_t> ids, types, memories, files;
  std::vector<const void*> buffers;
  std::vector<void*> targets;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < indices.size(); ++i)
      values[k][i] = value_of(indices[i], static_cast<unsigned>(k));
    ids.push_back(sets[k]);
    types.push_back(H5T_NATIVE_INT);
    memories.push_back(memory);
    files.push_back(mine);
    buffers.push_back(values[k].data());
    targets.push_back(values[k].data());
  }
  const Id dxpl = collective();
  CHECK(H5Dwrite_multi(count, ids.data(), types.data(), memories.data(), files.data(), dxpl,
                       buffers.data()) >= 0);
  for (auto& v : values) std::fill(v.begin(), v.end(), -1);
  CHECK(H5Dread_multi(count, ids.data(), types.data(), memories.data(), files.data(), dxpl, targets.data()) >=
        0);
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < indices.size(); ++i)
      wrong += values[k][i] != value_of(indices[i], static_cast<unsigned>(k)) ? 1 : 0;
  }
  CHECK(wrong == 0);
}

}  // namespace

CASE(many_datasets_in_one_call) {
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({20, 70});
  std::vector<Id> sets;
  for (int k = 0; k < 40; ++k) {
    sets.push_back(dataset(file, "set" + std::to_string(k), H5T_NATIVE_INT, extent,
                           k % 3 == 2 ? chunked(6, 20) : creation()));
  }
  write_multi(run, sets, extent);
  std::reverse(sets.begin(), sets.end());  // not in the order of their addresses
  write_multi(run, sets, extent);
}

CASE(filtered_and_plain_in_one_call) {
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({20, 70});
  std::vector<Id> sets;
  for (int k = 0; k < 6; ++k) {
    const Id dcpl = chunked(5, 14);
    if (k % 2 == 0) H5Pset_deflate(dcpl, 3);
    sets.push_back(dataset(file, "set" + std::to_string(k), H5T_NATIVE_INT, extent, dcpl));
  }
  write_multi(run, sets, extent);
}

CASE(dataset_that_grows) {
  const Id fapl = run.access();
  const hsize_t width = 50;
  {
    const Id file = run.create(fapl);
    hsize_t dims[] = {1, width};
    const hsize_t most[] = {H5S_UNLIMITED, width};
    const Id extent(H5Screate_simple(2, dims, most));
    const Id set = dataset(file, "records", H5T_NATIVE_INT, extent, chunked(3, 20));
    for (hsize_t record = 0; record < 10; ++record) {
      dims[0] = record + 1;
      CHECK(H5Dset_extent(set, dims) >= 0);
      Id mine(H5Dget_space(set));
      select(mine, {record, static_cast<hsize_t>(run.rank)}, {1, static_cast<hsize_t>(run.ranks)},
             {1, width / static_cast<hsize_t>(run.ranks)});
      write_selected(set, mine, collective());
      if (record % 4 == 2) CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    }
    dims[0] = 7;  // and shrinks again
    CHECK(H5Dset_extent(set, dims) >= 0);
  }
  const Id file = run.open(fapl);
  const Id set(H5Dopen2(file, "records", H5P_DEFAULT));
  Id other(H5Dget_space(set));
  select(other, {0, static_cast<hsize_t>((run.rank + 1) % run.ranks)}, {1, static_cast<hsize_t>(run.ranks)},
         {7, width / static_cast<hsize_t>(run.ranks)});
  check_selected(set, other, transfer(H5FD_MPIO_INDEPENDENT));
}

CASE(ranks_read_the_same_together) {
  // HDF5 keeps a cut chunk in each rank's cache and writes it at some time by itself, at the latest when the
  // dataset is closed, over whatever is there by then. Before and after such writes ranks must not differ.
  if (stock_asserts) return;
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const hsize_t rows = 40, width = 60;
  hsize_t dims[] = {rows, width};
  const hsize_t most[] = {H5S_UNLIMITED, width};
  const Id extent(H5Screate_simple(2, dims, most));
  for (int round = 0; round < 5; ++round) {
    Id set = dataset(file, "cut" + std::to_string(round), H5T_NATIVE_INT, extent, chunked(7, 13));
    Id mine(H5Scopy(extent));
    select(mine, {0, static_cast<hsize_t>(run.rank)}, {1, static_cast<hsize_t>(run.ranks)},
           {rows, (width - static_cast<hsize_t>(run.rank) - 1) / static_cast<hsize_t>(run.ranks) + 1});
    write_selected(set, mine, collective());
    for (const hsize_t left : {hsize_t{37}, rows}) {
      dims[0] = left;
      CHECK(H5Dset_extent(set, dims) >= 0);
    }
    write_selected(set, mine, collective(), 1);
    std::vector<int> least(rows * width, -1);
    CHECK(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), least.data()) >= 0);
    std::vector<int> greatest(least);
    CHECK(set.reset() >= 0);
    MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT, MPI_MIN, run.comm);
    MPI_Allreduce(MPI_IN_PLACE, greatest.data(), static_cast<int>(least.size()), MPI_INT, MPI_MAX, run.comm);
    CHECK(least == greatest);
  }
}

CASE(scalar_and_empty_and_compact) {
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id scalar(H5Screate(H5S_SCALAR));
  const Id one = dataset(file, "scalar", H5T_NATIVE_INT, scalar);
  const int value = 42;
  CHECK(H5Dwrite(one, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), &value) >= 0);
  int back = 0;
  CHECK(H5Dread(one, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), &back) >= 0);
  CHECK(back == value);
  const Id null(H5Screate(H5S_NULL));
  const Id none = dataset(file, "null", H5T_NATIVE_INT, null);
  CHECK(H5Dwrite(none, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), &value) >= 0);
  const Id zero = dataset(file, "zero", H5T_NATIVE_INT, space({0, 5}));
  CHECK(H5Dwrite(zero, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), &value) >= 0);
  const Id compact = creation();
  H5Pset_layout(compact, H5D_COMPACT);
  const Id small = dataset(file, "compact", H5T_NATIVE_INT, space({8}), compact);
  const int same[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(H5Dwrite(small, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), same) >= 0);
}

CASE(several_mebibytes) {
  // Long runs that pass by the windows, and short ones over several stripes.
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const auto ranks = static_cast<hsize_t>(run.ranks);
  const hsize_t longer = 270'000;
  const Id long_extent = space({longer * ranks});
  const Id blocks = dataset(file, "blocks", H5T_NATIVE_INT, long_extent);
  Id mine(H5Scopy(long_extent));
  select(mine, {longer * static_cast<hsize_t>(run.rank)}, {}, {longer});
  write_selected(blocks, mine, collective());
  const hsize_t rows = 500 * ranks;
  const Id extent = space({rows, 1100});
  const Id cyclic = dataset(file, "cyclic", H5T_NATIVE_INT, extent);
  mine = Id(H5Scopy(extent));
  select(mine, {static_cast<hsize_t>(run.rank), 0}, {ranks, 1}, {500, 1100});
  write_selected(cyclic, mine, collective());
  check_selected(cyclic, mine, collective());
  check_selected(blocks, long_extent, collective());
}
