// The drivers' runs, the comparison of files, and the small HDF5 helpers that the cases share.
#include "harness.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#ifndef FOREBAY_TEST_BY_ENVIRONMENT
#include "forebay/hdf5.h"
#endif

namespace test {
namespace {

int failures = 0;
std::string where;  // the case and driver that run now

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void compare_files(const std::string& a, const std::string& b) {
  const std::vector<char> left = bytes_of(a);
  const std::vector<char> right = bytes_of(b);
  if (!CHECK(!left.empty())) return;
  if (!CHECK(left.size() == right.size())) {
    std::fprintf(stderr, "  sizes %zu, %zu\n", left.size(), right.size());
    return;
  }
  const auto [l, r] = std::mismatch(left.begin(), left.end(), right.begin());
  if (l == left.end()) return;
  std::size_t different = 0;
  for (std::size_t i = 0; i < left.size(); ++i) different += left[i] != right[i] ? 1 : 0;
  std::fprintf(stderr, "  first difference at byte %td, %zu in all\n", l - left.begin(), different);
  CHECK(!"files are equal byte for byte");
}

/// Datasets and attributes by their path: bytes in the file's own type.
using Contents = std::map<std::string, std::vector<char>>;

herr_t read_attribute(hid_t object, const char* name, const H5A_info_t*, void* data) {
  auto& [contents, prefix] = *static_cast<std::pair<Contents*, std::string>*>(data);
  const Id attribute(H5Aopen(object, name, H5P_DEFAULT));
  const Id type(H5Aget_type(attribute));
  const Id extent(H5Aget_space(attribute));
  std::vector<char> bytes(H5Tget_size(type) * static_cast<std::size_t>(H5Sget_simple_extent_npoints(extent)));
  H5Aread(attribute, type, bytes.data());
  (*contents)[prefix + "@" + name] = std::move(bytes);
  return 0;
}

herr_t read_object(hid_t root, const char* name, const H5O_info2_t* info, void* data) {
  auto& contents = *static_cast<Contents*>(data);
  const Id object(H5Oopen(root, name, H5P_DEFAULT));
  std::pair<Contents*, std::string> here{&contents, name};
  hsize_t position = 0;
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &position, read_attribute, &here);
  contents[name].push_back(static_cast<char>(info->type));
  if (info->type != H5O_TYPE_DATASET) return 0;
  const Id type(H5Dget_type(object));
  const Id extent(H5Dget_space(object));
  const auto elements = static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(extent), 0));
  std::vector<char> bytes(H5Tget_size(type) * elements);
  if (elements > 0 && H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) return -1;
  contents[std::string(name) + "#"] = std::move(bytes);
  return 0;
}

bool contents_of(const std::string& path, Contents& contents) {
  const Id fapl(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fapl_sec2(fapl);  // without Forebay and without MPI: the file has to open anywhere
  const Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, fapl));
  return file >= 0 &&
         H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_NATIVE, read_object, &contents, H5O_INFO_BASIC) >= 0;
}

void compare_contents(const std::string& a, const std::string& b) {
  Contents left;
  Contents right;
  if (!CHECK(contents_of(a, left)) || !CHECK(contents_of(b, right))) return;
  CHECK(left.size() == right.size());
  for (const auto& [name, bytes] : left) {
    const auto other = right.find(name);
    if (other == right.end() || other->second != bytes) {
      std::fprintf(stderr, "  %s differs\n", name.c_str());
      CHECK(!"contents are equal");
    }
  }
}

void run_case(const Case& test, const Run& run) {
  where = std::string(test.name) + (run.forebay ? " forebay {" + run.hints + "}" : " stock");
  test.body(run);
  MPI_Barrier(run.comm);
}

}  // namespace

herr_t Id::reset() {
  if (id_ < 0) return 0;
  const hid_t id = std::exchange(id_, H5I_INVALID_HID);
  switch (H5Iget_type(id)) {
    case H5I_FILE:
      return H5Fclose(id);
    case H5I_GROUP:
      return H5Gclose(id);
    case H5I_DATASET:
      return H5Dclose(id);
    case H5I_DATASPACE:
      return H5Sclose(id);
    case H5I_DATATYPE:
      return H5Tclose(id);
    case H5I_ATTR:
      return H5Aclose(id);
    case H5I_GENPROP_LST:
      return H5Pclose(id);
    default:
      return H5Oclose(id);
  }
}

Id Run::access(MPI_Comm on) const {
  Id fapl(H5Pcreate(H5P_FILE_ACCESS));
  if (!forebay) {
    CHECK(H5Pset_fapl_mpio(fapl, on, MPI_INFO_NULL) >= 0);
    return fapl;
  }
#ifdef FOREBAY_TEST_BY_ENVIRONMENT
  if (on != MPI_COMM_WORLD) CHECK(H5Pset_mpi_params(fapl, on, MPI_INFO_NULL) >= 0);
#else
  H5FD_forebay_config_t config = H5FD_FOREBAY_CONFIG_INIT;
  std::snprintf(config.hints, sizeof config.hints, "%s", hints.c_str());
  CHECK(H5Pset_fapl_forebay(fapl, on, MPI_INFO_NULL, &config) >= 0);
#endif
  return fapl;
}

Id Run::create(const Id& fapl, hid_t fcpl) const {
  Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, fcpl, fapl));
  CHECK(file >= 0);
  return file;
}

Id Run::open(const Id& fapl, unsigned flags) const {
  Id file(H5Fopen(path.c_str(), flags, fapl));
  CHECK(file >= 0);
  return file;
}

