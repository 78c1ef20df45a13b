// The checkpoint as one netCDF file in 64-bit data format: a variable for each array of each level, of all
// trees behind each other, and the sizes of the trees. Each rank posts its segments of each; one wait moves
// all. Knows nothing of Forebay.
#include <fmt/format.h>
#include <pnetcdf.h>

#include "access.hpp"
#include "agree.hpp"
#include "checkpoint.hpp"

namespace amr {
namespace {

// Parts of a variable: a run of rows a segment, each row `width` elements (or one, for 0).
class Runs {
 public:
  explicit Runs(int width = 0) : width_(width) {}
  void add(std::int64_t first, std::int64_t rows) {
    if (rows == 0) return;
    starts_.push_back({first, 0}), counts_.push_back({rows, width_});
    elements_ += rows * (width_ == 0 ? 1 : width_);
  }
  int number() const { return static_cast<int>(starts_.size()); }
  MPI_Offset elements() const { return elements_; }
  // As PnetCDF takes them; valid until the next add.
  MPI_Offset** starts() { return pointers(starts_, start_pointers_); }
  MPI_Offset** counts() { return pointers(counts_, count_pointers_); }

 private:
  using Corners = std::vector<std::array<MPI_Offset, 2>>;
  static MPI_Offset** pointers(Corners& corners, std::vector<MPI_Offset*>& to) {
    to.clear();
    for (auto& corner : corners) to.push_back(corner.data());
    return to.data();
  }
  MPI_Offset width_, elements_ = 0;
  Corners starts_, counts_;
  std::vector<MPI_Offset*> start_pointers_, count_pointers_;
};

Runs runs_of(const Share& share, const Layout& layout, int level, int width = 0) {
  Runs runs(width);
  for (const int segment : share.segments())
    runs.add(layout.before(level, segment),
             layout.before(level, segment + 1) - layout.before(level, segment));
  return runs;
}

std::string name_of(int level, int index) {
  return fmt::format("level_{}_{}", level, array_name(level, index));
}

class NetcdfFile {
 public:
  NetcdfFile(MPI_Comm comm, std::string path, Access access) : path_(std::move(path)) {
    check(access == Access::write
              ? ncmpi_create(comm, path_.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &id_)
              : ncmpi_open(comm, path_.c_str(), NC_NOWRITE, MPI_INFO_NULL, &id_));
    open_ = true;
  }
  NetcdfFile(const NetcdfFile&) = delete;
  NetcdfFile& operator=(const NetcdfFile&) = delete;
  ~NetcdfFile() {
    if (open_) ncmpi_close(id_);
  }

  void put_attribute(const char* name, std::int64_t value) {
    const long long number = value;
    check(ncmpi_put_att_longlong(id_, NC_GLOBAL, name, NC_INT64, 1, &number));
  }
  std::int64_t attribute(const char* name) {
    long long value = 0;
    check(ncmpi_get_att_longlong(id_, NC_GLOBAL, name, &value), name);
    return value;
  }
  int dimension(const std::string& name, std::int64_t length) {
    int id = -1;
    check(ncmpi_def_dim(id_, name.c_str(), length, &id), name);
    return id;
  }
  int define(const std::string& name, bool real, const std::vector<int>& dimensions) {
    int id = -1;
    check(ncmpi_def_var(id_, name.c_str(), real ? NC_DOUBLE : NC_INT, static_cast<int>(dimensions.size()),
                        dimensions.data(), &id),
          name);
    return id;
  }
  void end_definitions() { check(ncmpi_enddef(id_)); }

  // The variable, whose rows have to be so many.
  int find(const std::string& name, std::int64_t rows) {
    int id = -1, number = 0;
    MPI_Offset found = 1;  // of a scalar
    check(ncmpi_inq_varid(id_, name.c_str(), &id), name);
    check(ncmpi_inq_varndims(id_, id, &number), name);
    std::vector<int> dimensions(static_cast<std::size_t>(number));
    check(ncmpi_inq_vardimid(id_, id, dimensions.data()), name);
    if (number > 0) check(ncmpi_inq_dimlen(id_, dimensions[0], &found), name);
    if (found != rows) throw Failure(fmt::format("{}: {}: {} rows instead of {}", path_, name, found, rows));
    return id;
  }

  void put(int variable, bool real, Runs& runs, const void* data) {
    if (runs.number() > 0)
      check(ncmpi_iput_varn(id_, variable, runs.number(), runs.starts(), runs.counts(), data, runs.elements(),
                            real ? MPI_DOUBLE : MPI_INT, nullptr));
  }
  void get(int variable, bool real, Runs& runs, void* data) {
    if (runs.number() > 0)
      check(ncmpi_iget_varn(id_, variable, runs.number(), runs.starts(), runs.counts(), data, runs.elements(),
                            real ? MPI_DOUBLE : MPI_INT, nullptr));
  }
  void wait() { check(ncmpi_wait_all(id_, NC_REQ_ALL, nullptr, nullptr)); }
  void close() {
    open_ = false;
    check(ncmpi_close(id_));
  }

