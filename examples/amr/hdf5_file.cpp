// The checkpoint as one HDF5 file: a data set for each array of each level, of all trees behind each other,
// and the sizes of the trees. Each rank selects its segments in it. Knows nothing of Forebay.
#include "checkpoint.hpp"
#include "hdf5_sets.hpp"

namespace amr {
namespace {

using Runs = std::vector<std::pair<hsize_t, hsize_t>>;

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

std::string name_of(int level, int index) {
  return fmt::format("level_{}/{}", level, array_name(level, index));
}

// Calls body(array of all the rank's trees, its type in the file, in memory, its rows' runs) for all arrays.
template <class Body>
void for_each_set(const Mesh& mesh, const Share& share, const Layout& layout, const Body& body) {
  for (int level = 0; level <= deepest; ++level) {
    if (layout.octs(level) == 0) continue;
    const Runs runs = runs_of(share, layout, level);
    for (int index = 0; index < arrays_of(level); ++index) {
      const Array array =
          array_of(mesh, level, index, 0, mesh.levels[static_cast<std::size_t>(level)].octs());
      if (array.real())
        body(array, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, runs);
      else
        body(array, H5T_STD_I32LE, H5T_NATIVE_INT32, runs);
    }
  }
}

std::vector<hsize_t> shape(std::int64_t a) {
  return {static_cast<hsize_t>(a)};
}

void write(Hdf5Sets& sets, const State& state, const Layout& layout, int rank) {
  const Domain& domain = state.domain;
  sets.put_attribute("version", H5T_NATIVE_INT64, std::int64_t{format_version});
  sets.put_attribute("levels", H5T_NATIVE_INT64, std::int64_t{deepest});
  sets.put_attribute("variables", H5T_NATIVE_INT64, std::int64_t{variables});
  sets.put_attribute("segments", H5T_NATIVE_INT64, std::int64_t{domain.segments()});
  sets.put_attribute("root_cells", H5T_NATIVE_INT64, std::int64_t{domain.roots()});
  sets.put_attribute("step", H5T_NATIVE_INT64, state.mesh.step);
  sets.put_attribute("digest", H5T_NATIVE_UINT64, state.digest);

  std::vector<std::int32_t> lengths;
  if (rank == 0)
    for (int segment = 0; segment < domain.segments(); ++segment) lengths.push_back(domain.length(segment));
  sets.make_dataset("segments", H5T_STD_I32LE, shape(domain.segments()));
  sets.add(H5T_NATIVE_INT32, rank == 0 ? Runs{{0, lengths.size()}} : Runs{}, {}, lengths.data());
  Counts counts = counts_of(state.mesh);
  sets.make_dataset("octs", H5T_STD_I32LE, {static_cast<hsize_t>(domain.roots()), deepest});
  sets.add(H5T_NATIVE_INT32, runs_of(state.share, layout, 0), {deepest}, counts.data());
  for (int level = 0; level <= deepest; ++level)
    if (layout.octs(level) > 0) sets.make_group(fmt::format("level_{}", level));
  for_each_set(state.mesh, state.share, layout,
               [&](const Array& array, hid_t in_file, hid_t in_memory, const Runs& runs) {
                 sets.make_dataset(name_of(array.level, array.index), in_file,
                                   shape(layout.octs(array.level)));
                 sets.add(in_memory, runs, {}, array.data);
               });
  sets.move(Hdf5Sets::Direction::put);
  sets.close();
}

}  // namespace

void write_hdf5(MPI_Comm comm, bool multi, const std::string& path, const State& state,
                const Layout& layout) {
  const Quiet quiet;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  together(comm, [&] {
    Hdf5Sets sets(comm, multi, path, Access::write);
    write(sets, state, layout, rank);
  });
}

Restart read_hdf5(MPI_Comm comm, bool multi, const std::string& path) {
  const Quiet quiet;
  Restart restart;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::unique_ptr<Hdf5Sets> sets;
  Counts counts;
  std::int64_t roots = 0;
  together(comm, [&] {
    sets = std::make_unique<Hdf5Sets>(comm, multi, path, Access::read);
    check_header(path, sets->attribute("version"), sets->attribute("levels"), sets->attribute("variables"));
    std::vector<std::int32_t> lengths(static_cast<std::size_t>(sets->attribute("segments")));
    roots = sets->attribute("root_cells");
    sets->open_dataset("segments", shape(static_cast<std::int64_t>(lengths.size())));
    sets->add(H5T_NATIVE_INT32, {{0, lengths.size()}}, {}, lengths.data());
    sets->move(Hdf5Sets::Direction::get);
    restart.domain = make_domain(path, lengths, roots);
    restart.share = std::make_unique<Share>(*restart.domain, rank, ranks);
    counts.resize(static_cast<std::size_t>(restart.share->trees()) * deepest);
    Runs rows;
    for (const int segment : restart.share->segments())
      rows.emplace_back(static_cast<hsize_t>(restart.domain->begin(segment)),
                        static_cast<hsize_t>(restart.domain->length(segment)));
    sets->open_dataset("octs", {static_cast<hsize_t>(roots), deepest});
    sets->add(H5T_NATIVE_INT32, rows, {deepest}, counts.data());
    sets->move(Hdf5Sets::Direction::get);
  });
  const Layout layout(comm, *restart.domain, *restart.share, counts);
  together(comm, [&] {
    restart.mesh = make_mesh(*restart.domain, *restart.share, counts);
    for_each_set(restart.mesh, *restart.share, layout,
                 [&](const Array& array, hid_t, hid_t in_memory, const Runs& runs) {
                   sets->open_dataset(name_of(array.level, array.index), shape(layout.octs(array.level)));
                   sets->add(in_memory, runs, {}, array.data);
                 });
    sets->move(Hdf5Sets::Direction::get);
    restart.mesh.step = sets->attribute("step");
    restart.digest = sets->attribute_unsigned("digest");
    sets->close();
  });
  return restart;
}

}  // namespace amr
