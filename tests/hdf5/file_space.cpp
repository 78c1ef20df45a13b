// Where HDF5 puts things in the file: pages, free space that is kept and used again, user block, alignment,
// and datasets that grow and shrink.
#include <string>
#include <vector>

#include "harness.hpp"

using namespace test;

namespace {

struct Plan {
  H5F_fspace_strategy_t strategy;
  bool persist;
  hsize_t page;        ///< 0: HDF5's
  hsize_t user_block;  ///< 0: none
  hsize_t alignment;   ///< 0: none
  bool latest;
};

Id all_columns(const Run& run, const Id& extent) {
  hsize_t dims[2];
  H5Sget_simple_extent_dims(extent, dims, nullptr);
  Id mine(H5Scopy(extent));
  const auto ranks = static_cast<hsize_t>(run.ranks), rank = static_cast<hsize_t>(run.rank);
  if (rank >= dims[1]) {
    H5Sselect_none(mine);
    return mine;
  }
  const hsize_t start[] = {0, rank}, stride[] = {1, ranks},
                count[] = {dims[0], (dims[1] - rank - 1) / ranks + 1};
  CHECK(H5Sselect_hyperslab(mine, H5S_SELECT_SET, start, stride, count, nullptr) >= 0);
  return mine;
}

Id chunked(hsize_t rows, hsize_t columns) {
  Id dcpl = creation();
  const hsize_t chunk[] = {rows, columns};
  CHECK(H5Pset_chunk(dcpl, 2, chunk) >= 0);
  return dcpl;
}

/// Datasets of several kinds and sizes, some of them deleted again, over several openings of the file.
void live_in(const Run& run, const Plan& plan) {
  if (stock_asserts && plan.persist) return;
  const Id fapl = run.access();
  if (plan.latest) CHECK(H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
  if (plan.alignment > 0) CHECK(H5Pset_alignment(fapl, 500, plan.alignment) >= 0);
  const Id fcpl(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_obj_track_times(fcpl, false);
  CHECK(H5Pset_file_space_strategy(fcpl, plan.strategy, plan.persist, 1) >= 0);
  if (plan.page > 0) CHECK(H5Pset_file_space_page_size(fcpl, plan.page) >= 0);
  if (plan.user_block > 0) CHECK(H5Pset_userblock(fcpl, plan.user_block) >= 0);
  const Id small = space({9, 11}), large = space({60, 70});
  for (unsigned pass = 0; pass < 3; ++pass) {
    const Id file = pass == 0 ? run.create(fapl, fcpl) : run.open(fapl);
    for (unsigned k = 0; k < 6; ++k) {
      const Id& extent = k % 2 == 0 ? small : large;
      Id dcpl = k < 2 ? creation() : chunked(5, 8);
      if (k == 4) CHECK(H5Pset_deflate(dcpl, 3) >= 0);
      const Id set =
          dataset(file, "set" + std::to_string(pass) + std::to_string(k), H5T_NATIVE_INT, extent, dcpl);
      write_selected(set, all_columns(run, extent), k == 3 ? transfer(H5FD_MPIO_INDEPENDENT) : collective(),
                     k);
    }
    if (pass == 1) CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    for (unsigned k = 1; pass > 0 && k < 6; k += 2) {
      CHECK(H5Ldelete(file, ("set" + std::to_string(pass - 1) + std::to_string(k)).c_str(), H5P_DEFAULT) >=
            0);
    }
    // Into the space that has become free.
    const Id set = dataset(file, "again" + std::to_string(pass), H5T_NATIVE_INT, large);
    write_selected(set, all_columns(run, large), transfer(H5FD_MPIO_INDEPENDENT), 77);
    MPI_Barrier(run.comm);
    check_selected(set, large, collective(), 77);
  }
  const Id file = run.open(fapl, H5F_ACC_RDONLY);
  const Id set(H5Dopen2(file, "set24", H5P_DEFAULT));
  check_selected(set, small, collective(), 4);
}

}  // namespace

// What lies in pages beside the datasets, and in the times of what HDF5 adds to the superblock, differs from
// run to run with the stock driver, too.
CASE_OF_DATASETS(pages) {
  live_in(run, {H5F_FSPACE_STRATEGY_PAGE, false, 1024, 0, 0, true});
}

CASE_OF_DATASETS(pages_with_free_space_that_is_kept) {
  live_in(run, {H5F_FSPACE_STRATEGY_PAGE, true, 4096, 0, 0, true});
}

CASE_OF_DATASETS(pages_behind_a_user_block) {
  live_in(run, {H5F_FSPACE_STRATEGY_PAGE, false, 2048, 4096, 0, false});
}

CASE_OF_DATASETS(free_space_that_is_kept) {
  live_in(run, {H5F_FSPACE_STRATEGY_FSM_AGGR, true, 0, 0, 0, true});
}

CASE_OF_DATASETS(free_space_that_is_forgotten) {
  live_in(run, {H5F_FSPACE_STRATEGY_NONE, false, 0, 0, 0, false});
}

CASE(aligned_behind_a_user_block) {
  live_in(run, {H5F_FSPACE_STRATEGY_FSM_AGGR, false, 0, 2048, 1024, false});
}

CASE(grown_and_shrunk_both_ways) {
  // Not compressed: there the stock library fails, and hangs.
  if (stock_asserts) return;
  const Id fapl = run.access();
  const hsize_t sizes[][2] = {{5, 7}, {23, 7}, {23, 31}, {4, 31}, {40, 3}, {0, 10}, {17, 19}};
  for (const bool again : {false, true}) {
    const Id file = again ? run.open(fapl) : run.create(fapl);
    for (unsigned k = 0; k < 3; ++k) {
      hsize_t dims[] = {5, 7};
      const hsize_t most[] = {H5S_UNLIMITED, H5S_UNLIMITED};
      const Id first(H5Screate_simple(2, dims, most));
      const Id dcpl = chunked(4, 6);
      const int fill = static_cast<int>(k) - 9;
      CHECK(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill) >= 0);
      if (k == 1) CHECK(H5Pset_fill_time(dcpl, H5D_FILL_TIME_IFSET) >= 0);
      if (k == 2) CHECK(H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY) >= 0);
      const std::string name = "set" + std::to_string(k);
      const Id set = again ? Id(H5Dopen2(file, name.c_str(), H5P_DEFAULT))
                           : dataset(file, name, H5T_NATIVE_INT, first, dcpl);
      CHECK(set >= 0);
      unsigned salt = again ? 100 : 0;
      for (const auto& size : sizes) {
        CHECK(H5Dset_extent(set, size) >= 0);
        // Each rank has cut chunks in its cache now, and may write them at any time until it is flushed.
        CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
        const Id extent(H5Dget_space(set));
        write_selected(set, all_columns(run, extent), collective(), ++salt);
        if (salt % 3 == 0) CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
        MPI_Barrier(run.comm);
        if (size[0] > 0) check_selected(set, extent, collective(), salt);
      }
    }
  }
}
