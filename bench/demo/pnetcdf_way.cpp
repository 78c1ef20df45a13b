// The history file through PnetCDF: CDF-5, iput_varn for each variable, one wait_all a record.
#include <fmt/format.h>
#include <pnetcdf.h>

#include <stdexcept>
#include <vector>

#include "way.hpp"

namespace forebay::demo {
namespace {

void check(int status, const char* call) {
  if (status != NC_NOERR) throw std::runtime_error(fmt::format("{}: {}", call, ncmpi_strerror(status)));
}

nc_type nc_type_of(Type type) {
  switch (type) {
    case Type::Float:
      return NC_FLOAT;
    case Type::Double:
      return NC_DOUBLE;
    case Type::Int:
      return NC_INT;
    case Type::Text:
      return NC_CHAR;
  }
  return NC_NAT;
}

// A decomposition's pieces as varn takes them, with a leading record index that variables without one skip.
class VarnLists {
 public:
  explicit VarnLists(const Decomposition& over) : rank_(over.shape.size()) {
    for (const Piece& piece : over.pieces) {
      for_each_box(over.shape, piece,
                   [&](std::span<const std::int64_t> start, std::span<const std::int64_t> count) {
                     starts_.push_back(0);
                     counts_.push_back(1);
                     starts_.insert(starts_.end(), start.begin(), start.end());
                     counts_.insert(counts_.end(), count.begin(), count.end());
                   });
    }
    starts_.shrink_to_fit();
    counts_.shrink_to_fit();
    for (std::size_t at = 0; at < starts_.size(); at += rank_ + 1) {
      record_starts_.push_back(&starts_[at]);
      record_counts_.push_back(&counts_[at]);
      fixed_starts_.push_back(&starts_[at + 1]);
      fixed_counts_.push_back(&counts_[at + 1]);
    }
  }

  void aim(std::int64_t record) {
    for (MPI_Offset* start : record_starts_) *start = record;
  }

  int size() const { return static_cast<int>(record_starts_.size()); }
  MPI_Offset* const* starts(bool record) const { return (record ? record_starts_ : fixed_starts_).data(); }
  MPI_Offset* const* counts(bool record) const { return (record ? record_counts_ : fixed_counts_).data(); }

 private:
  std::size_t rank_;
  std::vector<MPI_Offset> starts_, counts_;
  std::vector<MPI_Offset*> record_starts_, record_counts_, fixed_starts_, fixed_counts_;
};

class PnetcdfWay final : public Way {
 public:
  PnetcdfWay(Workload& workload, MPI_Comm comm) : workload_(workload), comm_(comm) {
    lists_.reserve(workload.decompositions().size());
    for (const Decomposition& over : workload.decompositions()) lists_.emplace_back(over);
    requests_.reserve(workload.history().variables.size());
  }

  void create(const std::string& path) override {
    check(ncmpi_create(comm_, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file_),
          "ncmpi_create");
    const History& history = workload_.history();
    check(ncmpi_put_att_text(file_, NC_GLOBAL, "title", static_cast<MPI_Offset>(history.title.size()),
                             history.title.c_str()),
          "ncmpi_put_att_text");
    int time = -1;
    check(ncmpi_def_dim(file_, "time", NC_UNLIMITED, &time), "ncmpi_def_dim");
    std::vector<int> dims;
    for (const Dimension& dimension : history.dimensions) {
      dims.push_back(-1);
      check(ncmpi_def_dim(file_, dimension.name.c_str(), dimension.length, &dims.back()), "ncmpi_def_dim");
    }
    for (const Variable& variable : history.variables) {
      std::vector<int> over;
      if (variable.record) over.push_back(time);
      for (const int d : variable.dimensions) over.push_back(dims[static_cast<std::size_t>(d)]);
      int id = -1;
      check(ncmpi_def_var(file_, variable.name.c_str(), nc_type_of(variable.type),
                          static_cast<int>(over.size()), over.data(), &id),
            "ncmpi_def_var");
      ids_.push_back(id);
      for (const auto& [name, text] :
           {std::pair("units", &variable.units), {"long_name", &variable.long_name}})
        check(ncmpi_put_att_text(file_, id, name, static_cast<MPI_Offset>(text->size()), text->c_str()),
              "ncmpi_put_att_text");
    }
    check(ncmpi_enddef(file_), "ncmpi_enddef");
  }

