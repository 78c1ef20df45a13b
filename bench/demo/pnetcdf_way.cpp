// The history file through PnetCDF: CDF-5, iput_varn for each variable, one wait_all a record.
#include <pnetcdf.h>

#include <vector>

#include "pnetcdf_call.hpp"
#include "pnetcdf_history.hpp"
#include "way.hpp"

namespace forebay::bench {
namespace {

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
    ids_ = define_history(file_, workload_.history());
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
    if (lists.size() > 0) iput_pieces(file_, ids_[v], variable, lists, workload_.buffer(v), request());
  }

  void put_whole(std::size_t v, std::int64_t record) {
    const Variable& variable = workload_.history().variables[v];
    iput_whole(file_, ids_[v], variable, workload_.history().shape(variable), record, workload_.buffer(v),
               request());
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

}  // namespace forebay::bench
