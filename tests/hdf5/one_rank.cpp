// One rank alone is mistaken, or alone does something: nobody waits for ever, and all hear of a mistake.
#include <H5FDdevelop.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "errors_of.hpp"
#include "forebay/hdf5.h"
#include "harness.hpp"

using namespace test;

namespace {

/// A hint that only the last rank gets, and what every rank's error then says.
const std::vector<std::pair<std::string, const char*>> mistakes{
    {"forebay_mod=strict", "forebay_mode"},
    {"forebay_mode=sometimes", "strict"},
    {"forebay_ranks_per_node=-3", "-3"},
    {"words", "words"},
};

bool last(const Run& run) {
  return run.rank == run.ranks - 1;
}

}  // namespace

CASE(one_rank_has_a_wrong_config) {
  if (!run.forebay) return;
  for (const auto& [hints, expected] : mistakes) {
    H5FD_forebay_config_t config = H5FD_FOREBAY_CONFIG_INIT;
    if (last(run)) std::snprintf(config.hints, sizeof config.hints, "%s", hints.c_str());
    const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
    herr_t result = 0;
    const std::string errors =
        errors_of([&] { result = H5Pset_fapl_forebay(fapl, run.comm, MPI_INFO_NULL, &config); });
    CHECK(result < 0);
    CHECK(says(errors, expected));
  }
  // Not a struct of ours, and not a list of ours.
  H5FD_forebay_config_t config = H5FD_FOREBAY_CONFIG_INIT;
  if (last(run)) config.magic = 1;
  const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
  herr_t result = 0;
  CHECK(says(errors_of([&] { result = H5Pset_fapl_forebay(fapl, run.comm, MPI_INFO_NULL, &config); }),
             "H5FD_FOREBAY_CONFIG_INIT"));
  CHECK(result < 0);
  const hid_t list = last(run) ? H5P_DEFAULT : static_cast<hid_t>(fapl);
  CHECK(says(errors_of([&] { result = H5Pset_fapl_forebay(list, run.comm, MPI_INFO_NULL, nullptr); }),
             "default property list"));
  CHECK(result < 0);
  CHECK(H5Pset_fapl_forebay(fapl, run.comm, MPI_INFO_NULL, nullptr) >= 0);
}

CASE(one_rank_has_a_wrong_string) {
  if (!run.forebay) return;
  CHECK(H5FD_FOREBAY >= 0);
  auto strings = mistakes;
  strings.emplace_back(std::string(5000, 'x'), "5000 characters");
  for (const auto& [text, expected] : strings) {
    const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
    CHECK(H5Pset_mpi_params(fapl, run.comm, MPI_INFO_NULL) >= 0);
    CHECK(H5Pset_driver_by_name(fapl, "forebay", last(run) ? text.c_str() : nullptr) >= 0);
    for (const bool create : {true, false}) {
      hid_t file = H5I_INVALID_HID;
      const std::string errors = errors_of([&] {
        file = create ? H5Fcreate(run.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl)
                      : H5Fopen(run.path.c_str(), H5F_ACC_RDWR, fapl);
      });
      CHECK(file < 0);
      CHECK(says(errors, expected));
    }
  }
}

CASE(one_rank_switches_it_off) {
  // All take the stock driver then, or their collective calls would not fit together.
  const Id fapl = run.access();
  if (run.forebay) {
    H5FD_forebay_config_t config = H5FD_FOREBAY_CONFIG_INIT;
    if (last(run)) std::strcpy(config.hints, "forebay_enable=off");
    CHECK(H5Pset_fapl_forebay(fapl, run.comm, MPI_INFO_NULL, &config) >= 0);
  }
  const Id file = run.create(fapl);
  const Id extent = space({16, 8});
  const Id set = dataset(file, "data", H5T_NATIVE_INT, extent);
  Id mine(H5Scopy(extent));
  if (!last(run)) H5Sselect_none(mine);
  write_selected(set, mine, collective());
  CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  check_selected(set, extent, collective());
}

namespace {

constexpr haddr_t kBlock = 4096;

/// A file of the bare driver, with room for `blocks`. Collective.
H5FD_t* bare_file(const Run& run, const Id& fapl, haddr_t blocks) {
  H5FD_t* file = H5FDopen(run.path.c_str(), H5F_ACC_RDWR | H5F_ACC_CREAT | H5F_ACC_TRUNC, fapl, HADDR_MAX);
  if (!CHECK(file != nullptr)) return nullptr;
  CHECK(H5FDset_eoa(file, H5FD_MEM_DEFAULT, blocks * kBlock) >= 0);
  return file;
}

/// Bytes of block `k`.
std::vector<unsigned char> bytes_of_block(unsigned k, std::size_t length = kBlock) {
  std::vector<unsigned char> bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<unsigned char>(value_of(i, k));
  return bytes;
}

}  // namespace

