// A row that makes a program's calls to HDF5. What such programs have in common is here; what each of them
// does with it is in its own file.
#pragma once

#include <hdf5.h>

#include <span>
#include <string>
#include <vector>

#include "hdf5_id.hpp"
#include "row.hpp"

namespace forebay::bench {

using Dims = std::vector<hsize_t>;

// Sizes and selections are made when the program makes them, between the calls: its users wait for them, too.
class Hdf5Program : public Row {
 public:
  void create(const std::string& path, MPI_Info info) override;
  void close() final;

 protected:
  // `collective_metadata` is what no program does by itself; a peer asks for it.
  Hdf5Program(const Setting& setting, bool collective_metadata)
      : setting_(setting), collective_metadata_(collective_metadata) {}

  // In the constructor: every hyperslab that put() will write, `times`, in the array, or in its chunk, of
  // that shape; then fill().
  void expect(const Dims& shape, const Dims& count, hid_t type, std::int64_t times = 1);
  // Room for a put() of as many, where that is more than expect() was told of.
  void reserve(const Dims& count, hid_t type);
  void fill();

  virtual Hdf5Id file_creation() const { return Hdf5Id(H5Pcreate(H5P_FILE_CREATE), "H5Pcreate"); }
  // Without the time of creation, which no two files have in common; else HDF5's defaults.
  static Hdf5Id dataset_creation(const Dims& chunk = {});

  // Values of this rank, others with each call.
  void put(hid_t dataset, hid_t type, const Dims& start, const Dims& count, hid_t transfer) {
    put(dataset, type, start, count, transfer, count.size());
  }
  // The same, from memory of fewer dimensions.
  void put(hid_t dataset, hid_t type, const Dims& start, const Dims& count, hid_t transfer,
           std::size_t memory_dimensions);
  static void put_attribute(hid_t object, const char* name, hid_t type, const void* value);

  const Setting& setting() const { return setting_; }
  hid_t file() const { return file_; }

 private:
  Setting setting_;
  bool collective_metadata_;
  Hdf5Id file_;
  std::vector<std::byte> values_;
  std::size_t largest_ = 0, next_ = 0;
};

Hdf5Id make_space(const Dims& shape, const Dims& limit = {});
Hdf5Id make_transfer(H5FD_mpio_xfer_t mode);

// A rank's part of one dimension.
struct Slab {
  Slab(std::int64_t of, int part, int parts) {
    const Range range = part_of(of, part, parts);
    begin = static_cast<hsize_t>(range.begin);
    length = static_cast<hsize_t>(range.length());
  }
  hsize_t begin, length;
};

}  // namespace forebay::bench
