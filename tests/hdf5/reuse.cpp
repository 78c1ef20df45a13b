// Space of deleted datasets that is used again at once, by other ranks than had written there, with nothing
// but the meetings that a program needs with the stock driver; some rank is always late.
#include <algorithm>
#include <chrono>
#include <thread>

#include "harness.hpp"

using namespace test;

namespace {

constexpr hsize_t kRows = 40;
constexpr hsize_t kColumns = 30;

Id created(bool chunked, int fill) {
  Id dcpl = creation();
  if (chunked) {
    const hsize_t chunk[] = {8, 10};
    H5Pset_chunk(dcpl, 2, chunk);
  }
  H5Pset_fill_time(dcpl, fill == 0 ? H5D_FILL_TIME_NEVER : H5D_FILL_TIME_ALLOC);
  if (fill > 1) H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill);
  return dcpl;
}

/// Rows first, first + step, …
Id rows(const Id& extent, hsize_t first, hsize_t step) {
  Id some(H5Scopy(extent));
  const hsize_t start[] = {first, 0};
  const hsize_t stride[] = {step, 1};
  const hsize_t count[] = {(kRows - first + step - 1) / step, kColumns};
  CHECK(H5Sselect_hyperslab(some, H5S_SELECT_SET, start, stride, count, nullptr) >= 0);
  return some;
}

void wait_if(bool late) {
  if (late) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

haddr_t place(const Id& set, bool chunked) {
  if (!chunked) return H5Dget_offset(set);
  haddr_t address = HADDR_UNDEF;
  const hsize_t origin[] = {0, 0};
  unsigned filters = 0;
  hsize_t size = 0;
  CHECK(H5Dget_chunk_info_by_coord(set, origin, &filters, &address, &size) >= 0);
  return address;
}

/// All ranks write "old" by themselves; it is deleted, and "new" takes its place.
void used_again(const Run& run, const Id& file, const std::string& name, bool chunked, int fill, int late) {
  const Id extent = space({kRows, kColumns});
  const auto ranks = static_cast<hsize_t>(run.ranks);
  const auto rank = static_cast<hsize_t>(run.rank);
  const Id independent = transfer(H5FD_MPIO_INDEPENDENT);
  Id old = dataset(file, name + ".old", H5T_NATIVE_INT, extent, created(chunked, 0));
  const haddr_t was = place(old, chunked);
  write_selected(old, rows(extent, rank, ranks), independent, 1);
  CHECK(old.reset() >= 0);
  MPI_Barrier(run.comm);

  wait_if(run.rank == late);
  CHECK(H5Ldelete(file, (name + ".old").c_str(), H5P_DEFAULT) >= 0);
  Id fresh = dataset(file, name + ".new", H5T_NATIVE_INT, extent, created(chunked, fill));
  CHECK(place(fresh, chunked) == was);
  // Half of the rows, each by the rank after the one that had written it.
  const Id half = rows(extent, 2 * rank, 2 * ranks);
  if (2 * rank < kRows) write_selected(fresh, half, independent, 2);
  if (2 * rank < kRows) check_selected(fresh, half, independent, 2);
  if (fill > 1) {
    std::vector<int> filled(kRows * kColumns, -1);
    CHECK(H5Dread(fresh, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, independent, filled.data()) >= 0);
    bool all = true;
    for (hsize_t row = 1; row < kRows; row += 2) {
      const auto* begin = filled.data() + row * kColumns;
      all = all && std::all_of(begin, begin + kColumns, [&](int v) { return v == fill; });
    }
    CHECK(all);
  }
}

}  // namespace

CASE(space_used_again) {
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  int turn = 0;
  for (const bool chunked : {false, true}) {
    for (const int fill : {0, 1, 77}) {
      for (const int late : {0, run.ranks - 1}) {
        used_again(run, file, "set" + std::to_string(turn++), chunked, fill, late);
        MPI_Barrier(run.comm);
      }
    }
  }
}

// Any rank may ask for free space by itself: that is no sign that something is freed.
CASE(free_space_asked_for_alone) {
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({kRows, kColumns});
  const Id independent = transfer(H5FD_MPIO_INDEPENDENT);
  for (int turn = 0; turn < 3; ++turn) {
    const std::string name = "set" + std::to_string(turn);
    Id set = dataset(file, name, H5T_NATIVE_INT, extent);
    write_selected(set, rows(extent, static_cast<hsize_t>(run.rank), static_cast<hsize_t>(run.ranks)),
                   independent);
    if (run.rank == turn % run.ranks) {
      CHECK(H5Fget_freespace(file) >= 0);
      H5F_info2_t info;
      CHECK(H5Fget_info2(file, &info) >= 0);
      CHECK(H5Fget_freespace(file) >= 0);
    }
    CHECK(set.reset() >= 0);
    MPI_Barrier(run.comm);
    if (turn == 1) CHECK(H5Ldelete(file, name.c_str(), H5P_DEFAULT) >= 0);
  }
}
