// How Forebay is selected and configured: the public functions, driver strings, and every kind of wrong
// input.
#include <H5FDdevelop.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "errors_of.hpp"
#include "forebay/hdf5.h"
#include "harness.hpp"

using namespace test;

namespace {

int opens_by_mpi = 0;  // of this rank

}  // namespace

// The profiling interface: what MPI-IO is asked to open by whomever.
[[gnu::visibility("default")]] int MPI_File_open(MPI_Comm comm, const char* name, int amode, MPI_Info info,
                                                 MPI_File* file) {
  ++opens_by_mpi;
  return PMPI_File_open(comm, name, amode, info, file);
}

namespace {

H5FD_forebay_config_t config_with(const std::string& hints) {
  H5FD_forebay_config_t config = H5FD_FOREBAY_CONFIG_INIT;
  std::snprintf(config.hints, sizeof config.hints, "%s", hints.c_str());
  return config;
}

void write_a_dataset(const Run& run, const Id& fapl) {
  const Id file = run.create(fapl);
  const Id extent = space({static_cast<hsize_t>(run.ranks) * 10});
  const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
  Id mine(H5Scopy(extent));
  const hsize_t start = static_cast<hsize_t>(run.rank) * 10;
  const hsize_t count = 10;
  H5Sselect_hyperslab(mine, H5S_SELECT_SET, &start, nullptr, &count, nullptr);
  write_selected(set, mine, collective());
}

}  // namespace

CASE(set_and_get) {
  if (!run.forebay) return write_a_dataset(run, run.access());
  const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
  MPI_Info hints = MPI_INFO_NULL;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "cb_buffer_size", "1048576");
  const H5FD_forebay_config_t config = config_with("forebay_mode=strict; forebay_stripe_bytes=64k");
  CHECK(H5Pset_fapl_forebay(fapl, run.comm, hints, &config) >= 0);
  MPI_Info_free(&hints);
  CHECK(H5FD_FOREBAY >= 0 && H5Pget_driver(fapl) == H5FD_FOREBAY);
  const Id copy(H5Pcopy(fapl));
  H5FD_forebay_config_t back = H5FD_FOREBAY_CONFIG_INIT;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  CHECK(H5Pget_fapl_forebay(copy, &comm, &info, &back) >= 0);
  CHECK(std::strcmp(back.hints, config.hints) == 0);
  int same = MPI_UNEQUAL;
  MPI_Comm_compare(comm, run.comm, &same);
  CHECK(same == MPI_CONGRUENT);
  char value[64] = "";
  int found = 0;
  MPI_Info_get(info, "cb_buffer_size", 63, value, &found);
  CHECK(found != 0 && std::strcmp(value, "1048576") == 0);
  MPI_Comm_free(&comm);
  MPI_Info_free(&info);
  CHECK(H5Pequal(fapl, copy) > 0 ||
        true);  // communicators compare as unequal in some versions; it must not crash
  CHECK(H5Pget_fapl_forebay(copy, nullptr, nullptr, nullptr) >= 0);
  write_a_dataset(run, copy);
  // A file tells how it was opened, and the list it gives opens it again.
  const Id file = run.open(copy, H5F_ACC_RDONLY);
  const Id from_file(H5Fget_access_plist(file));
  CHECK(H5Pget_fapl_forebay(from_file, nullptr, nullptr, &back) >= 0);
  CHECK(std::strcmp(back.hints, config.hints) == 0);
  const Id again = run.open(from_file, H5F_ACC_RDONLY);
}

CASE(no_config_at_all) {
  if (!run.forebay) return write_a_dataset(run, run.access());
  const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
  CHECK(H5Pset_fapl_forebay(fapl, run.comm, MPI_INFO_NULL, nullptr) >= 0);
  H5FD_forebay_config_t back = config_with("left over");
  CHECK(H5Pget_fapl_forebay(fapl, nullptr, nullptr, &back) >= 0);
  CHECK(back.hints[0] == '\0');
  write_a_dataset(run, fapl);
}

