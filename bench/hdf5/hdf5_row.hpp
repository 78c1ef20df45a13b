// A row that is written through plain parallel HDF5: its datasets, and what this rank writes into them.
#pragma once

#include <hdf5.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decomposition.hpp"
#include "form.hpp"
#include "hdf5_id.hpp"
#include "row.hpp"

namespace forebay::bench {

// Dataspaces and property lists are made when the row is made, as are buffers. What is written belongs to a
// call: in the form `multi` that is one H5Dwrite_multi, in the others an H5Dwrite for each dataset.
class Hdf5Row : public Row {
 public:
  void create(const std::string& path, MPI_Info info) final;
  void write() final { transfer(Way::Write, values_.data()); }
  void close() final;
  void open(const std::string& path, MPI_Info info) final;
  void read() final { transfer(Way::Read, got_.data()); }
  bool same() const final { return all_read(values_, got_, bytes()); }

 protected:
  explicit Hdf5Row(const Form& form);

  // Contiguous, or as `creation` says, an index of what add_layout gave.
  std::size_t add_dataset(std::string name, hid_t type, std::vector<hsize_t> shape, std::size_t creation = 0);
  // Chunks of that shape, each deflated where `level` is not 0.
  std::size_t add_layout(const std::vector<hsize_t>& chunk, unsigned level);
  // A text, of that dataset or of the file.
  void add_attribute(std::size_t dataset, const std::string& name, const std::string& text) {
    datasets_[dataset].attributes.emplace_back(name, text);
  }
  void add_attribute(const std::string& name, const std::string& text) {
    attributes_.emplace_back(name, text);
  }
  // One write of `pieces` contiguous parts of the file; `selection` in the dataset's space, of which several
  // may make use. Where its values will be, as place() takes it.
  std::size_t add_write(std::size_t dataset, std::shared_ptr<Hdf5Id> selection, std::int64_t pieces);
  void next_call() { ++call_; }
  // After the last write: the values. Each 8 bytes come `times` times.
  void fill(const Setting& setting, std::int64_t times = 1);
  std::byte* place(std::size_t write) { return values_.data() + write; }

 private:
  using Attributes = std::vector<std::pair<std::string, std::string>>;
  struct Dataset {
    std::string name;
    hid_t type;
    std::vector<hsize_t> shape;
    std::size_t creation;
    Hdf5Id id = {};
    Attributes attributes = {};
  };
  struct Write {
    std::size_t dataset, call;
    std::shared_ptr<Hdf5Id> selection;
    Hdf5Id memory;
    std::size_t begin;  // in values_
  };

  enum class Way { Write, Read };
  Hdf5Id access(MPI_Info info) const;
  void transfer(Way way, std::byte* values);

  Form form_;
  Hdf5Id transfer_, file_;
  std::vector<Hdf5Id> creations_;
  Attributes attributes_;
  std::vector<Dataset> datasets_;
  std::vector<Write> writes_;
  std::size_t call_ = 0, total_ = 0;
  std::vector<std::byte> values_, got_;
};

// Throws std::runtime_error where there is none of that name. `f_map` is recorded, or empty: a generated one.
std::unique_ptr<Row> make_hdf5_row(std::string_view name, const Setting& setting, const Form& form,
                                   const std::string& f_map);

// By file.
std::unique_ptr<Row> make_datasets_row(const Setting& setting, const Form& form);
std::unique_ptr<Row> make_stride_row(const Setting& setting, const Form& form, int doubles);
// `dimensions` 2 or 3, `level` of deflate; `chunked` in chunks that the blocks do not respect.
struct Blocks {
  int dimensions, variables;
  std::int64_t edge;  // of the whole array where it is chunked, else of each rank's block
  bool chunked = false;
  unsigned level = 0;
};
std::unique_ptr<Row> make_block_row(const Setting& setting, const Form& form, const Blocks& blocks);
std::unique_ptr<Row> make_f_row(const Setting& setting, const Form& form, const std::string& map);
// All of a history file with its attributes; its values are those of make_values.
std::unique_ptr<Row> make_history_row(const Setting& setting, const Form& form,
                                      std::vector<Decomposition> over, std::int64_t records);
std::unique_ptr<Row> make_amr_row(const Setting& setting, const Form& form);
std::unique_ptr<Row> make_small_row(const Setting& setting, const Form& form);
// One dataset, some of it a call: `independent` in any form, or with gaps that nobody writes.
std::unique_ptr<Row> make_calls_row(const Setting& setting, const Form& form, bool independent);

}  // namespace forebay::bench
