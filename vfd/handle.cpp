// Opening by MPI-IO, once more, the file that is open.
#include "handle.hpp"

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "mpi/communicator.hpp"
#include "mpi/file.hpp"
#include "ranks/agreement.hpp"
#include "storage/descriptors.hpp"

namespace forebay::hdf5 {
namespace {

// No rank may wait in MPI-IO for one that cannot come.
Status ready_to_open() {
  if (descriptors_left(kDescriptorsToOpen)) return {};
  return from_errno(EMFILE, "cannot give MPI-IO a file");
}

Status open_by_mpi(DriverFile& f, MPI_Comm comm, mpi::File& out) {
  const std::string name = f.core->name_now();
  const int error =
      MPI_File_open(comm, name.c_str(), f.writable ? MPI_MODE_RDWR : MPI_MODE_RDONLY, f.info, out.address());
  if (error == MPI_SUCCESS) return {};
  (void)out.release();
  return mpi::from_mpi(error, "MPI-IO cannot open " + f.core->path());
}

}  // namespace

Status need_handle(DriverFile& f, bool together) {
  if (f.handle != MPI_FILE_NULL && (!together || !f.handle_alone || f.handle_of_all)) return {};
  if (!together) {
    Status status = ready_to_open();
    if (status.ok()) status = open_by_mpi(f, MPI_COMM_SELF, f.handle_alone);
    f.handle = f.handle_alone.get();
    return status;
  }
  const CollectiveCall call(f.core->about("open by MPI-IO"));
  if (Status status = agree_outcome(f.core->comm(), ready_to_open()); !status.ok()) return status;
  Status status = agree_outcome(f.core->comm(), open_by_mpi(f, f.comm, f.handle_of_all));
  if (!status.ok()) {
    (void)f.handle_of_all.release();  // some ranks have nothing to close
    return status;
  }
  const bool atomic = !f.core->comm().all(!f.atomic());
  f.handle = f.handle_of_all.get();
  const int error = atomic ? MPI_File_set_atomicity(f.handle, 1) : MPI_SUCCESS;
  return error == MPI_SUCCESS ? Status{} : mpi::from_mpi(error, "cannot make " + f.core->path() + " atomic");
}

Status close_handles(DriverFile& f) {
  if (f.handle_alone || f.handle_of_all) f.handle = MPI_FILE_NULL;
  const int alone = f.handle_alone.reset(), of_all = f.handle_of_all.reset();
  const int error = of_all != MPI_SUCCESS ? of_all : alone;
  return error == MPI_SUCCESS ? Status{} : mpi::from_mpi(error, "MPI-IO cannot close a file");
}

}  // namespace forebay::hdf5
