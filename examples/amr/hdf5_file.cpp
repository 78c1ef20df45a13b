// The checkpoint as one HDF5 file: a data set for each array of each level, of all trees behind each other,
// and the sizes of the trees. Each rank selects its segments in it. Knows nothing of Forebay.
#include <optional>

#include "checkpoint.hpp"
#include "hdf5_sets.hpp"

namespace amr {
namespace {

using Runs = std::vector<std::pair<hsize_t, hsize_t>>;

Runs all_rows(std::int64_t rows) {
  return {{0, static_cast<hsize_t>(rows)}};
}

// The share's root cells, a run a segment.
Runs root_runs(const Domain& domain, const Share& share) {
  Runs runs;
  for (const int segment : share.segments())
    runs.emplace_back(static_cast<hsize_t>(domain.begin(segment)),
                      static_cast<hsize_t>(domain.length(segment)));
  return runs;
}

// The share's octs of a level in the level's data sets, a run a segment.
Runs runs_of(const Share& share, const Layout& layout, int level) {
  Runs runs;
  for (const int segment : share.segments()) {
    const std::int64_t first = layout.before(level, segment),
                       octs = layout.before(level, segment + 1) - first;
    if (octs > 0) runs.emplace_back(static_cast<hsize_t>(first), static_cast<hsize_t>(octs));
  }
  return runs;
}

using Shape = std::vector<hsize_t>;

Shape shape(std::int64_t rows) {
  return {static_cast<hsize_t>(rows)};
}
Shape counts_shape(std::int64_t roots) {
  return {static_cast<hsize_t>(roots), deepest};
}

std::string name_of(int level, int index) {
  return fmt::format("level_{}/{}", level, array_name(level, index));
}

// Has body(name, type in the file, shape) make or open the data set of each array, and adds the array of all
// the rank's trees.
template <class Body>
void add_arrays(Hdf5Sets& sets, const Mesh& mesh, const Share& share, const Layout& layout,
                const Body& body) {
  for (int level = 0; level <= deepest; ++level) {
    if (layout.octs(level) == 0) continue;
    const Shape octs = shape(layout.octs(level));
    const Hdf5Sets::Selection selection = sets.select(octs, runs_of(share, layout, level));
    for (int index = 0; index < arrays_of(level); ++index) {
      const Array array =
          array_of(mesh, level, index, 0, mesh.levels[static_cast<std::size_t>(level)].octs());
      body(name_of(level, index), array.real() ? H5T_IEEE_F64LE : H5T_STD_I32LE, octs);
      sets.add(array.real() ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32, selection, array.data);
    }
  }
}

class Hdf5Writer final : public CheckpointWriter {
 public:
  Hdf5Writer(MPI_Comm comm, bool multi, const std::string& path, const State& state, const Layout& layout)
      : comm_(comm) {
    together(comm_, [&] {
      sets_.emplace(comm_, multi, path, Access::write);
      put_attributes(state);
      define(state, layout);
    });
  }

  void put() override {
    together(comm_, [&] { sets_->move(Hdf5Sets::Direction::put); });
  }
  void close() override {
    together(comm_, [&] { sets_->close(); });
  }

 private:
  void put_attributes(const State& state) {
    sets_->put_attribute("version", H5T_NATIVE_INT64, std::int64_t{format_version});
    sets_->put_attribute("levels", H5T_NATIVE_INT64, std::int64_t{deepest});
    sets_->put_attribute("variables", H5T_NATIVE_INT64, std::int64_t{variables});
    sets_->put_attribute("segments", H5T_NATIVE_INT64, std::int64_t{state.domain.segments()});
    sets_->put_attribute("root_cells", H5T_NATIVE_INT64, std::int64_t{state.domain.roots()});
    sets_->put_attribute("step", H5T_NATIVE_INT64, state.mesh.step);
    sets_->put_attribute("digest", H5T_NATIVE_UINT64, state.digest);
  }
  void define(const State& state, const Layout& layout) {
    const Domain& domain = state.domain;
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    for (int segment = 0; segment < domain.segments(); ++segment) lengths_.push_back(domain.length(segment));
    const Shape segments = shape(domain.segments()), counts = counts_shape(domain.roots());
    sets_->make_dataset("segments", H5T_STD_I32LE, segments);
    sets_->add(H5T_NATIVE_INT32, sets_->select(segments, rank == 0 ? all_rows(domain.segments()) : Runs{}),
               lengths_.data());
    counts_ = counts_of(state.mesh);
    sets_->make_dataset("octs", H5T_STD_I32LE, counts);
    sets_->add(H5T_NATIVE_INT32, sets_->select(counts, root_runs(domain, state.share)), counts_.data());
    for (int level = 0; level <= deepest; ++level)
      if (layout.octs(level) > 0) sets_->make_group(fmt::format("level_{}", level));
    add_arrays(*sets_, state.mesh, state.share, layout,
               [&](const std::string& name, hid_t type, const Shape& octs) {
                 sets_->make_dataset(name, type, octs);
               });
  }

