// Its files are compared as those of the benchmarks are, and stock's is held against the values.
#include "demo_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "hdf5/compare_files.hpp"
#include "pnetcdf/compare_files.hpp"
#include "results.hpp"

namespace forebay::bench {
namespace {

// What is compared has a launch of its own, as a program that writes one file: after a first file stock is
// faster, since malloc then keeps what is freed.
constexpr RowInfo demo_rows[] = {
    {"pnetcdf", "PnetCDF, iput_varn for each variable, one wait_all a record", true, true},
    {"hdf5", "HDF5, one H5Dwrite for each dataset", true, true},
    {"hdf5-multi", "HDF5, one H5Dwrite_multi a record", true, true},
};

// Files are named for their rows.
bool is_classic(const std::string& path) {
  return path.ends_with(".pnetcdf");
}

}  // namespace

DemoSubject::DemoSubject(Case of, std::int64_t records, int ranks) : of_(std::move(of)) {
  program = "forebay-demo";
  library = "PnetCDF";
  rows = demo_rows;
  const Cutter cut = open_case(of_);
  const std::vector<Decomposition> first = cut(0, ranks);
  columns_ = volume(first[0].shape);
  history_ = make_history(first, records);
  coverage_ = cover(cut, ranks);
}

std::string DemoSubject::title() const {
  return history_.title + ", " +
         (of_.map == "generated"
              ? fmt::format("generated: cubed sphere of {} columns, {} levels", columns_, of_.levels)
              : "recorded map " + std::filesystem::path(of_.map).filename().string());
}

std::vector<Peer> DemoSubject::peers(const std::string&, const std::string& romio) const {
  if (romio.empty())
    throw std::runtime_error("this Open MPI has no ROMIO, over which the reference is written");
  Peer forebay = forebay_peer("forebay", "");
  forebay.title = "forebay";
  Peer null = forebay;
  null.name = "forebay-null";
  null.title = "forebay, storage null";
  null.hints = {"forebay_storage=null"};
  null.compared = false;
  return {stock_peer("exact", "stock, ROMIO, every piece a write of its own: the file that all have to match",
                     romio, {"romio_cb_write=disable", "romio_ds_write=disable"}, true, Kind::Reference),
          stock_peer("romio", "stock, ROMIO", romio, {}, true),
          stock_peer("ompio", "stock, OMPIO", "ompio", {}, true), forebay, null};
}

std::int64_t DemoSubject::bytes_of_rows(Size, int) const {
  std::int64_t bytes = 0;
  for (const Variable& variable : history_.variables)
    bytes += volume(history_.shape(variable)) * static_cast<std::int64_t>(size_of(variable.type)) *
             (variable.record ? history_.records : 1);
  return bytes * static_cast<std::int64_t>(rows.size());
}

FileComparison DemoSubject::compare(const std::string& reference, const std::string& path) const {
  FileComparison found =
      is_classic(path) ? compare_files(reference, path) : compare_hdf5_values(reference, path);
  // A zero of the reference may be a value. Where every element was written, nothing may differ.
  if (std::all_of(coverage_.begin(), coverage_.end(), [](const Coverage& one) { return one.missing() == 0; }))
    found.differences += std::exchange(found.untouched, 0);
  return found;
}

void DemoSubject::check_reference(const std::string& path, std::int64_t) const {
  const Written written{history_, coverage_};
  const FileComparison held = is_classic(path) ? verify_pnetcdf(path, written) : verify_hdf5(path, written);
  if (!held.same())
    throw std::runtime_error(fmt::format(
        "does not hold what was written: {} elements differ, the first is {}", held.differences, held.first));
}

std::string DemoSubject::driver_of(const std::string& row) const {
  return library_of(row);
}

std::vector<std::string> DemoSubject::writer_options() const {
  return {"--map",     of_.map,
          "--ne",      std::to_string(of_.ne),
          "--levels",  std::to_string(of_.levels),
          "--records", std::to_string(history_.records)};
}

}  // namespace forebay::bench
