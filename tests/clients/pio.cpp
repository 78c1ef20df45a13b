// The way PIO writes: compute ranks' data rearranged onto a few I/O tasks, which alone open the file; start
// lists that are gone when the call returns; buffered and plain nonblocking puts, waited for in blocks of
// requests across frames; two files at once; never a sync.
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "client_log.hpp"
#include "pio_rearranger.hpp"

namespace {

using forebay::test::ClientLog;
using forebay::test::irregular_map;
using forebay::test::Rearranger;
using forebay::test::Region;
using std::size_t;

constexpr MPI_Offset levels = 6, columns = 131, frames = 3;
constexpr int fields = 5;            // the last has no levels
constexpr size_t block = 3;          // requests waited for at once
constexpr size_t regions_once = 25;  // regions a request

MPI_Offset levels_of(int field) {
  return field == fields - 1 ? 1 : levels;
}

double value_of(int field, MPI_Offset frame, MPI_Offset offset) {
  return static_cast<double>((field + 1) * 10000 + frame * 2000 + offset) * 0.25;
}

// What an I/O task does with one file.
class PioFile {
 public:
  PioFile(ClientLog& log, MPI_Comm io_comm, const std::string& path, int format, bool buffered)
      : log_(log), comm_(io_comm), buffered_(buffered) {
    MPI_Comm_rank(comm_, &task_);
    must("create", ncmpi_create(comm_, path.c_str(), NC_CLOBBER | format, MPI_INFO_NULL, &file_));
    int dims[3];
    must("def_dim", ncmpi_def_dim(file_, "time", NC_UNLIMITED, &dims[0]));
    must("def_dim", ncmpi_def_dim(file_, "lev", levels, &dims[1]));
    must("def_dim", ncmpi_def_dim(file_, "ncol", columns, &dims[2]));
    must("def_var", ncmpi_def_var(file_, "time", NC_DOUBLE, 1, dims, &time_));
    must("def_var", ncmpi_def_var(file_, "lev", NC_FLOAT, 1, dims + 1, &lev_));
    for (int f = 0; f < fields; ++f) {
      const int flat[2] = {dims[0], dims[2]};
      const bool deep = levels_of(f) > 1;
      must("def_var",
           ncmpi_def_var(file_, ("field" + std::to_string(f)).c_str(), f % 2 == 0 ? NC_FLOAT : NC_DOUBLE,
                         deep ? 3 : 2, deep ? dims : flat, &variables_[static_cast<size_t>(f)]));
    }
    must("enddef", ncmpi_enddef(file_));
    must("buffer_attach", ncmpi_buffer_attach(file_, 1 << 20));
  }

  // The first task alone puts what is not decomposed.
  void put_levels() {
    if (task_ == 0) {
      float values[levels];
      for (MPI_Offset l = 0; l < levels; ++l) values[l] = 1000.0f / static_cast<float>(l + 1);
      MPI_Offset start[1] = {0}, count[1] = {levels};
      int request = NC_REQ_NULL;
      must("bput_vara", ncmpi_bput_vara_float(file_, lev_, start, count, values, &request));
      requests_.push_back(request);
    }
  }
  void put_time(MPI_Offset frame) {
    if (task_ != 0) return;
    const double day = static_cast<double>(frame) * 0.125;
    MPI_Offset start[1] = {frame}, count[1] = {1};
    int request = NC_REQ_NULL;
    must("bput_vara", ncmpi_bput_vara_double(file_, time_, start, count, &day, &request));
    requests_.push_back(request);
  }

  // Doubles into whatever type the variable has; several requests where the regions are many.
  void put_field(int field, MPI_Offset frame, const std::vector<Region>& regions, std::vector<double> data) {
    const double* from = data.data();
    for (size_t first = 0; first < regions.size(); first += regions_once) {
      const size_t n = std::min(regions_once, regions.size() - first);
      from += put_regions(field, frame, &regions[first], n, from);
    }
    if (buffered_) {
      std::fill(data.begin(), data.end(), -1);  // it is a temporary
    } else {
      held_.push_back(std::move(data));  // its memory stays where it is
    }
  }