CASE(selected_without_a_communicator) {
  if (!run.forebay) return write_a_dataset(run, run.access());
  const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
  CHECK(H5Pset_driver(fapl, H5FD_FOREBAY, nullptr) >= 0);
  write_a_dataset(run, fapl);  // on all ranks of the program
}

CASE(by_name_with_a_string) {
  if (!run.forebay) return write_a_dataset(run, run.access());
  CHECK(H5FD_FOREBAY >= 0);
  for (const char* good :
       {"", "forebay_mode=strict", " forebay_stripe_bytes = 32k ; ;forebay_bypass_bytes=0;"}) {
    const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
    CHECK(H5Pset_driver_by_name(fapl, "forebay", good) >= 0);
    CHECK(H5Pget_driver(fapl) == H5FD_FOREBAY);
    H5FD_forebay_config_t back = H5FD_FOREBAY_CONFIG_INIT;
    CHECK(H5Pget_fapl_forebay(fapl, nullptr, nullptr, &back) >= 0 && std::strcmp(back.hints, good) == 0);
    write_a_dataset(run, fapl);
  }
  const Id by_value(H5Pcreate(H5P_FILE_ACCESS));
  CHECK(H5Pset_driver_by_value(by_value, H5FD_FOREBAY_VALUE, nullptr) >= 0);
  CHECK(H5Pget_driver(by_value) == H5FD_FOREBAY);
}

CASE(wrong_strings) {
  if (!run.forebay) return;
  CHECK(H5FD_FOREBAY >= 0);
  const std::pair<const char*, const char*> wrong[] = {
      {"forebay_mod=strict", "forebay_mode"},  // names the near one
      {"forebay_mode=sometimes", "strict"},    // names what is possible
      {"just words", "just words"},
      {"forebay_stripe_bytes=12q", "12q"},
      {"forebay_stripe_bytes=-1", "-1"},
      {"=", "="},
      {"forebay_stripe_bytes=99999999999999999999", "99999999999999999999"},
      {"forebay_stripe_bytes=9999999t", "9999999t"},
      {"forebay_ranks_per_node=-3", "-3"},
      {"forebay_mode", "forebay_mode"},
  };
  for (const auto& [text, expected] : wrong) {
    const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
    CHECK(H5Pset_mpi_params(fapl, run.comm, MPI_INFO_NULL) >= 0);
    CHECK(H5Pset_driver_by_name(fapl, "forebay", text) >= 0);
    hid_t file = H5I_INVALID_HID;
    const std::string errors =
        errors_of([&] { file = H5Fcreate(run.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl); });
    CHECK(file < 0);
    CHECK(says(errors, expected));
    // By struct the mistake is found before any file is opened.
    const H5FD_forebay_config_t config = config_with(text);
    herr_t result = 0;
    const std::string at_once =
        errors_of([&] { result = H5Pset_fapl_forebay(fapl, run.comm, MPI_INFO_NULL, &config); });
    CHECK(result < 0);
    CHECK(says(at_once, expected));
  }
  const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
  const std::string endless(5000, 'x');
  CHECK(H5Pset_driver_by_name(fapl, "forebay", endless.c_str()) >= 0);
  hid_t file = H5I_INVALID_HID;
  CHECK(says(errors_of([&] { file = H5Fcreate(run.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl); }),
             "5000 characters"));
  CHECK(file < 0);
  if (FILE* left = std::fopen(run.path.c_str(), "rb")) {
    CHECK(!"no file was made");
    std::fclose(left);
  }
}

