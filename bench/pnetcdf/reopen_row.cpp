// Programs that open a file for little: one put between create and close; or, as LAMMPS does, a frame between
// open and close, an array a call and a component of positions and velocities a call.
#include "boxes.hpp"

namespace forebay::bench {
namespace {

class OpenCloseRow final : public PnetcdfRow {
 public:
  explicit OpenCloseRow(const Setting& setting) : setting_(setting), values_(256) {
    count(1, 4 * length());
    fill_values(std::as_writable_bytes(std::span(values_)), static_cast<std::uint64_t>(setting.rank) + 1);
  }

  void define(int file) override {
    id_ =
        define_variable(file, "value", NC_FLOAT, define_dimensions(file, {{"x", length() * setting_.ranks}}));
  }

  void transfer(int file, Way) override {
    const MPI_Offset start = length() * setting_.rank, count = length();
    check(ncmpi_put_vara_float_all(file, id_, &start, &count, values_.data()), "ncmpi_put_vara_float_all");
  }

 private:
  std::int64_t length() const { return static_cast<std::int64_t>(values_.size()); }

  Setting setting_;
  std::vector<float> values_;
  int id_ = -1;
};

// A rank has a block of the atoms, or, `cyclic`, every so manieth of them.
class ReopenRow final : public Row {
 public:
  ReopenRow(const Setting& setting, bool cyclic)
      : frames_(by_size(setting.size, 2, 5, 21, 21)), atoms_(setting.size == Size::Tiny ? 30 : 13500) {
    const Range block = part_of(atoms_, setting.rank, setting.ranks);
    first_ = cyclic ? setting.rank : block.begin;
    step_ = cyclic ? setting.ranks : 1;
    mine_ = cyclic ? (atoms_ + setting.ranks - 1 - setting.rank) / setting.ranks : block.length();
    count(frames_ * mine_ * (columns - scalars), 4);
    if (cyclic) {
      count(frames_ * mine_ * scalars, 4);
    } else {
      count(frames_ * scalars, 4 * mine_);
    }
    values_.resize(static_cast<std::size_t>(frames_ * mine_ * columns));
    fill_values(std::as_writable_bytes(std::span(values_)), static_cast<std::uint64_t>(setting.rank) + 1);
  }

  void create(const std::string& path, MPI_Info info) override {
    path_ = path;
    info_ = info;
    check(ncmpi_create(MPI_COMM_WORLD, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, info, &file_),
          "ncmpi_create");
    const std::vector<int> dims =
        define_dimensions(file_, {{"frame", NC_UNLIMITED}, {"atom", atoms_}, {"spatial", 3}});
    for (const char* name : {"id", "type"})
      ids_.push_back(define_variable(file_, name, NC_FLOAT, {dims[0], dims[1]}));
    for (const char* name : {"coordinates", "velocities"})
      ids_.push_back(define_variable(file_, name, NC_FLOAT, dims));
    check(ncmpi_enddef(file_), "ncmpi_enddef");
  }

  void write() override {
    const float* from = values_.data();
    for (int frame = 0; frame < frames_; ++frame) {
      close();
      check(ncmpi_open(MPI_COMM_WORLD, path_.c_str(), NC_WRITE, info_, &file_), "ncmpi_open");
      for (int column = 0; column < columns; ++column, from += mine_) {
        const int variable = column < scalars ? column : scalars + (column - scalars) / 3;
        const MPI_Offset start[] = {frame, first_, column < scalars ? 0 : (column - scalars) % 3},
                         count[] = {1, mine_, 1}, stride[] = {1, step_, 3};
        check(ncmpi_put_vars_float_all(file_, ids_[static_cast<std::size_t>(variable)], start, count, stride,
                                       from),
              "ncmpi_put_vars_float_all");
      }
    }
  }

  void close() override { check(ncmpi_close(file_), "ncmpi_close"); }

 private:
  static constexpr int scalars = 2, columns = 8;

  int frames_;
  std::int64_t atoms_, first_, step_, mine_;
  std::vector<float> values_;
  std::string path_;
  MPI_Info info_ = MPI_INFO_NULL;
  std::vector<int> ids_;
  int file_ = -1;
};

}  // namespace

std::unique_ptr<Row> make_open_close_row(const Setting& setting) {
  return std::make_unique<OpenCloseRow>(setting);
}

std::unique_ptr<Row> make_reopen_row(const Setting& setting, bool cyclic) {
  return std::make_unique<ReopenRow>(setting, cyclic);
}

}  // namespace forebay::bench