  // Waits for blocks of requests; the tasks have different numbers of them. Fewer than a block stay for
  // later, unless all must go.
  void flush(bool all) {
    size_t blocks = all ? (requests_.size() + block - 1) / block : requests_.size() / block;
    unsigned long most = blocks;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UNSIGNED_LONG, MPI_MAX, comm_);
    for (size_t b = 0; b < most; ++b) {
      std::array<int, block> now{}, statuses{};
      int n = 0;
      while (b < blocks && n < static_cast<int>(block) && !requests_.empty()) {
        now[static_cast<size_t>(n++)] = requests_.front();
        requests_.pop_front();
      }
      must("wait_all", ncmpi_wait_all(file_, n, now.data(), statuses.data()));
      for (int i = 0; i < n; ++i) must("status", statuses[static_cast<size_t>(i)]);
    }
    if (requests_.empty()) held_.clear();
  }

  void close() {
    flush(true);
    MPI_Offset records = -1, usage = -1;
    must("inq_dimlen", ncmpi_inq_dimlen(file_, 0, &records));
    must("inq_buffer_usage", ncmpi_inq_buffer_usage(file_, &usage));
    log_.line("records " + std::to_string(records) + " usage " + std::to_string(usage));
    must("buffer_detach", ncmpi_buffer_detach(file_));
    must("close", ncmpi_close(file_));
  }

  // Every task reads a part of each field, as others wrote it.
  void verify(const std::string& path) {
    int tasks = 1;
    MPI_Comm_size(comm_, &tasks);
    must("open", ncmpi_open(comm_, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file_));
    const MPI_Offset first = columns * task_ / tasks, width = columns * (task_ + 1) / tasks - first;
    for (int f = 0; f < fields; ++f) {
      const MPI_Offset deep = levels_of(f);
      std::vector<MPI_Offset> start{0, 0, first}, count{frames, deep, width};
      if (deep == 1) start.erase(start.begin()), count.erase(count.begin() + 1);
      std::vector<double> read(static_cast<size_t>(frames * deep * width), -1), expected;
      must("get_vara", ncmpi_get_vara_double_all(file_, variables_[static_cast<size_t>(f)], start.data(),
                                                 count.data(), read.data()));
      for (MPI_Offset frame = 0; frame < frames; ++frame) {
        for (MPI_Offset l = 0; l < deep; ++l) {
          for (MPI_Offset c = 0; c < width; ++c)
            expected.push_back(value_of(f, frame, l * columns + first + c));
        }
      }
      log_.values(path.c_str(), read, expected);
    }
    must("close", ncmpi_close(file_));
  }

 private:
  void must(const char* what, int err) { log_.must(what, err, ncmpi_strerror(err)); }

  // Returns how many elements were put. The lists are overwritten and freed as soon as the call returns.
  MPI_Offset put_regions(int field, MPI_Offset frame, const Region* regions, size_t n, const double* from) {
    const size_t rank = levels_of(field) > 1 ? 3 : 2;
    std::vector<std::unique_ptr<MPI_Offset[]>> owned;
    std::vector<MPI_Offset*> starts, counts;
    MPI_Offset elements = 0;
    for (size_t i = 0; i < n; ++i) {
      auto start = std::make_unique<MPI_Offset[]>(rank), count = std::make_unique<MPI_Offset[]>(rank);
      start[0] = frame;
      count[0] = 1;
      for (size_t d = 1; d < rank; ++d) {
        start[d] = regions[i].start[d + 2 - rank];
        count[d] = regions[i].count[d + 2 - rank];
      }
      elements += regions[i].count[0] * regions[i].count[1];
      starts.push_back(start.get());
      counts.push_back(count.get());
      owned.push_back(std::move(start));
      owned.push_back(std::move(count));
    }
    const int variable = variables_[static_cast<size_t>(field)];
    int request = NC_REQ_NULL;
    must("varn", (buffered_ ? ncmpi_bput_varn : ncmpi_iput_varn)(file_, variable, static_cast<int>(n),
                                                                 starts.data(), counts.data(), from, elements,
                                                                 MPI_DOUBLE, &request));
    for (auto& list : owned) std::fill_n(list.get(), rank, MPI_Offset{-77});
    requests_.push_back(request);
    return elements;
  }