CASE(wrong_structs_and_arguments) {
  if (!run.forebay) return;
  const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
  const Id other_class(H5Pcreate(H5P_DATASET_XFER));
  const auto refused = [&](hid_t list, MPI_Comm comm, const H5FD_forebay_config_t& config,
                           const char* expected) {
    herr_t result = 0;
    const std::string errors =
        errors_of([&] { result = H5Pset_fapl_forebay(list, comm, MPI_INFO_NULL, &config); });
    return CHECK(result < 0) && CHECK(says(errors, expected));
  };
  const H5FD_forebay_config_t good = H5FD_FOREBAY_CONFIG_INIT;
  refused(H5P_DEFAULT, run.comm, good, "default property list");
  refused(other_class, run.comm, good, "not a file access property list");
  refused(fapl, MPI_COMM_NULL, good, "MPI_COMM_NULL");
  H5FD_forebay_config_t bad = good;
  bad.magic = 0;
  refused(fapl, run.comm, bad, "H5FD_FOREBAY_CONFIG_INIT");
  bad = good;
  bad.version = 99;
  refused(fapl, run.comm, bad, "version 99");
  bad = good;
  bad.size = 4;
  refused(fapl, run.comm, bad, "size 4");
  bad = good;
  bad.flags = 1;
  refused(fapl, run.comm, bad, "flags");
  bad = good;
  bad.flags = 1u << 31;
  refused(fapl, run.comm, bad, "flags");
  bad = good;
  std::memset(bad.hints, 'x', sizeof bad.hints);
  refused(fapl, run.comm, bad, "do not end");
  herr_t result = 0;
  {
    // Whatever H5Pset_driver is given, the open says what is wrong with it, also by a copy of the list.
    H5FD_forebay_config_t foreign{};
    const Id list(H5Pcreate(H5P_FILE_ACCESS));
    CHECK(H5Pset_driver(list, H5FD_FOREBAY, &foreign) >= 0);
    const Id copy(H5Pcopy(list));
    hid_t file = H5I_INVALID_HID;
    CHECK(says(errors_of([&] { file = H5Fcreate(run.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, copy); }),
               "begin with H5FD_FOREBAY_CONFIG_INIT"));
    CHECK(file < 0);
  }
  // A program compiled with a shorter struct.
  alignas(H5FD_forebay_config_t) unsigned char bytes[16 + 8] = {};
  auto* small = reinterpret_cast<H5FD_forebay_config_t*>(bytes);
  std::memcpy(bytes, &good, 16);
  small->size = sizeof bytes;
  CHECK(H5Pset_fapl_forebay(fapl, run.comm, MPI_INFO_NULL, small) >= 0);
  const H5FD_forebay_config_t longer = config_with("forebay_mode=strict");
  CHECK(H5Pset_fapl_forebay(fapl, run.comm, MPI_INFO_NULL, &longer) >= 0);
  CHECK(says(errors_of([&] { result = H5Pget_fapl_forebay(fapl, nullptr, nullptr, small); }), "too small"));
  CHECK(result < 0);
  // Another driver's list.
  CHECK(H5Pset_fapl_mpio(fapl, run.comm, MPI_INFO_NULL) >= 0);
  CHECK(says(errors_of([&] { result = H5Pget_fapl_forebay(fapl, nullptr, nullptr, nullptr); }),
             "another driver"));
  CHECK(result < 0);
}