  MPI_Comm comm_;
  std::vector<std::int32_t> lengths_;
  Counts counts_;
  std::optional<Hdf5Sets> sets_;
};

class Hdf5Reader final : public CheckpointReader {
 public:
  Hdf5Reader(MPI_Comm comm, bool multi, const std::string& path) : comm_(comm) {
    get_head(multi, path);
    const Counts counts = get_counts();
    const Layout layout(comm_, *restart_.domain, *restart_.share, counts);
    together(comm_, [&] { restart_.mesh = make_mesh(*restart_.domain, *restart_.share, counts); });
    together(comm_, [&] {
      restart_.mesh.step = sets_->attribute("step");
      restart_.digest = sets_->attribute_unsigned("digest");
      add_arrays(*sets_, restart_.mesh, *restart_.share, layout,
                 [&](const std::string& name, hid_t, const Shape& octs) { sets_->open_dataset(name, octs); });
    });
  }

  void get() override {
    together(comm_, [&] { sets_->move(Hdf5Sets::Direction::get); });
  }
  void close() override {
    together(comm_, [&] { sets_->close(); });
  }

 private:
  // What has to be so, and whose the segments are.
  void get_head(bool multi, const std::string& path) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &ranks);
    std::vector<std::int32_t> lengths;
    std::int64_t roots = 0;
    together(comm_, [&] {
      sets_.emplace(comm_, multi, path, Access::read);
      check_header(path, sets_->attribute("version"), sets_->attribute("levels"),
                   sets_->attribute("variables"));
      roots = sets_->attribute("root_cells");
      const std::int64_t segments = sets_->attribute("segments");
      lengths.resize(static_cast<std::size_t>(segments));
      sets_->open_dataset("segments", shape(segments));
      sets_->add(H5T_NATIVE_INT32, sets_->select(shape(segments), all_rows(segments)), lengths.data());
      sets_->move(Hdf5Sets::Direction::get);
    });
    together(comm_, [&] {
      restart_.domain = make_domain(path, lengths, roots);
      restart_.share = std::make_unique<Share>(*restart_.domain, rank, ranks);
    });
  }
  Counts get_counts() {
    Counts counts(static_cast<std::size_t>(restart_.share->trees()) * deepest);
    together(comm_, [&] {
      const Shape shape = counts_shape(restart_.domain->roots());
      sets_->open_dataset("octs", shape);
      sets_->add(H5T_NATIVE_INT32, sets_->select(shape, root_runs(*restart_.domain, *restart_.share)),
                 counts.data());
      sets_->move(Hdf5Sets::Direction::get);
    });
    return counts;
  }

  MPI_Comm comm_;
  std::optional<Hdf5Sets> sets_;
};

}  // namespace

std::unique_ptr<CheckpointWriter> create_hdf5(MPI_Comm comm, bool multi, const std::string& path,
                                              const State& state, const Layout& layout) {
  return std::make_unique<Hdf5Writer>(comm, multi, path, state, layout);
}

std::unique_ptr<CheckpointReader> open_hdf5(MPI_Comm comm, bool multi, const std::string& path) {
  return std::make_unique<Hdf5Reader>(comm, multi, path);
}

}  // namespace amr