  ClientLog& log_;
  MPI_Comm comm_;
  bool buffered_;
  int task_ = 0, file_ = -1, time_ = -1, lev_ = -1;
  std::array<int, fields> variables_{};
  std::deque<int> requests_;
  std::deque<std::vector<double>> held_;
};

void write_history(ClientLog& log, const std::string& name, Rearranger::Kind kind,
                   const std::vector<int>& io_tasks) {
  const auto at = std::find(io_tasks.begin(), io_tasks.end(), log.rank());
  MPI_Comm io_comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, at == io_tasks.end() ? MPI_UNDEFINED : 0,
                 static_cast<int>(at - io_tasks.begin()), &io_comm);
  const auto deep_map = irregular_map(log.rank(), log.ranks(), levels, columns);
  const auto flat_map = irregular_map(log.rank(), log.ranks(), 1, columns);
  const Rearranger deep(MPI_COMM_WORLD, io_tasks, kind, levels, columns, deep_map);
  const Rearranger flat(MPI_COMM_WORLD, io_tasks, kind, 1, columns, flat_map);
  std::vector<PioFile> files;
  const std::string paths[2] = {name + ".h0.nc", name + ".r.nc"};
  if (io_comm != MPI_COMM_NULL) {
    files.emplace_back(log, io_comm, paths[0], NC_64BIT_DATA, true);
    files.emplace_back(log, io_comm, paths[1], NC_64BIT_OFFSET, false);
    for (PioFile& file : files) file.put_levels();
  }
  for (MPI_Offset frame = 0; frame < frames; ++frame) {
    for (PioFile& file : files) file.put_time(frame);
    for (int field = 0; field < fields; ++field) {
      const auto& map = levels_of(field) > 1 ? deep_map : flat_map;
      const Rearranger& rearranger = levels_of(field) > 1 ? deep : flat;
      std::vector<double> mine;
      for (MPI_Offset offset : map) mine.push_back(value_of(field, frame, offset));
      const std::vector<double> data = rearranger.to_io_tasks(mine);
      for (PioFile& file : files) file.put_field(field, frame, rearranger.regions(), data);
      if (field == 2) {
        for (PioFile& file : files) file.flush(false);
      }
    }
    if (frame == 1 && !files.empty()) files[1].flush(true);  // one of the two, in the middle
  }
  for (PioFile& file : files) file.close();
  for (size_t i = 0; i < files.size(); ++i) files[i].verify(paths[i]);
  files.clear();
  if (io_comm != MPI_COMM_NULL) MPI_Comm_free(&io_comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  {
    ClientLog log(MPI_COMM_WORLD);
    const int four = std::min(4, log.ranks());
    std::vector<int> spread, odd;
    for (int i = 0; i < four; ++i) spread.push_back(i * log.ranks() / four);
    for (int r = log.ranks() - 1; r > 0; --r) {
      if (r % 2 == 1) odd.push_back(r);
    }
    for (const auto kind : {Rearranger::Kind::box, Rearranger::Kind::subset}) {
      const std::string name = kind == Rearranger::Kind::box ? "box" : "subset";
      write_history(log, name + "_1", kind, {0});
      write_history(log, name + "_4", kind, spread);
      write_history(log, name + "_odd", kind, odd);
    }
    status = log.finish();
  }
  MPI_Finalize();
  return status;
}