CASE(files_that_cannot_be_opened) {
  const Id fapl = run.access();
  hid_t file = H5I_INVALID_HID;
  std::string errors =
      errors_of([&] { file = H5Fcreate("no/such/directory/file.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl); });
  CHECK(file < 0);
  if (run.forebay) CHECK(says(errors, "no/such/directory/file.h5"));
  errors = errors_of([&] { file = H5Fopen("no_such_file.h5", H5F_ACC_RDONLY, fapl); });
  CHECK(file < 0);
  write_a_dataset(run, fapl);
  errors = errors_of([&] { file = H5Fcreate(run.path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, fapl); });
  CHECK(file < 0);
  // Read-only files cannot be written.
  const Id read_only = run.open(fapl, H5F_ACC_RDONLY);
  const Id set(H5Dopen2(read_only, "data", H5P_DEFAULT));
  const int value = 0;
  herr_t result = 0;
  errors = errors_of([&] { result = H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective(), &value); });
  CHECK(result < 0);
}

CASE(switched_off) {
  // The stock driver does the work, and the file is the same.
  if (!run.forebay) return write_a_dataset(run, run.access());
  const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
  const H5FD_forebay_config_t config = config_with("forebay_enable=off");
  CHECK(H5Pset_fapl_forebay(fapl, run.comm, MPI_INFO_NULL, &config) >= 0);
  write_a_dataset(run, fapl);
  const Id file = run.open(fapl);
  const Id set(H5Dopen2(file, "data", H5P_DEFAULT));
  const Id extent(H5Dget_space(set));
  check_selected(set, extent, collective());
  check_selected(set, extent, transfer(H5FD_MPIO_INDEPENDENT));
  CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  CHECK(H5Fset_mpi_atomicity(file, true) >= 0);
  hbool_t atomic = false;
  CHECK(H5Fget_mpi_atomicity(file, &atomic) >= 0 && atomic);
}

CASE(mpi_io_opens_the_file_when_somebody_asks) {
  const Id fapl = run.access();
  const Id extent = space({static_cast<hsize_t>(run.ranks), 100});
  Id mine(H5Scopy(extent));
  const hsize_t start[] = {static_cast<hsize_t>(run.rank), 0};
  const hsize_t count[] = {1, 100};
  H5Sselect_hyperslab(mine, H5S_SELECT_SET, start, nullptr, count, nullptr);
  const std::string elsewhere = run.path + ".moved";
  const auto swap_names = [&](const std::string& from, const std::string& to) {
    MPI_Barrier(run.comm);
    if (run.rank == 0) CHECK(std::rename(from.c_str(), to.c_str()) == 0);
    MPI_Barrier(run.comm);
  };
  const int before = opens_by_mpi;
  // Where MPI-IO writes, it has the file at once.
  const bool by_name = run.forebay && run.hints.find("mpiio") == std::string::npos;
  const auto opened = [&](int times) { return !by_name || opens_by_mpi - before == times; };
  {
    const Id file = run.create(fapl);
    const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
    write_selected(set, mine, collective());
    write_selected(set, mine, transfer(H5FD_MPIO_INDEPENDENT));
    CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    hbool_t atomic = true;
    CHECK(H5Fget_mpi_atomicity(file, &atomic) >= 0 && !atomic);
    CHECK(opened(0));
    // The last rank alone, and the file has another name now.
    if (by_name) swap_names(run.path, elsewhere);
    if (by_name && run.rank == run.ranks - 1) {
      void* handle = nullptr;
      CHECK(H5Fget_vfd_handle(file, fapl, &handle) >= 0 && handle != nullptr);
      MPI_Offset size = 0;
      CHECK(MPI_File_get_size(*static_cast<MPI_File*>(handle), &size) == MPI_SUCCESS && size >= 400);
      CHECK(opened(1));
      CHECK(H5Fget_vfd_handle(file, fapl, &handle) >= 0 && opened(1));
    }
    // All together, the one that has a handle included.
    CHECK(H5Fset_mpi_atomicity(file, true) >= 0);
    CHECK(H5Fget_mpi_atomicity(file, &atomic) >= 0 && atomic);
    CHECK(opened(by_name && run.rank == run.ranks - 1 ? 2 : 1));
    write_selected(set, mine, collective(), 7);
    MPI_Barrier(run.comm);
    check_selected(set, extent, transfer(H5FD_MPIO_INDEPENDENT), 7);
    MPI_Barrier(run.comm);
    CHECK(H5Fset_mpi_atomicity(file, false) >= 0);
    write_selected(set, mine, transfer(H5FD_MPIO_INDEPENDENT), 8);
    if (by_name) swap_names(elsewhere, run.path);
  }
  const Id file = run.open(fapl, H5F_ACC_RDONLY);
  const Id set(H5Dopen2(file, "data", H5P_DEFAULT));
  check_selected(set, extent, collective(), 8);
  void* handle = nullptr;
  CHECK(H5Fget_vfd_handle(file, fapl, &handle) >= 0 && handle != nullptr);
  int value = 0;
  CHECK(MPI_File_write_at(*static_cast<MPI_File*>(handle), 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS);
}

CASE(mpi_io_may_not_open_the_file_any_more) {
  // Where one rank may not, all return, and the file goes on. Root alone can lose the right on one rank.
  if (!run.forebay || run.hints.find("mpiio") != std::string::npos || geteuid() != 0) return;
  const bool last = run.rank == run.ranks - 1;
  const Id fapl = run.access();
  const mode_t mask = umask(077);
  const Id file = run.create(fapl);
  umask(mask);
  MPI_Barrier(run.comm);
  herr_t changed = 0, got = 0;
  hbool_t atomic = true;
  if (last) CHECK(seteuid(65534) == 0);
  const std::string errors = errors_of([&] { changed = H5Fset_mpi_atomicity(file, true); });
  errors_of([&] {
    void* handle = nullptr;
    if (last) got = H5Fget_vfd_handle(file, fapl, &handle);
  });
  if (last) CHECK(seteuid(0) == 0);
  CHECK(changed < 0 && says(errors, "cannot give MPI-IO"));
  CHECK((got < 0) == last);
  CHECK(H5Fget_mpi_atomicity(file, &atomic) >= 0 && !atomic);
  CHECK(H5Fset_mpi_atomicity(file, true) >= 0);
  const Id extent = space({static_cast<hsize_t>(run.ranks) * 100});
  const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
  write_selected(set, extent, collective());
}

CASE(a_write_that_fails) {
  // A storage failure in a collective call is an error on every rank, with file and range in it where it
  // happened.
  if (!run.forebay) return;
  const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
  const H5FD_forebay_config_t config =
      config_with("forebay_storage=failing;forebay_fail_after_bytes=100000;forebay_fail_rank=0");
  CHECK(H5Pset_fapl_forebay(fapl, run.comm, MPI_INFO_NULL, &config) >= 0);
  std::string errors;
  herr_t result = 0;
  errors_of([&] {
    const Id file = run.create(fapl);
    const Id extent = space({static_cast<hsize_t>(run.ranks), 100'000});
    const Id set = dataset(file, "data", H5T_NATIVE_INT, extent, Id(H5Pcreate(H5P_DATASET_CREATE)));
    const std::vector<int> values(100'000);
    Id mine(H5Scopy(extent));
    const hsize_t start[] = {static_cast<hsize_t>(run.rank), 0};
    const hsize_t count[] = {1, 100'000};
    H5Sselect_hyperslab(mine, H5S_SELECT_SET, start, nullptr, count, nullptr);
    const Id memory = space({100'000});
    const Id dxpl = collective();  // closing a list clears the error stack
    errors = errors_of([&] { result = H5Dwrite(set, H5T_NATIVE_INT, memory, mine, dxpl, values.data()); });
  });
  CHECK(result < 0);
  if (run.rank == 0) CHECK(says(errors, "cannot write bytes"));
  if (run.rank == 0) std::remove(run.path.c_str());
}

CASE(metadata_that_one_rank_cannot_write) {
  // HDF5 waits inside its flush for every rank; the error comes at the end of it, on all of them.
  if (!run.forebay) return;
  for (const int turn : {0, 1, 2, 3}) {
    const bool flushed = turn % 2 == 1;
    // Together, few ranks write; the first is always one of them.
    const std::string how = turn < 2 ? "collective;forebay_fail_rank=0"
                                     : "independent;forebay_fail_rank=" + std::to_string(run.ranks - 1);
    const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
    const H5FD_forebay_config_t config =
        config_with("forebay_storage=failing;forebay_fail_after_bytes=0;forebay_metadata=" + how);
    CHECK(H5Pset_fapl_forebay(fapl, run.comm, MPI_INFO_NULL, &config) >= 0);
    Id file = run.create(fapl);
    for (int i = 0; i < 200; ++i) {
      const Id group(
          H5Gcreate2(file, ("group" + std::to_string(i)).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      CHECK(group >= 0);
    }
    herr_t result = 0;
    if (flushed) {
      CHECK(says(errors_of([&] { result = H5Fflush(file, H5F_SCOPE_GLOBAL); }), "cannot write bytes"));
      CHECK(result < 0);
    }
    CHECK(says(errors_of([&] { result = file.reset(); }), "cannot write bytes"));
    CHECK(result < 0);
  }
  if (run.rank == 0) std::remove(run.path.c_str());
}
