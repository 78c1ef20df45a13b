// A parallel program that writes and reads in ways that reports must tell apart, one a file; then rank 0
// checks its own report, where one was asked for.
//
// usage: reporting CASE REPORT [TIMELINE NODES]. CASE: "served" (by Forebay), or "stock" (neither library by
// it).
#include <hdf5.h>
#include <mpi.h>
#include <pnetcdf.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../base/schema.hpp"
#include "trace_events.hpp"

namespace {

using nlohmann::json;

int rank = 0, ranks = 1;
int failures = 0;

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "rank %d, line %d: not so: %s\n", rank, __LINE__, #condition); \
      ++failures;                                                                         \
    }                                                                                     \
  } while (0)

constexpr MPI_Offset each = 1000;  // values a rank

// ---- PnetCDF ----

void pnetcdf_file(const std::string& path, bool independent, int steps) {
  int file = 0, dim = 0, var = 0;
  CHECK(ncmpi_create(MPI_COMM_WORLD, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file) ==
        NC_NOERR);
  CHECK(ncmpi_def_dim(file, "n", each * ranks * steps, &dim) == NC_NOERR);
  CHECK(ncmpi_def_var(file, "a", NC_INT, 1, &dim, &var) == NC_NOERR);
  CHECK(ncmpi_enddef(file) == NC_NOERR);
  if (independent) CHECK(ncmpi_begin_indep_data(file) == NC_NOERR);
  const std::vector<int> values(each, rank);
  for (int step = 0; step < steps; ++step) {
    const MPI_Offset start = (step * ranks + rank) * each, count = each;
    CHECK((independent ? ncmpi_put_vara_int(file, var, &start, &count, values.data())
                       : ncmpi_put_vara_int_all(file, var, &start, &count, values.data())) == NC_NOERR);
  }
  CHECK(ncmpi_close(file) == NC_NOERR);
}

// ---- HDF5 ----

hid_t parallel_access() {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  CHECK(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  return access;
}

hid_t dataset_in(hid_t file, const char* name, bool chunked, hid_t space) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const int fill = 7;
  H5Pset_fill_value(creation, H5T_NATIVE_INT, &fill);
  const hsize_t chunk = each;
  if (chunked) H5Pset_chunk(creation, 1, &chunk);
  const hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  CHECK(dataset >= 0);
  H5Pclose(creation);
  return dataset;
}

/// Two datasets with fill values; the first is written collectively, then by a transfer that HDF5 breaks,
/// then independently.
void hdf5_file(const std::string& path) {
  const hid_t access = parallel_access();
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  CHECK(file >= 0);
  const hsize_t all = each * ranks, mine = each, first = rank * each;
  const hid_t space = H5Screate_simple(1, &all, nullptr), memory = H5Screate_simple(1, &mine, nullptr);
  const hid_t plain = dataset_in(file, "plain", false, space);
  const hid_t chunked = dataset_in(file, "chunked", true, space);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &mine, nullptr);
  const std::vector<int> values(each, rank);
  const std::vector<double> others(each, rank);
  const hid_t together = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  CHECK(H5Dwrite(plain, H5T_NATIVE_INT, memory, space, together, values.data()) >= 0);
  H5Pset_buffer(together, each * 4, nullptr, nullptr);  // too small to convert all at once
  CHECK(H5Dwrite(plain, H5T_NATIVE_DOUBLE, memory, space, together, others.data()) >= 0);
  CHECK(H5Dwrite(chunked, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values.data()) >= 0);
  H5Pclose(together);
  for (const hid_t dataset : {plain, chunked}) H5Dclose(dataset);
  for (const hid_t s : {space, memory}) H5Sclose(s);
  H5Fclose(file);
  H5Pclose(access);
}

void open_again(const std::string& path) {
  const hid_t access = parallel_access();
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  CHECK(file >= 0);
  H5Fclose(file);
  H5Pclose(access);
}

// ---- the report ----

json file_in(const json& report, const std::string& name) {
  const std::string path = std::filesystem::absolute(name).string();
  json found;
  for (const json& file : report["files"]) {
    if (file["path"] != path) continue;
    CHECK(found.is_null());  // one entry a file
    found = file;
  }
  CHECK(!found.is_null());
  return found.is_null() ? report["files"][0] : found;
}

bool has_note(const json& file, const std::string& text) {
  for (const json& note : file["notes"]) {
    if (note.get<std::string>().find(text) != std::string::npos) return true;
  }
  std::fprintf(stderr, "the notes are %s\n", file["notes"].dump(2).c_str());
  return false;
}

