// Opening by MPI-IO, once more, the file that is open.
#include "handle.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "errors.hpp"
#include "mpi/communicator.hpp"
#include "mpi/file.hpp"
#include "ranks/agreement.hpp"
#include "storage/descriptors.hpp"

namespace forebay::hdf5 {
namespace {

// No rank may wait in MPI-IO for one that cannot open the file: Open MPI's I/O does so for ever. The file may
// not be for this process any more, or not for writing.
Status ready_to_open(const DriverFile& f, std::string& name) {
  const std::string what = "cannot give MPI-IO " + f.core->path();
  if (!descriptors_left(kDescriptorsToOpen)) return from_errno(EMFILE, what);
  name = f.core->name_now();
  const int descriptor = ::open(name.c_str(), (f.writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (descriptor < 0) return from_errno(errno, what);
  ::close(descriptor);
  return {};
}

// A name of the file that no other process opens it by, for as long as the open takes: Open MPI's I/O locks a
// semaphore of the machine called like the file, without its folder. Ranks that open for themselves would
// share it, and one killed in that moment leaves it locked: all later opens of a file so called would wait
// for ever.
class OwnName {
 public:
  explicit OwnName(const std::string& file) : name_(file) {
    std::error_code error;
    const std::string target = std::filesystem::absolute(file, error).string();
    if (error) return;
    const char* folder = std::getenv("TMPDIR");
    folder_ = std::string(folder != nullptr && folder[0] == '/' ? folder : "/tmp") + "/forebay-XXXXXX";
    if (::mkdtemp(folder_.data()) == nullptr) {
      folder_.clear();
      return;
    }
    const std::string link = folder_ + folder_.substr(folder_.rfind('/'));
    if (::symlink(target.c_str(), link.c_str()) == 0) name_ = link;
  }
  ~OwnName() {
    if (folder_.empty()) return;
    ::unlink((folder_ + folder_.substr(folder_.rfind('/'))).c_str());
    ::rmdir(folder_.c_str());
  }
  OwnName(const OwnName&) = delete;
  OwnName& operator=(const OwnName&) = delete;

  const std::string& name() const { return name_; }

 private:
  std::string name_, folder_;
};

Status open_by_mpi(DriverFile& f, MPI_Comm comm, const std::string& name, mpi::File& out) {
  const int error =
      MPI_File_open(comm, name.c_str(), f.writable ? MPI_MODE_RDWR : MPI_MODE_RDONLY, f.info, out.address());
  if (error == MPI_SUCCESS) return {};
  (void)out.release();
  return mpi::from_mpi(error, "MPI-IO cannot open " + f.core->path());
}

// Where MPI was never initialized there is no MPI_COMM_SELF.
Status open_alone(DriverFile& f, const std::string& file) {
  const OwnName own(file);
  const std::string& name = own.name();
  if (mpi::world_works()) return open_by_mpi(f, MPI_COMM_SELF, name, f.handle_alone);
  MPI_Group all = MPI_GROUP_NULL, mine = MPI_GROUP_NULL;
  mpi::Comm self;
  int error = MPI_Comm_group(f.comm, &all);
  if (error == MPI_SUCCESS) error = MPI_Group_incl(all, 1, &f.rank, &mine);
  if (error == MPI_SUCCESS) error = MPI_Comm_create_group(f.comm, mine, 0, self.address());
  if (mine != MPI_GROUP_NULL) MPI_Group_free(&mine);
  if (all != MPI_GROUP_NULL) MPI_Group_free(&all);
  if (error != MPI_SUCCESS) return mpi::from_mpi(error, "MPI-IO cannot open " + f.core->path());
  return open_by_mpi(f, self.get(), name, f.handle_alone);
}

}  // namespace

Status need_handle(DriverFile& f, bool together) {
  if (f.handle != MPI_FILE_NULL && (!together || !f.handle_alone || f.handle_of_all)) return {};
  std::string name;
  if (!together) {
    Status status = ready_to_open(f, name);
    if (status.ok()) status = open_alone(f, name);
    f.handle = f.handle_alone.get();
    return status;
  }
  const CollectiveCall call(f.core->about("open by MPI-IO"));
  if (Status status = agree_outcome(f.core->comm(), contained([&] { return ready_to_open(f, name); }));
      !status.ok())
    return status;
  Status status = agree_outcome(f.core->comm(), open_by_mpi(f, f.comm, name, f.handle_of_all));
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