 private:
  void check(int status, const std::string& name = {}) const {
    if (status != NC_NOERR)
      throw Failure(fmt::format("{}: {}{}{}", path_, name, name.empty() ? "" : ": ", ncmpi_strerror(status)));
  }

  std::string path_;
  int id_ = -1;
  bool open_ = false;
};

// Calls body(array of all the rank's trees) for all arrays of levels that there are.
template <class Body>
void for_each_variable(const Mesh& mesh, const Layout& layout, const Body& body) {
  for (int level = 0; level <= deepest; ++level)
    for (int index = 0; layout.octs(level) > 0 && index < arrays_of(level); ++index)
      body(array_of(mesh, level, index, 0, mesh.levels[static_cast<std::size_t>(level)].octs()));
}

void write(NetcdfFile& file, const State& state, const Layout& layout, int rank) {
  const Domain& domain = state.domain;
  file.put_attribute("version", format_version);
  file.put_attribute("levels", deepest);
  file.put_attribute("variables", variables);
  file.put_attribute("step", state.mesh.step);
  file.put_attribute("digest", std::bit_cast<std::int64_t>(state.digest));
  file.put_attribute("segments", domain.segments());
  file.put_attribute("root_cells", domain.roots());
  const int roots = file.dimension("root_cell", domain.roots());
  const int segments = file.define("segments", false, {file.dimension("segment", domain.segments())});
  const int octs = file.define("octs", false, {roots, file.dimension("level", deepest)});
  std::array<int, deepest + 1> of_level{roots};
  for (int level = 1; level <= deepest; ++level)
    if (layout.octs(level) > 0)
      of_level[static_cast<std::size_t>(level)] =
          file.dimension(fmt::format("level_{}_oct", level), layout.octs(level));
  std::vector<int> variable;
  for_each_variable(state.mesh, layout, [&](const Array& array) {
    variable.push_back(file.define(name_of(array.level, array.index), array.real(),
                                   {of_level[static_cast<std::size_t>(array.level)]}));
  });
  file.end_definitions();

  std::vector<std::int32_t> lengths;
  for (int segment = 0; segment < domain.segments(); ++segment) lengths.push_back(domain.length(segment));
  Runs all;
  if (rank == 0) all.add(0, domain.segments());
  file.put(segments, false, all, lengths.data());
  const Counts counts = counts_of(state.mesh);
  Runs rows = runs_of(state.share, layout, 0, deepest);
  file.put(octs, false, rows, counts.data());
  std::size_t next = 0;
  for_each_variable(state.mesh, layout, [&](const Array& array) {
    Runs runs = runs_of(state.share, layout, array.level);
    file.put(variable[next++], array.real(), runs, array.data);
  });
  file.wait();
  file.close();
}

}  // namespace

void write_pnetcdf(MPI_Comm comm, const std::string& path, const State& state, const Layout& layout) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  together(comm, [&] {
    NetcdfFile file(comm, path, Access::write);
    write(file, state, layout, rank);
  });
}

Restart read_pnetcdf(MPI_Comm comm, const std::string& path) {
  Restart restart;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::unique_ptr<NetcdfFile> file;
  Counts counts;
  together(comm, [&] {
    file = std::make_unique<NetcdfFile>(comm, path, Access::read);
    check_header(path, file->attribute("version"), file->attribute("levels"), file->attribute("variables"));
    const std::int64_t segments = file->attribute("segments"), roots = file->attribute("root_cells");
    const int lengths_id = file->find("segments", segments), octs = file->find("octs", roots);
    std::vector<std::int32_t> lengths(static_cast<std::size_t>(segments));
    Runs all;
    all.add(0, segments);
    file->get(lengths_id, false, all, lengths.data());
    file->wait();
    restart.domain = make_domain(path, lengths, roots);
    restart.share = std::make_unique<Share>(*restart.domain, rank, ranks);
    counts.resize(static_cast<std::size_t>(restart.share->trees()) * deepest);
    Runs rows(deepest);
    for (const int segment : restart.share->segments())
      rows.add(restart.domain->begin(segment), restart.domain->length(segment));
    file->get(octs, false, rows, counts.data());
    file->wait();
  });
  const Layout layout(comm, *restart.domain, *restart.share, counts);
  together(comm, [&] {
    restart.mesh = make_mesh(*restart.domain, *restart.share, counts);
    for_each_variable(restart.mesh, layout, [&](const Array& array) {
      Runs runs = runs_of(*restart.share, layout, array.level);
      file->get(file->find(name_of(array.level, array.index), layout.octs(array.level)), array.real(), runs,
                array.data);
    });
    file->wait();
    restart.mesh.step = file->attribute("step");
    restart.digest = std::bit_cast<std::uint64_t>(file->attribute("digest"));
    file->close();
  });
  return restart;
}

}  // namespace amr
