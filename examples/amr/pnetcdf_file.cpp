// The checkpoint as one netCDF file in 64-bit data format: a variable for each array of each level, of all
// trees behind each other, and the sizes of the trees. Each rank posts its segments of each; one wait moves
// all. Knows nothing of Forebay.
#include <fmt/format.h>
#include <pnetcdf.h>

#include <optional>

#include "access.hpp"
#include "agree.hpp"
#include "checkpoint.hpp"

namespace amr {
namespace {

// Parts of variables: a run of rows a segment, each row `width` elements (or one, for 0).
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

// The share's rows of the table of trees.
Runs table_runs(const Domain& domain, const Share& share) {
  Runs runs(deepest);
  for (const int segment : share.segments()) runs.add(domain.begin(segment), domain.length(segment));
  return runs;
}

// The share's octs of a level, in each of its variables.
Runs runs_of(const Share& share, const Layout& layout, int level) {
  Runs runs;
  for (const int segment : share.segments())
    runs.add(layout.before(level, segment),
             layout.before(level, segment + 1) - layout.before(level, segment));
  return runs;
}

using LevelRuns = std::array<Runs, deepest + 1>;

LevelRuns runs_of(const Share& share, const Layout& layout) {
  LevelRuns runs;
  for (int level = 0; level <= deepest; ++level)
    runs[static_cast<std::size_t>(level)] = runs_of(share, layout, level);
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

// Moves what `post` posts, where no rank fails in that: the wait is one for all ranks.
template <class Post>
void move(MPI_Comm comm, NetcdfFile& file, const Post& post) {
  together(comm, post);
  together(comm, [&] { file.wait(); });
}

class NetcdfWriter final : public CheckpointWriter {
 public:
  NetcdfWriter(MPI_Comm comm, const std::string& path, const State& state, const Layout& layout)
      : comm_(comm), state_(state), layout_(layout) {
    together(comm_, [&] {
      file_.emplace(comm_, path, Access::write);
      define();
      select();
    });
  }

  void put() override {
    move(comm_, *file_, [&] {
      file_->put(segments_, false, segment_runs_, lengths_.data());
      file_->put(octs_, false, table_runs_, counts_.data());
      std::size_t next = 0;
      for_each_variable(state_.mesh, layout_, [&](const Array& array) {
        file_->put(arrays_[next++], array.real(), level_runs_[static_cast<std::size_t>(array.level)],
                   array.data);
      });
    });
  }
  void close() override {
    together(comm_, [&] { file_->close(); });
  }

 private:
  void define() {
    const Domain& domain = state_.domain;
    file_->put_attribute("version", format_version);
    file_->put_attribute("levels", deepest);
    file_->put_attribute("variables", variables);
    file_->put_attribute("step", state_.mesh.step);
    file_->put_attribute("digest", std::bit_cast<std::int64_t>(state_.digest));
    file_->put_attribute("segments", domain.segments());
    file_->put_attribute("root_cells", domain.roots());
    const int roots = file_->dimension("root_cell", domain.roots());
    segments_ = file_->define("segments", false, {file_->dimension("segment", domain.segments())});
    octs_ = file_->define("octs", false, {roots, file_->dimension("level", deepest)});
    std::array<int, deepest + 1> of_level{roots};
    for (int level = 1; level <= deepest; ++level)
      if (layout_.octs(level) > 0)
        of_level[static_cast<std::size_t>(level)] =
            file_->dimension(fmt::format("level_{}_oct", level), layout_.octs(level));
    for_each_variable(state_.mesh, layout_, [&](const Array& array) {
      arrays_.push_back(file_->define(name_of(array.level, array.index), array.real(),
                                      {of_level[static_cast<std::size_t>(array.level)]}));
    });
    file_->end_definitions();
  }
  void select() {
    const Domain& domain = state_.domain;
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    for (int segment = 0; segment < domain.segments(); ++segment) lengths_.push_back(domain.length(segment));
    if (rank == 0) segment_runs_.add(0, domain.segments());
    counts_ = counts_of(state_.mesh);
    table_runs_ = table_runs(domain, state_.share);
    level_runs_ = runs_of(state_.share, layout_);
  }

  MPI_Comm comm_;
  State state_;
  Layout layout_;
  std::vector<std::int32_t> lengths_;
  Counts counts_;
  Runs segment_runs_, table_runs_;
  LevelRuns level_runs_;
  int segments_ = -1, octs_ = -1;
  std::vector<int> arrays_;  // the variables, in the order of for_each_variable
  std::optional<NetcdfFile> file_;
};

class NetcdfReader final : public CheckpointReader {
 public:
  NetcdfReader(MPI_Comm comm, const std::string& path) : comm_(comm) {
    get_segments(path);
    const Counts counts = get_counts();
    layout_.emplace(comm_, *restart_.domain, *restart_.share, counts);
    together(comm_, [&] {
      restart_.mesh = make_mesh(*restart_.domain, *restart_.share, counts);
      for_each_variable(restart_.mesh, *layout_, [&](const Array& array) {
        arrays_.push_back(file_->find(name_of(array.level, array.index), layout_->octs(array.level)));
      });
      level_runs_ = runs_of(*restart_.share, *layout_);
      restart_.mesh.step = file_->attribute("step");
      restart_.digest = std::bit_cast<std::uint64_t>(file_->attribute("digest"));
    });
  }

  void get() override {
    move(comm_, *file_, [&] {
      std::size_t next = 0;
      for_each_variable(restart_.mesh, *layout_, [&](const Array& array) {
        file_->get(arrays_[next++], array.real(), level_runs_[static_cast<std::size_t>(array.level)],
                   array.data);
      });
    });
  }
  void close() override {
    together(comm_, [&] { file_->close(); });
  }

 private:
  // What has to be so, and whose the segments are.
  void get_segments(const std::string& path) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &ranks);
    std::vector<std::int32_t> lengths;
    std::int64_t roots = 0;
    together(comm_, [&] {
      file_.emplace(comm_, path, Access::read);
      check_header(path, file_->attribute("version"), file_->attribute("levels"),
                   file_->attribute("variables"));
      roots = file_->attribute("root_cells");
    });
    move(comm_, *file_, [&] {
      const std::int64_t segments = file_->attribute("segments");
      lengths.resize(static_cast<std::size_t>(segments));
      Runs all;
      all.add(0, segments);
      file_->get(file_->find("segments", segments), false, all, lengths.data());
    });
    together(comm_, [&] {
      restart_.domain = make_domain(path, lengths, roots);
      restart_.share = std::make_unique<Share>(*restart_.domain, rank, ranks);
    });
  }
  Counts get_counts() {
    Counts counts;
    move(comm_, *file_, [&] {
      counts.resize(static_cast<std::size_t>(restart_.share->trees()) * deepest);
      Runs rows = table_runs(*restart_.domain, *restart_.share);
      file_->get(file_->find("octs", restart_.domain->roots()), false, rows, counts.data());
    });
    return counts;
  }

  MPI_Comm comm_;
  std::optional<Layout> layout_;
  LevelRuns level_runs_;
  std::vector<int> arrays_;  // the variables, in the order of for_each_variable
  std::optional<NetcdfFile> file_;
};

}  // namespace

std::unique_ptr<CheckpointWriter> create_pnetcdf(MPI_Comm comm, const std::string& path, const State& state,
                                                 const Layout& layout) {
  return std::make_unique<NetcdfWriter>(comm, path, state, layout);
}

std::unique_ptr<CheckpointReader> open_pnetcdf(MPI_Comm comm, const std::string& path) {
  return std::make_unique<NetcdfReader>(comm, path);
}

}  // namespace amr