void check_served(const json& report) {
  const std::int64_t bytes = each * ranks * 4;
  const json collective = file_in(report, "collective.nc");
  CHECK(collective["active"] == true);
  CHECK(collective["bytes"] == 2 * bytes);
  CHECK(collective["independent_writes"] == 0);
  CHECK(collective["stock"]["puts"] == 0);

  // Whoever serves them, they are counted once.
  const json alone = file_in(report, "independent.nc");
  CHECK(alone["bytes"].get<std::int64_t>() + alone["stock"]["put_bytes"].get<std::int64_t>() == 3 * bytes);
  CHECK(alone["independent_writes"].get<int>() + alone["stock"]["puts"].get<int>() == 3 * ranks);
  if (alone["stock"]["puts"] != 0) {
    CHECK(has_note(alone, "PnetCDF's own driver"));
    CHECK(has_note(alone, "--mode commit"));
  }

  const json hdf5 = file_in(report, "data.h5");
  CHECK(hdf5["opens"] == 2);
  CHECK(hdf5["bytes"] == 3 * bytes);  // two transfers of ints, and one that was converted to ints
  CHECK(hdf5["library_writes"]["fill_bytes"] == 2 * bytes);
  CHECK(hdf5["library_writes"]["metadata"] > 0);
  CHECK(hdf5["collective_flushes"] == 1);
  const std::int64_t broken = hdf5["broken_collectives"]["writes"];
  if (ranks > 1) {
    CHECK(broken >= ranks);
    CHECK(hdf5["independent_writes"] == broken + ranks);
    CHECK(has_note(hdf5, "conversion buffer is too small"));
  }
  CHECK(report["totals"]["files"] == 3);
  CHECK(report["totals"]["opens"] == 4);
}

void check_stock(const json& report) {
  for (const char* name : {"collective.nc", "independent.nc", "data.h5"}) {
    const json file = file_in(report, name);
    CHECK(file["active"] == false);
    CHECK(file["ranks"] == ranks);
    CHECK(file["stock"]["opens"] == file["opens"]);
    CHECK(!file["stock"]["reasons"].empty());
    CHECK(has_note(file, "own driver: "));
  }
  CHECK(file_in(report, "data.h5")["opens"] == 2);
}

void check(const std::string& which, const std::string& path) {
  std::ifstream stream(path);
  const json report = json::parse(stream, nullptr, false);
  CHECK(report.is_object());
  if (!report.is_object()) return;
  std::ifstream schema(FOREBAY_SCHEMA);
  for (const std::string& failure : forebay::test::SchemaValidator(json::parse(schema)).check(report)) {
    std::fprintf(stderr, "%s\n", failure.c_str());
    ++failures;
  }
  const std::string command = report["command"];
  CHECK(command.find("reporting") != std::string::npos);
  if (which == "served")
    check_served(report);
  else
    check_stock(report);
}

/// Against the report, which counts the same.
void check_timeline(const std::string& path, int nodes, const json& report) {
  std::ifstream stream(path);
  const json timeline = json::parse(stream, nullptr, false);
  CHECK(timeline.is_object());
  const forebay::test::TimelineFacts facts = forebay::test::look_at_timeline(timeline);
  for (const std::string& failure : facts.failures) {
    std::fprintf(stderr, "%s\n", failure.c_str());
    ++failures;
  }
  CHECK(facts.nodes.size() == static_cast<std::size_t>(nodes));
  CHECK(facts.threads.size() == static_cast<std::size_t>(ranks));
  CHECK(facts.about.size() == 3);
  CHECK(facts.dropped == 0);
  for (const char* name : {"collective write", "close", "open", "write file", "meet"})
    CHECK(facts.spans.count(name) == 1);
  CHECK(facts.spans.count("open") == 1 && facts.spans.at("open") == 4 * ranks);
  for (const json& file : report["files"]) {
    const auto written = facts.written.find(file["path"]);
    // What a span within another one wrote is in both.
    CHECK((written == facts.written.end() ? 0 : written->second) >=
          file["file_writes"]["bytes"].get<std::int64_t>());
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  pnetcdf_file("collective.nc", false, 2);
  pnetcdf_file("independent.nc", true, 3);
  hdf5_file("data.h5");
  open_again("data.h5");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && argc > 2) check(argv[1], argv[2]);
  if (rank == 0 && argc > 4) {
    std::ifstream stream(argv[2]);
    check_timeline(argv[3], std::atoi(argv[4]), json::parse(stream, nullptr, false));
  }
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures != 0;
}
