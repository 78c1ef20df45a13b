// Blocking gets. PnetCDF's own driver forgets the stride of records in them (1.15.1; before, where a variable
// has no other dimension) and reads records that lie together, also where it wrote them itself. Puts go where
// they belong here, so what was put with a stride must be read with it: by a nonblocking get, which
// PnetCDF does right, and its wait.
#include "get.hpp"

#include "drain.hpp"
#include "errors.hpp"
#include "open_file.hpp"

namespace forebay::pnc {
namespace {

// Of this rank.
int leaves_out_records(OpenFile& file, int variable, Index count, Index stride, int how, bool& leaves_out) {
  leaves_out = false;
  if ((how & mode::zero) != 0 || stride == nullptr) return NC_NOERR;
  const Variable* known = nullptr;
  if (int err = file.variables.find(variable, known)) return err;
  leaves_out = known->is_record && count[0] > 1 && stride[0] != 1;
  return NC_NOERR;
}

// A collective get and a collective wait do not go together, so where one rank needs this, all do it.
int on_any_rank(OpenFile& file, bool& leaves_out) {
  int any = leaves_out ? 1 : 0;
  if (MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, file.core->comm()) != MPI_SUCCESS)
    return NC_EFILE;
  leaves_out = any != 0;
  return NC_NOERR;
}

}  // namespace

int get_var(void* object, int variable, Index start, Index count, Index stride, Index imap, void* buffer,
            MPI_Offset buffer_count, MPI_Datatype type, int how) {
  OpenFile& file = OpenFile::of(object);
  const int drained = guarded([&] { return drain_for(file, how); });
  int status = drained;
  bool leaves_out = false;
  if (file.active() && file.variables.unlimited_dimension() >= 0) {
    int err = guarded([&] { return leaves_out_records(file, variable, count, stride, how, leaves_out); });
    if (status == NC_NOERR) status = err;
    if ((how & mode::collective) != 0) err = on_any_rank(file, leaves_out);
    if (status == NC_NOERR) status = err;
  }
  // Others may wait for this rank in there, whatever went wrong before.
  int err = NC_NOERR;
  if (!leaves_out) {
    err = file.stock.get_var(file.stock_file, variable, start, count, stride, imap, buffer, buffer_count,
                             type, how);
    return status != NC_NOERR ? status : err;
  }
  int request = NC_REQ_NULL;
  constexpr int of_blocking = mode::collective | mode::independent | mode::blocking;
  if ((how & mode::zero) == 0)
    err = file.stock.iget_var(file.stock_file, variable, start, count, stride, imap, buffer, buffer_count,
                              type, &request, (how & ~of_blocking) | mode::nonblocking);
  if (status == NC_NOERR) status = err;
  // Without a request of our own, a list of one could stand for another that is pending.
  err = file.stock.wait(file.stock_file, request == NC_REQ_NULL ? 0 : 1, &request, nullptr,
                        how & (mode::collective | mode::independent));
  return status != NC_NOERR ? status : err;
}

}  // namespace forebay::pnc