bool check(bool holds, const char* what, const char* file, int line) {
  if (holds) return true;
  ++failures;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "%s:%d: rank %d, %s: failed: %s\n", file, line, rank, where.c_str(), what);
  return false;
}

Register::Register(const char* name, std::function<void(const Run&)> body, bool whole_file) {
  cases().push_back({name, std::move(body), whole_file});
}

Id creation() {
  Id dcpl(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(dcpl, false);
  // What nobody writes is garbage with the stock driver; filled, it also shows bytes that should have been
  // left alone.
  H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC);
  return dcpl;
}

Id space(std::vector<hsize_t> dims) {
  return Id(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
}

Id transfer(H5FD_mpio_xfer_t mode) {
  Id dxpl(H5Pcreate(H5P_DATASET_XFER));
  CHECK(H5Pset_dxpl_mpio(dxpl, mode) >= 0);
  return dxpl;
}

Id collective() {
  return transfer(H5FD_MPIO_COLLECTIVE);
}

Id dataset(hid_t file, const std::string& name, hid_t type, const Id& extent, hid_t dcpl) {
  Id own;
  if (dcpl < 0) {
    own = creation();
    dcpl = own;
  }
  Id set(H5Dcreate2(file, name.c_str(), type, extent, H5P_DEFAULT, dcpl, H5P_DEFAULT));
  CHECK(set >= 0);
  return set;
}

std::vector<std::uint64_t> selected(hid_t extent) {
  std::vector<std::uint64_t> out;
  const hssize_t elements = H5Sget_select_npoints(extent);
  if (elements <= 0) return out;
  // Not by the iterator that the driver uses: H5Diterate visits elements in the order of a transfer.
  std::vector<std::uint64_t> all(static_cast<std::size_t>(H5Sget_simple_extent_npoints(extent)));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  H5Diterate(
      all.data(), H5T_NATIVE_UINT64, extent,
      [](void* element, hid_t, unsigned, const hsize_t*, void* data) -> herr_t {
        static_cast<std::vector<std::uint64_t>*>(data)->push_back(*static_cast<std::uint64_t*>(element));
        return 0;
      },
      &out);
  return out;
}

void write_selected(const Id& set, const Id& file_space, const Id& dxpl, unsigned salt) {
  const std::vector<std::uint64_t> indices = selected(file_space);
  std::vector<int> values(std::max<std::size_t>(indices.size(), 1));
  for (std::size_t i = 0; i < indices.size(); ++i) values[i] = value_of(indices[i], salt);
  const Id memory = space({values.size()});
  if (indices.empty()) H5Sselect_none(memory);
  CHECK(H5Dwrite(set, H5T_NATIVE_INT, memory, file_space, dxpl, values.data()) >= 0);
}

void check_selected(const Id& set, const Id& file_space, const Id& dxpl, unsigned salt) {
  const std::vector<std::uint64_t> indices = selected(file_space);
  std::vector<int> values(std::max<std::size_t>(indices.size(), 1), -1);
  const Id memory = space({values.size()});
  if (indices.empty()) H5Sselect_none(memory);
  CHECK(H5Dread(set, H5T_NATIVE_INT, memory, file_space, dxpl, values.data()) >= 0);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) wrong += values[i] != value_of(indices[i], salt) ? 1 : 0;
  if (!CHECK(wrong == 0)) std::fprintf(stderr, "  %zu of %zu elements are wrong\n", wrong, indices.size());
}

int run_all(int argc, char** argv) {
  Run run;
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  std::vector<std::string> configs;
  std::string only;
  bool verbose = false;
  std::string directory = ".";
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--hints" && i + 1 < argc) {
      // Commas for semicolons, and a word for nothing: build systems and shells mangle those.
      std::string hints = argv[++i];
      std::replace(hints.begin(), hints.end(), ',', ';');
      configs.push_back(hints == "default" ? "" : hints);
    }
    if (arg == "--only" && i + 1 < argc) only = argv[++i];
    if (arg == "--dir" && i + 1 < argc) directory = argv[++i];
    if (arg == "--verbose") verbose = true;
  }
  if (configs.empty()) configs.emplace_back("");
  int ran = 0;
  for (const Case& test : cases()) {
    if (!only.empty() && only != test.name) continue;
    ++ran;
    const std::string stock = directory + "/" + test.name + ".stock.h5";
    Run stock_run = run;
    stock_run.path = stock;
    const double begin = MPI_Wtime();
    run_case(test, stock_run);
    const double middle = MPI_Wtime();
    for (const std::string& hints : configs) {
      Run ours = run;
      ours.forebay = true;
      ours.hints = hints;
      ours.path = directory + "/" + test.name + ".forebay.h5";
      run_case(test, ours);
      if (run.rank == 0 && !bytes_of(stock).empty()) {
        if (test.whole_file) {
          compare_files(stock, ours.path);
        }
        compare_contents(stock, ours.path);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      if (run.rank == 0) std::remove(ours.path.c_str());
    }
    if (run.rank == 0) std::remove(stock.c_str());
    if (verbose && run.rank == 0) {
      std::printf("%-32s stock %.3f s, forebay %.3f s\n", test.name, middle - begin,
                  (MPI_Wtime() - middle) / static_cast<double>(configs.size()));
      std::fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (run.rank == 0) std::printf("%d cases, %d failures\n", ran, all);
  return all == 0 && ran > 0 ? 0 : 1;
}

}  // namespace test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int result = test::run_all(argc, argv);
  MPI_Finalize();
  return result;
}