  void aim(std::int64_t record) override {
    for (VarnLists& lists : lists_) lists.aim(record);
  }

  void write(std::int64_t record) override {
    const std::vector<Variable>& variables = workload_.history().variables;
    requests_.clear();
    for (std::size_t v = 0; v < variables.size(); ++v) {
      if (!variables[v].record && record > 0) continue;
      if (variables[v].decomposition >= 0)
        put_pieces(v);
      else if (workload_.rank() == 0)
        put_whole(v, record);
    }
    statuses_.assign(requests_.size(), NC_NOERR);
    check(ncmpi_wait_all(file_, static_cast<int>(requests_.size()), requests_.data(), statuses_.data()),
          "ncmpi_wait_all");
    for (const int status : statuses_) check(status, "ncmpi_wait_all, a request");
  }

  void close() override { check(ncmpi_close(file_), "ncmpi_close"); }

 private:
  int* request() { return &requests_.emplace_back(NC_REQ_NULL); }

  void put_pieces(std::size_t v) {
    const Variable& variable = workload_.history().variables[v];
    const VarnLists& lists = lists_[static_cast<std::size_t>(variable.decomposition)];
    if (lists.size() == 0) return;
    MPI_Offset *const *starts = lists.starts(variable.record), *const *counts = lists.counts(variable.record);
    const std::byte* from = workload_.buffer(v);
    const int id = ids_[v], n = lists.size();
    switch (variable.type) {
      case Type::Float:
        return check(ncmpi_iput_varn_float(file_, id, n, starts, counts, reinterpret_cast<const float*>(from),
                                           request()),
                     "ncmpi_iput_varn_float");
      case Type::Double:
        return check(ncmpi_iput_varn_double(file_, id, n, starts, counts,
                                            reinterpret_cast<const double*>(from), request()),
                     "ncmpi_iput_varn_double");
      case Type::Int:
        return check(
            ncmpi_iput_varn_int(file_, id, n, starts, counts, reinterpret_cast<const int*>(from), request()),
            "ncmpi_iput_varn_int");
      case Type::Text:
        return check(ncmpi_iput_varn_text(file_, id, n, starts, counts, reinterpret_cast<const char*>(from),
                                          request()),
                     "ncmpi_iput_varn_text");
    }
  }

  void put_whole(std::size_t v, std::int64_t record) {
    const Variable& variable = workload_.history().variables[v];
    const Shape shape = workload_.history().shape(variable);
    std::vector<MPI_Offset> start(shape.size() + 1, 0), count(1, 1);
    start[0] = record;
    count.insert(count.end(), shape.begin(), shape.end());
    const std::size_t skip = variable.record ? 0 : 1;
    const MPI_Offset *s = start.data() + skip, *c = count.data() + skip;
    const std::byte* from = workload_.buffer(v);
    const int id = ids_[v];
    switch (variable.type) {
      case Type::Float:
        return check(ncmpi_iput_vara_float(file_, id, s, c, reinterpret_cast<const float*>(from), request()),
                     "ncmpi_iput_vara_float");
      case Type::Double:
        return check(
            ncmpi_iput_vara_double(file_, id, s, c, reinterpret_cast<const double*>(from), request()),
            "ncmpi_iput_vara_double");
      case Type::Int:
        return check(ncmpi_iput_vara_int(file_, id, s, c, reinterpret_cast<const int*>(from), request()),
                     "ncmpi_iput_vara_int");
      case Type::Text:
        return check(ncmpi_iput_vara_text(file_, id, s, c, reinterpret_cast<const char*>(from), request()),
                     "ncmpi_iput_vara_text");
    }
  }

  Workload& workload_;
  MPI_Comm comm_;
  int file_ = -1;
  std::vector<int> ids_, requests_, statuses_;
  std::vector<VarnLists> lists_;
};

}  // namespace

std::unique_ptr<Way> make_pnetcdf_way(Workload& workload, MPI_Comm comm) {
  return std::make_unique<PnetcdfWay>(workload, comm);
}

}  // namespace forebay::demo