CASE_OF_BYTES(public_vectors_and_selections_of_one_rank) {
  // A program may use the driver without a file of HDF5's format in between, and by one rank alone.
  const Id fapl = run.access();
  H5FD_t* file = bare_file(run, fapl, 8);
  if (file == nullptr) return;
  const Id alone = transfer(H5FD_MPIO_INDEPENDENT);
  const Id extent = space({kBlock});
  const Id memory = space({kBlock / 2});
  Id odd(H5Scopy(extent));
  const hsize_t start = 1, stride = 2, count = kBlock / 2;
  CHECK(H5Sselect_hyperslab(odd, H5S_SELECT_SET, &start, &stride, &count, nullptr) >= 0);
  const std::vector<unsigned char> a = bytes_of_block(1), b = bytes_of_block(2),
                                   c = bytes_of_block(3, kBlock / 2);
  hid_t memories[] = {memory}, selections[] = {odd};
  haddr_t offsets[] = {3 * kBlock};
  size_t sizes[] = {1};
  if (last(run)) {
    H5FD_mem_t types[] = {H5FD_MEM_DRAW, H5FD_MEM_DRAW};
    haddr_t places[] = {5 * kBlock, kBlock};
    size_t lengths[] = {kBlock, 0};  // "as before from here on"
    const void* buffers[] = {a.data(), b.data()};
    CHECK(H5FDwrite_vector(file, alone, 2, types, places, lengths, buffers) >= 0);
    CHECK(H5FDwrite(file, H5FD_MEM_DRAW, alone, 3 * kBlock, kBlock, b.data()) >= 0);
    const void* odd_bytes[] = {c.data()};
    CHECK(H5FDwrite_selection(file, H5FD_MEM_DRAW, alone, 1, memories, selections, offsets, sizes,
                              odd_bytes) >= 0);
    CHECK(H5FDwrite_vector(file, H5P_DEFAULT, 0, nullptr, nullptr, nullptr, nullptr) >= 0);
  }
  MPI_Barrier(run.comm);
  if (run.rank == 0) {
    std::vector<unsigned char> got(kBlock), other(kBlock), odd_got(kBlock / 2);
    H5FD_mem_t types[] = {H5FD_MEM_DRAW, H5FD_MEM_DRAW};
    haddr_t places[] = {kBlock, 5 * kBlock};
    size_t lengths[] = {kBlock, kBlock};
    void* buffers[] = {got.data(), other.data()};
    CHECK(H5FDread_vector(file, alone, 2, types, places, lengths, buffers) >= 0);
    CHECK(got == b && other == a);
    void* odd_bytes[] = {odd_got.data()};
    CHECK(H5FDread_selection(file, H5FD_MEM_DRAW, alone, 1, memories, selections, offsets, sizes,
                             odd_bytes) >= 0);
    CHECK(odd_got == c);
    CHECK(H5FDread(file, H5FD_MEM_DRAW, alone, 3 * kBlock, kBlock, got.data()) >= 0);
    for (std::size_t i = 0; i < kBlock; ++i) {
      if (got[i] != (i % 2 == 1 ? c[i / 2] : b[i])) {
        CHECK(!"every other byte is of the selection");
        break;
      }
    }
  }
  // What nobody wrote is to be the same for the comparison.
  if (run.rank == 0) {
    const std::vector<unsigned char> zeros(kBlock);
    for (const haddr_t k : {0, 2, 4, 6, 7})
      CHECK(H5FDwrite(file, H5FD_MEM_DRAW, alone, k * kBlock, kBlock, zeros.data()) >= 0);
  }
  CHECK(H5FDtruncate(file, H5P_DEFAULT, false) >= 0);
  CHECK(H5FDclose(file) >= 0);
}

CASE_OF_BYTES(public_vectors_of_all_ranks) {
  const Id fapl = run.access();
  const auto ranks = static_cast<haddr_t>(run.ranks);
  H5FD_t* file = bare_file(run, fapl, 3 * ranks);
  if (file == nullptr) return;
  const Id together = collective();
  const auto rank = static_cast<unsigned>(run.rank);
  const std::vector<unsigned char> a = bytes_of_block(rank), b = bytes_of_block(rank + 100);
  H5FD_mem_t types[] = {H5FD_MEM_DRAW, H5FD_MEM_NOLIST};
  haddr_t places[] = {(2 * ranks - 1 - rank) * kBlock, rank * kBlock};
  size_t lengths[] = {kBlock, kBlock};
  const void* buffers[] = {a.data(), b.data()};
  CHECK(H5FDwrite_vector(file, together, 2, types, places, lengths, buffers) >= 0);
  // One rank has nothing.
  const bool idle = last(run) && run.ranks > 1;
  places[0] = (2 * ranks + rank) * kBlock;
  CHECK(H5FDwrite_vector(file, together, idle ? 0 : 1, types, places, lengths, buffers) >= 0);
  std::vector<unsigned char> got(kBlock), other(kBlock);
  const unsigned next = static_cast<unsigned>((run.rank + 1) % run.ranks);
  haddr_t from[] = {next * kBlock, (2 * ranks - 1 - next) * kBlock};
  void* into[] = {got.data(), other.data()};
  MPI_Barrier(run.comm);  // stock two-phase writing may return before another rank's bytes are there
  CHECK(H5FDread_vector(file, together, 2, types, from, lengths, into) >= 0);
  CHECK(got == bytes_of_block(next + 100) && other == bytes_of_block(next));
  if (idle) {
    const Id alone = transfer(H5FD_MPIO_INDEPENDENT);
    CHECK(H5FDwrite(file, H5FD_MEM_DRAW, alone, places[0], kBlock, a.data()) >= 0);
  }
  CHECK(H5FDflush(file, H5P_DEFAULT, false) >= 0);
  CHECK(H5FDtruncate(file, H5P_DEFAULT, false) >= 0);
  CHECK(H5FDclose(file) >= 0);
}
