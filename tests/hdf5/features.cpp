// What HDF5 does besides transfers: filters, links by the thousand, copies, handles, atomic mode in the
// middle, files on several communicators, and answers to questions about the file.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "errors_of.hpp"
#include "harness.hpp"

using namespace test;

namespace {

Id rows_of(const Run& run, const Id& extent, int rank) {
  hsize_t dims[2];
  H5Sget_simple_extent_dims(extent, dims, nullptr);
  Id mine(H5Scopy(extent));
  const hsize_t share = dims[0] / static_cast<hsize_t>(run.ranks);
  const hsize_t start[] = {share * static_cast<hsize_t>(rank), 0};
  const hsize_t count[] = {share, dims[1]};
  CHECK(H5Sselect_hyperslab(mine, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0);
  return mine;
}

Id next_rows(const Run& run, const Id& extent) {
  return rows_of(run, extent, (run.rank + 1) % run.ranks);
}

Id columns_of(const Run& run, const Id& extent) {
  hsize_t dims[2];
  H5Sget_simple_extent_dims(extent, dims, nullptr);
  Id mine(H5Scopy(extent));
  const auto ranks = static_cast<hsize_t>(run.ranks), rank = static_cast<hsize_t>(run.rank);
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

Id independent() {
  return transfer(H5FD_MPIO_INDEPENDENT);
}

}  // namespace

// With the stock driver bytes between the chunks differ from run to run.
CASE_OF_DATASETS(filters_one_by_one_and_together) {
  const Id fapl = run.access();
  const Id extent = space({84, 96});
  unsigned szip = 0;
  const bool has_szip = H5Zfilter_avail(H5Z_FILTER_SZIP) > 0 &&
                        H5Zget_filter_info(H5Z_FILTER_SZIP, &szip) >= 0 &&
                        (szip & H5Z_FILTER_CONFIG_ENCODE_ENABLED) != 0;
  const Id file = run.create(fapl);
  for (int k = 0; k < 6; ++k) {
    if (k == 0 && !has_szip) continue;
    const Id dcpl = chunked(12, 16);
    if (k == 0) CHECK(H5Pset_szip(dcpl, H5_SZIP_NN_OPTION_MASK, 8) >= 0);
    if (k == 1 || k == 4) CHECK(H5Pset_shuffle(dcpl) >= 0);
    if (k == 2 || k == 4) CHECK(H5Pset_deflate(dcpl, 5) >= 0);
    if (k == 3 || k == 4) CHECK(H5Pset_fletcher32(dcpl) >= 0);
    if (k == 5) CHECK(H5Pset_scaleoffset(dcpl, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT) >= 0);
    if (k % 2 == 1) CHECK(H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY) >= 0);
    const int fill = 5;
    CHECK(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill) >= 0);
    const Id set = dataset(file, "set" + std::to_string(k), H5T_NATIVE_INT, extent, dcpl);
    const auto salt = static_cast<unsigned>(k);
    write_selected(set, rows_of(run, extent, run.rank), collective(), salt);
    check_selected(set, next_rows(run, extent), collective(), salt);
    write_selected(set, columns_of(run, extent), collective(), salt + 50);
    check_selected(set, next_rows(run, extent), collective(), salt + 50);
  }
}

namespace {

void many_links_and_attributes(const Run& run, const Id& fapl, int links, int attributes) {
  const Id fcpl(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_obj_track_times(fcpl, false);  // the root group's header holds times in newer formats
  const Id file = run.create(fapl, fcpl);
  const Id gcpl(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_obj_track_times(gcpl, false);
  const Id group(H5Gcreate2(file, "many", H5P_DEFAULT, gcpl, H5P_DEFAULT));
  const Id target(H5Gcreate2(file, "target", H5P_DEFAULT, gcpl, H5P_DEFAULT));
  const Id scalar(H5Screate(H5S_SCALAR));
  for (int i = 0; i < links; ++i) {
    const std::string name = "link" + std::to_string(i * 7919 % links);
    const herr_t made =
        i % 3 == 0 ? H5Lcreate_soft("/target", group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT)
        : i % 3 == 1
            ? H5Lcreate_hard(target, ".", group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT)
            : H5Lcreate_external("elsewhere.h5", "/x", group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    CHECK(made >= 0);
  }
  for (int i = 0; i < attributes; ++i) {
    const Id attribute(H5Acreate2(target, ("attribute" + std::to_string(i)).c_str(), H5T_NATIVE_INT, scalar,
                                  H5P_DEFAULT, H5P_DEFAULT));
    CHECK(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT, &i) >= 0);
  }
  CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  for (int i = 0; i < links; i += 2)
    CHECK(H5Ldelete(group, ("link" + std::to_string(i)).c_str(), H5P_DEFAULT) >= 0);
  for (int i = 0; i < attributes; i += 3)
    CHECK(H5Adelete(target, ("attribute" + std::to_string(i)).c_str()) >= 0);
  CHECK(H5Lmove(file, "many", file, "fewer", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  H5G_info_t info;
  CHECK(H5Gget_info(group, &info) >= 0 && info.nlinks == static_cast<hsize_t>(links / 2));
}

}  // namespace

CASE(links_and_attributes_by_the_thousand) {
  const Id fapl = run.access();
  CHECK(H5Pset_libver_bounds(fapl, H5F_LIBVER_V18, H5F_LIBVER_LATEST) >= 0);
  many_links_and_attributes(run, fapl, 1500, 1000);
}

// What is left in free space differs from run to run with the stock driver.
CASE_OF_DATASETS(links_and_attributes_with_collective_metadata) {
  // Fewer: the stock library takes seconds for a thousand.
  const Id fapl = run.access();
  CHECK(H5Pset_coll_metadata_write(fapl, true) >= 0);
  CHECK(H5Pset_all_coll_metadata_ops(fapl, true) >= 0);
  many_links_and_attributes(run, fapl, 200, 100);
}

CASE(atomic_mode_in_the_middle) {
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({84, 12});
  const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
  const Id mine = rows_of(run, extent, run.rank);
  for (unsigned pass = 0; pass < 3; ++pass) {
    write_selected(set, mine, independent(), 10 * pass);  // kept, in commit mode
    CHECK(H5Fset_mpi_atomicity(file, true) >= 0);
    MPI_Barrier(run.comm);
    check_selected(set, next_rows(run, extent), independent(), 10 * pass);
    MPI_Barrier(run.comm);
    write_selected(set, mine, independent(), 10 * pass + 1);
    MPI_Barrier(run.comm);
    check_selected(set, next_rows(run, extent), pass == 1 ? collective() : independent(), 10 * pass + 1);
    MPI_Barrier(run.comm);
    write_selected(set, columns_of(run, extent), collective(), 10 * pass + 2);
    CHECK(H5Fset_mpi_atomicity(file, false) >= 0);
    write_selected(set, next_rows(run, extent), collective(), 10 * pass + 3);
  }
}

// No flush comes between: what all wrote together one rank may read, or write over, by itself.
CASE_OF_DATASETS(alone_after_together) {
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({84, 1200});
  for (int k = 0; k < 2; ++k) {
    hsize_t most[] = {H5S_UNLIMITED, 1200};
    const hsize_t dims[] = {84, 1200};
    const Id growing(H5Screate_simple(2, dims, most));
    const Id dcpl = k == 0 ? creation() : chunked(12, 100);
    const int fill = 5;
    CHECK(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill) >= 0);
    CHECK(H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC) >= 0);
    Id set = dataset(file, "set" + std::to_string(k), H5T_NATIVE_INT, k == 0 ? extent : growing, dcpl);
    for (unsigned pass = 0; pass < 3; ++pass) {
      const unsigned salt = 10 * pass + static_cast<unsigned>(k);
      write_selected(set, columns_of(run, extent), collective(), salt);
      check_selected(set, next_rows(run, extent), independent(), salt);
      MPI_Barrier(run.comm);
      write_selected(set, next_rows(run, extent), collective(), salt + 1);
      write_selected(set, rows_of(run, extent, run.rank), independent(), salt + 2);
      check_selected(set, rows_of(run, extent, run.rank), independent(), salt + 2);
      CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
      MPI_Barrier(run.comm);
      check_selected(set, next_rows(run, extent), independent(), salt + 2);
      MPI_Barrier(run.comm);
    }
    if (k == 0) continue;
    // Ranks read, fill and write what is cut, each some chunks.
    write_selected(set, columns_of(run, extent), collective(), 77);
    const hsize_t less[] = {49, 1200};
    CHECK(H5Dset_extent(set, less) >= 0);
    CHECK(H5Dset_extent(set, dims) >= 0);
    // HDF5 2 asserts that it holds none of the chunks that it reads together.
    set = Id();
    set = Id(H5Dopen2(file, "set1", H5P_DEFAULT));
    Id rest(H5Scopy(extent));
    const hsize_t start[] = {0, 0};
    CHECK(H5Sselect_hyperslab(rest, H5S_SELECT_SET, start, nullptr, less, nullptr) >= 0);
    check_selected(set, rest, collective(), 77);
    MPI_Barrier(run.comm);
  }
}

CASE(writes_by_the_handle) {
  // A program that writes by the MPI_File goes past what is kept, both before and after it.
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({28, 16});
  const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
  const Id mine = rows_of(run, extent, run.rank);
  const std::vector<std::uint64_t> indices = selected(mine);
  const haddr_t at = H5Dget_offset(set);
  for (unsigned pass = 0; pass < 3; ++pass) {
    write_selected(set, mine, pass == 1 ? collective() : independent(), 10 * pass);
    void* handle = nullptr;
    if (!CHECK(H5Fget_vfd_handle(file, fapl, &handle) >= 0 && handle != nullptr)) return;
    std::vector<int> half(indices.size() / 2);
    for (std::size_t i = 0; i < half.size(); ++i) half[i] = value_of(indices[i], 10 * pass + 1);
    CHECK(MPI_File_write_at(*static_cast<MPI_File*>(handle),
                            static_cast<MPI_Offset>(at + indices[0] * sizeof(int)), half.data(),
                            static_cast<int>(half.size()), MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    MPI_Barrier(run.comm);
    const std::vector<std::uint64_t> others = selected(next_rows(run, extent));
    std::vector<int> got(others.size(), -1);
    const Id memory = space({others.size()});
    CHECK(H5Dread(set, H5T_NATIVE_INT, memory, next_rows(run, extent), independent(), got.data()) >= 0);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < others.size(); ++i)
      wrong += got[i] != value_of(others[i], i < others.size() / 2 ? 10 * pass + 1 : 10 * pass) ? 1 : 0;
    CHECK(wrong == 0);
    MPI_Barrier(run.comm);
  }
}

CASE(objects_copied) {
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const std::string name = run.path + ".other";
  const Id extent = space({28, 30});
  {
    const Id other(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    CHECK(other >= 0);
    const Id gcpl(H5Pcreate(H5P_GROUP_CREATE));
    H5Pset_obj_track_times(gcpl, false);
    const Id group(H5Gcreate2(other, "group", H5P_DEFAULT, gcpl, H5P_DEFAULT));
    for (unsigned k = 0; k < 3; ++k) {
      const Id dcpl = k == 0 ? creation() : chunked(5, 7);
      if (k == 2) CHECK(H5Pset_deflate(dcpl, 2) >= 0);
      const Id set = dataset(group, "set" + std::to_string(k), H5T_NATIVE_INT, extent, dcpl);
      write_selected(set, rows_of(run, extent, run.rank), k == 1 ? independent() : collective(), k);
    }
    // Only a flush lets one rank read with certainty what another one wrote; the copy is made by all of them.
    CHECK(H5Fflush(other, H5F_SCOPE_GLOBAL) >= 0);
    CHECK(H5Ocopy(other, "group", file, "copied", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    CHECK(H5Ocopy(file, "copied/set1", file, "again", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    CHECK(H5Ocopy(file, "copied", other, "back", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    // The copies are datasets like others.
    MPI_Barrier(run.comm);
    const Id again(H5Dopen2(file, "again", H5P_DEFAULT));
    check_selected(again, next_rows(run, extent), collective(), 1);
    MPI_Barrier(run.comm);
    write_selected(again, rows_of(run, extent, run.rank), independent(), 9);
    const Id back(H5Dopen2(other, "back/set2", H5P_DEFAULT));
    check_selected(back, next_rows(run, extent), collective(), 2);
    write_selected(back, columns_of(run, extent), collective(), 8);
    check_selected(back, next_rows(run, extent), collective(), 8);
  }
  CHECK(H5Fdelete(name.c_str(), fapl) >= 0);
}

CASE(files_on_several_communicators) {
  // One on all ranks, one on each half, one on each rank, all open at once and written in turns.
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(run.comm, run.rank % 2, run.rank, &half);
  Run halves = run, alone = run;
  halves.comm = half;
  MPI_Comm_rank(half, &halves.rank);
  MPI_Comm_size(half, &halves.ranks);
  halves.path += ".half" + std::to_string(run.rank % 2);
  alone.comm = MPI_COMM_SELF;
  alone.rank = 0;
  alone.ranks = 1;
  alone.path += ".rank" + std::to_string(run.rank);
  const Id extent = space({28, 24});
  {
    const Id a = run.create(run.access()), b = halves.create(halves.access()),
             c = alone.create(alone.access());
    for (unsigned k = 0; k < 3; ++k) {
      const std::string name = "set" + std::to_string(k);
      const Id in_a = dataset(a, name, H5T_NATIVE_INT, extent),
               in_b = dataset(b, name, H5T_NATIVE_INT, extent),
               in_c = dataset(c, name, H5T_NATIVE_INT, extent, chunked(4, 9));
      write_selected(in_b, columns_of(halves, extent), collective(), k);
      write_selected(in_a, rows_of(run, extent, run.rank), independent(), k + 10);
      for (int times = 0; times <= run.rank; ++times) write_selected(in_c, extent, collective(), k + 20);
      write_selected(in_a, columns_of(run, extent), collective(), k + 30);
      write_selected(in_b, rows_of(halves, extent, halves.rank), independent(), k + 40);
      check_selected(in_c, extent, independent(), k + 20);
      if (k == 1) CHECK(H5Fflush(b, H5F_SCOPE_GLOBAL) >= 0);
    }
  }
  for (const Run* one : {static_cast<const Run*>(&halves), static_cast<const Run*>(&alone)}) {
    const Id fapl = one->access();
    {
      const Id file = one->open(fapl, H5F_ACC_RDONLY);
      for (unsigned k = 0; k < 3; ++k) {
        const Id set(H5Dopen2(file, ("set" + std::to_string(k)).c_str(), H5P_DEFAULT));
        const bool of_half = one == &halves;
        if (of_half) check_selected(set, next_rows(*one, extent), collective(), k + 40);
        if (!of_half) check_selected(set, extent, collective(), k + 20);
      }
    }
    CHECK(H5Fdelete(one->path.c_str(), fapl) >= 0);
  }
  MPI_Comm_free(&half);
}

CASE(individual_transfers_within_collective_calls) {
  // SCORPIO's way. The ranks select different numbers of pieces, in chunks of each other, and some nothing.
  const Id fapl = run.access();
  const Id file = run.create(fapl);
  const Id extent = space({35, 26});
  for (unsigned k = 0; k < 4; ++k) {
    const Id dxpl = collective();
    CHECK(H5Pset_dxpl_mpio_collective_opt(dxpl, H5FD_MPIO_INDIVIDUAL_IO) >= 0);
    if (k == 2) CHECK(H5Pset_dxpl_mpio_chunk_opt(dxpl, H5FD_MPIO_CHUNK_MULTI_IO) >= 0);
    if (k == 3) CHECK(H5Pset_selection_io(dxpl, H5D_SELECTION_IO_MODE_OFF) >= 0);
    const Id set = dataset(file, "set" + std::to_string(k), H5T_NATIVE_INT, extent,
                           k % 2 == 0 ? creation() : chunked(4, 5));
    write_selected(set, columns_of(run, extent), dxpl, k);
    MPI_Barrier(run.comm);
    check_selected(set, extent, dxpl, k);
    MPI_Barrier(run.comm);
    Id some(H5Scopy(extent));
    H5Sselect_none(some);
    for (int row = run.rank; run.rank != 1 && row < 35; row += 3 * run.ranks) {
      const hsize_t start[] = {static_cast<hsize_t>(row), 0}, stride[] = {1, 3}, count[] = {1, 8};
      CHECK(H5Sselect_hyperslab(some, H5S_SELECT_OR, start, stride, count, nullptr) >= 0);
    }
    write_selected(set, some, dxpl, k + 10);
    MPI_Barrier(run.comm);
    check_selected(set, some, independent(), k + 10);
  }
}

namespace {

/// What HDF5 answers to what a parallel file may or may not do; the first run of a case is the stock
/// driver's.
class Answers {
 public:
  explicit Answers(const Run& run) : run_(run) {}
  void add(const char* question, long long answer) {
    static std::map<std::string, long long> stock;
    if (!run_.forebay) {
      stock[question] = answer;
    } else if (!CHECK(stock.at(question) == answer)) {
      std::fprintf(stderr, "  %s: stock %lld, Forebay %lld\n", question, stock.at(question), answer);
    }
  }
  template <class F>
  void outcome(const char* question, F&& f) {
    long long result = 0;
    errors_of([&] { result = f() < 0 ? -1 : 0; });
    add(question, result);
  }

 private:
  const Run& run_;
};

}  // namespace

CASE(answers_about_the_file) {
  // Not H5Fstart_swmr_write: it is refused for both drivers, and leaves the library with a file it cannot
  // flush.
  const Id fapl = run.access();
  Answers answers(run);
  {
    const Id list(H5Pcopy(fapl));
    hid_t file = H5I_INVALID_HID;
    answers.outcome("create for many readers and one writer", [&] {
      return file = H5Fcreate(run.path.c_str(), H5F_ACC_TRUNC | H5F_ACC_SWMR_WRITE, H5P_DEFAULT, list);
    });
    if (file >= 0) H5Fclose(file);
    CHECK(H5Pset_page_buffer_size(list, 1 << 16, 0, 0) >= 0);
    answers.outcome("create with a page buffer",
                    [&] { return file = H5Fcreate(run.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list); });
    if (file >= 0) H5Fclose(file);
  }
  const Id latest(H5Pcopy(fapl));
  CHECK(H5Pset_libver_bounds(latest, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
  const Id fcpl(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_obj_track_times(fcpl, false);
  const Id file = run.create(latest, fcpl);
  const Id extent = space({14, 10});
  {
    const Id set = dataset(file, "data", H5T_NATIVE_INT, extent, chunked(3, 4));
    write_selected(set, rows_of(run, extent, run.rank), collective());
  }
  CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  hsize_t bytes = 0;
  answers.outcome("size", [&] { return H5Fget_filesize(file, &bytes); });
  answers.add("bytes", static_cast<long long>(bytes));
  answers.add("free", H5Fget_freespace(file));
  haddr_t end = 0;
  answers.outcome("end of addresses", [&] { return H5Fget_eoa(file, &end); });
  answers.add("address", static_cast<long long>(end));
  unsigned intent = 0;
  answers.outcome("intent", [&] { return H5Fget_intent(file, &intent); });
  answers.add("flags", intent);
  answers.add("image", H5Fget_file_image(file, nullptr, 0) < 0 ? -1 : 0);
  answers.outcome("increment", [&] { return H5Fincrement_filesize(file, 512); });
  H5F_info2_t info;
  answers.outcome("info", [&] { return H5Fget_info2(file, &info); });
  answers.add("superblock", info.super.version);
  answers.add("objects", H5Fget_obj_count(file, H5F_OBJ_ALL));
  Id again(H5Freopen(file));
  CHECK(again >= 0);
  {
    const Id set(H5Dopen2(again, "data", H5P_DEFAULT));
    check_selected(set, next_rows(run, extent), collective());
  }
  CHECK(again.reset() >= 0);
  hid_t second = H5I_INVALID_HID;
  answers.outcome("open twice", [&] { return second = H5Fopen(run.path.c_str(), H5F_ACC_RDWR, latest); });
  if (second >= 0) H5Fclose(second);
  answers.add("accessible", H5Fis_accessible(run.path.c_str(), fapl));
}
