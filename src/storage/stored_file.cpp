// Opening once, finding out which file that was, and choosing how to write it.
#include "storage/stored_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "base/uninterrupted.hpp"
#include "storage/lustre.hpp"

namespace forebay {
namespace {

// What rank 0 says to the others before they open.
enum Led : std::int64_t { kByMpi, kByName, kFailed, kMade, kToMake };

constexpr std::int64_t kChosenUnit = 1 << 20;
constexpr std::int64_t kLeastChosen = 4, kMostChosen = 512;

// What the hints ask of a new file; 0: what its file system takes by itself.
Striping wanted_stripes(const Settings& settings, int owners) {
  Striping wanted{settings.striping_unit, settings.striping_factor};
  if (settings.new_stripes == NewStripes::none) return wanted;
  if (settings.new_stripes != NewStripes::automatic)
    return {unit_of(settings.new_stripes), count_of(settings.new_stripes)};
  if (wanted.unit == 0) wanted.unit = kChosenUnit;
  // A multiple of the owners, so that a target has one; few owners keep several targets busy.
  if (wanted.factor == 0)
    wanted.factor = std::min(kMostChosen, (kLeastChosen + owners - 1) / owners * owners);
  return wanted;
}

int flags_of(const OpenMode& mode) {
  return (mode.reads && mode.writes ? O_RDWR : mode.writes ? O_WRONLY : O_RDONLY) | O_CLOEXEC;
}

int open_file(const std::string& name, int flags) {
  return uninterrupted([&] { return ::open(name.c_str(), flags, 0666); });
}

// Where MPI-IO only says that it failed, the system knows more; else another rank may.
Status failed_open(Status status, const std::string& path, const OpenMode& mode) {
  const std::string what = "cannot open " + path;
  if (!descriptors_left(kDescriptorsToOpen)) return from_errno(EMFILE, what);
  if (status.code() != Code::mpi) return status;
  status = {Code::peer, status.message()};
  if (may_have_prefix(path)) return status;
  const int descriptor = open_file(path, flags_of(mode));
  if (descriptor >= 0) {
    ::close(descriptor);
    return status;
  }
  const bool may_be_missing = errno == ENOENT && mode.creates;
  if (!may_be_missing) return from_errno(errno, what);
  if (::access(folder_of(path).c_str(), W_OK | X_OK) != 0) return from_errno(errno, what);
  return status;
}

// MPI-IO, by which every rank would open the file, is not needed to find out which one it is.
bool goes_by_name(const FileSystem& system, const Settings& settings) {
  return system.local || (system.coherent && settings.storage == StorageKind::posix);
}

bool asks_for_layout(const Settings& settings) {
  return settings.new_stripes != NewStripes::none || settings.striping_unit > 0 ||
         settings.striping_factor > 0;
}

// A file that was opened by O_PATH, for the open(2) that it waits for: it is the same one, whatever has
// become of its name.
std::string name_of(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

/// Opens the file with the first access.
class Waiting final : public Storage {
 public:
  Waiting(std::unique_ptr<Storage> below, std::function<Status()> open)
      : below_(std::move(below)), open_(std::move(open)) {}

  Status write(std::span<const Piece> pieces) override {
    Status status = pieces.empty() ? Status{} : open_();
    return status.ok() ? below_->write(pieces) : status;
  }
  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override {
    Status status = open_();
    return status.ok() ? below_->read(offset, data, length) : status;
  }

 private:
  std::unique_ptr<Storage> below_;
  std::function<Status()> open_;
};

}  // namespace

StoredFile::~StoredFile() {
  drop_descriptor();
}

void StoredFile::drop_descriptor() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  waits_ = false;
}

// ---- opening ----

// A name that means one file only, on a file system where MPI-IO could do nothing that open(2) does not.
bool StoredFile::by_name(const Request& request, const Settings& settings) const {
  const bool posix = settings.storage == StorageKind::automatic || settings.storage == StorageKind::posix;
  return posix && !request.needs_handle && request.opened == nullptr && !may_have_prefix(request.path) &&
         request.mode.plain;
}

std::int64_t StoredFile::lead(const Request& request, const Settings& settings) {
  if (!by_name(request, settings)) return kByMpi;
  const int flags = flags_of(request.mode);
  const bool makes = request.mode.creates;
  const bool only_makes = makes && request.mode.exclusive;
  if (!only_makes) descriptor_ = open_file(request.path, flags);
  const int error = errno;
  if (descriptor_ >= 0) {
    if (goes_by_name(file_system_of(descriptor_), settings)) return kByName;
    drop_descriptor();
    return kByMpi;
  }
  if (only_makes || (makes && error == ENOENT)) {
    const FileSystem system = file_system_at(folder_of(request.path));
    if (!goes_by_name(system, settings)) return kByMpi;
    if (system.unit == Unit::layout && asks_for_layout(settings)) return kToMake;
    descriptor_ = open_file(request.path, flags | O_CREAT | (only_makes ? O_EXCL : 0));
    if (descriptor_ >= 0) return kByName;
  } else {
    errno = error;
  }
  status_ = from_errno(errno, "cannot open " + request.path);
  return kFailed;
}

bool StoredFile::may_lay_out(const Request& request, const Settings& settings, std::int64_t led) {
  if (led == kToMake) return true;
  return asks_for_layout(settings) && led == kByMpi && request.mode.creates && request.mode.writes &&
         request.opener != nullptr && request.opened == nullptr && !may_have_prefix(request.path);
}

// Before MPI-IO: most libraries of it know nothing of Lustre, and those that do lay out what they create
// only. This file is there when they come, so it is not done twice.
std::int64_t StoredFile::lay_out(const Request& request, const Settings& settings, int owners,
                                 std::int64_t led) {
  const std::string folder = folder_of(request.path);
  Made made = Made::no;
  if (file_system_at(folder).unit == Unit::layout && !folder_has_layout(folder)) {
    Status why;
    made = make_with_layout(request.path, wanted_stripes(settings, owners), why);
    if (!why.ok()) warn_once(why.message() + "; it gets those of its folder");
  }
  if (led == kByMpi) return made == Made::no ? kByMpi : kMade;
  const bool only_makes = request.mode.exclusive && made == Made::no;
  descriptor_ = open_file(request.path, flags_of(request.mode) | O_CREAT | (only_makes ? O_EXCL : 0));
  if (descriptor_ >= 0) return kByName;
  status_ = from_errno(errno, "cannot open " + request.path);
  return kFailed;
}

// Opening by O_PATH asks the server for nothing but the name, which the ranks of a node ask for once.
void StoredFile::open_by_name() {
  const int flags = flags_of(request_.mode);
  if (request_.may_wait) {
    descriptor_ = open_file(request_.path, O_PATH | O_CLOEXEC);
    const int wanted = (request_.mode.reads ? R_OK : 0) | (request_.mode.writes ? W_OK : 0);
    if (descriptor_ >= 0 && !file_system_of(descriptor_).local &&
        ::faccessat(AT_FDCWD, name_of(descriptor_).c_str(), wanted, AT_EACCESS) == 0) {
      waits_ = true;
      return;
    }
    drop_descriptor();
  }
  descriptor_ = open_file(request_.path, flags);
  if (descriptor_ < 0) status_ = from_errno(errno, "cannot open " + request_.path);
}

// Under the number that it has.
Status StoredFile::open_waiting() {
  if (!waits_) return {};
  const int opened = open_file(name_of(descriptor_), flags_of(request_.mode));
  if (opened < 0) return from_errno(errno, "cannot open " + request_.path);
  const int result = uninterrupted([&] { return ::dup3(opened, descriptor_, O_CLOEXEC); });
  Status status = result >= 0 ? Status{} : from_errno(errno, "cannot open " + request_.path);
  ::close(opened);
  waits_ = !status.ok();
  return status;
}

void StoredFile::open(const Communicator& ranks, const Request& request, const Settings& settings,
                      std::int64_t led) {
  request_ = request;
  wanted_ = settings.storage;
  shows_ = ranks.rank() == 0;
  number_ = OpenMark::any_number();
  if (led == kFailed) {
    status_.update({Code::peer, "rank 0 cannot open " + request.path});
  } else if (led == kByName) {  // we open it by its name, and nobody else does
    if (descriptor_ < 0) open_by_name();
    if (descriptor_ < 0) return;
    known_ = proven_ = id_of(descriptor_, id_);
    system_ = file_system_of(descriptor_);
  } else if (request.opened != nullptr) {
    identify(*request.opened);
  } else {
    const BeforeOpen before(request.path);
    open_by_mpi(led == kMade);
    if (status_.ok()) identify(before);
  }
  // Before any rank of this object can write.
  if (shows_ && status_.ok()) leave_mark(number_);
}

void StoredFile::leave_mark(std::int64_t number) {
  if (known_ && request_.mode.writes) mark_.leave(id_, number);
}

void StoredFile::open_by_mpi(bool made) {
  if (request_.opener == nullptr) {
    status_ = {Code::unsupported, "there is no MPI-IO to open " + request_.path};
    return;
  }
  Status opened = request_.opener->open(request_.path, made, handle_);
  if (!opened.ok()) status_ = failed_open(std::move(opened), request_.path, request_.mode);
}

// A descriptor of the file that has been opened, where one is of use.
void StoredFile::identify(const BeforeOpen& before) {
  const BeforeOpen::Found found = before.find();
  known_ = !found.name.empty();
  if (!known_) {
    no_descriptor_ = "it cannot be told which file MPI-IO has opened";
    return;
  }
  id_ = found.id;
  theirs_ = found.descriptor;
  proven_ = theirs_ >= 0;
  system_ = proven_ ? file_system_of(theirs_) : file_system_at(found.name);
  const bool useful = wanted_ == StorageKind::posix       ? system_.coherent
                      : wanted_ == StorageKind::automatic ? system_.local
                                                          : false;
  if (!useful && !request_.needs_descriptor) return;
  descriptor_ = open_file(found.name, flags_of(request_.mode));
  FileId ours;
  if (descriptor_ < 0) {
    no_descriptor_ = from_errno(errno, "cannot open " + found.name).message();
  } else if (!id_of(descriptor_, ours) || ours != id_) {
    no_descriptor_ = "its name is another file's now";
    drop_descriptor();
    known_ = proven_ = false;
  }
}

// ---- agreeing ----

void StoredFile::offer(Agreement& agreement) {
  Agreement& a = agreement;
  offered_ = {.well = a.all(status_.ok()),
              .local = a.all(known_ && system_.local),
              .coherent = a.all(known_ && system_.coherent),
              .known = a.all(known_),
              .usable = a.all(descriptor_ >= 0),
              .all_proven = a.all(proven_),
              .some_proven = a.any(proven_),
              .device = a.same(static_cast<std::int64_t>(id_.device)),
              .inode = a.same(static_cast<std::int64_t>(id_.inode)),
              .number = a.minimum(shows_ ? number_ : std::numeric_limits<std::int64_t>::max())};
}

void StoredFile::give_up() {
  if (handle_) handle_->abandon();
  handle_.reset();
  drop_descriptor();
}

// Whether ranks of one node have different files; only where not all have the same.
bool StoredFile::others_on_node(const Communicator& ranks, int node) const {
  struct Who {
    std::int64_t node;
    FileId id;
  };
  const Who mine{node, id_};
  std::vector<Who> all(static_cast<std::size_t>(ranks.size()));
  ranks.gather(&mine, sizeof mine, all.data(), -1);
  return std::any_of(all.begin(), all.end(), [&](const Who& a) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Who& b) { return a.node == b.node && a.id != b.id; });
  });
}

// All ranks one way: never both on one file. By pwrite where that is wanted, or where it is safe for certain
// and so nothing is lost by it: MPI-IO libraries lock and unlock at each write.
Status StoredFile::settle(const Communicator& ranks, int node, int nodes, Settings& settings,
                          const Agreement& agreed) {
  const bool known = agreed[offered_.known];
  const bool one_inode = known && agreed[offered_.inode];
  const bool one_mount = one_inode && agreed[offered_.device];
  if (known && !one_mount && (nodes == 1 || others_on_node(ranks, node))) {
    drop_descriptor();
    return {Code::unsupported, "the ranks of one machine have opened different files as " + request_.path +
                                   ": are they in different folders?"};
  }
  // On several machines the same file system may have different numbers.
  const bool local = agreed[offered_.local], coherent = agreed[offered_.coherent];
  const bool some_proven = agreed[offered_.some_proven], all_proven = agreed[offered_.all_proven];
  const bool told = some_proven && (one_mount || (one_inode && coherent && !local));
  const bool usable = told && agreed[offered_.usable];
  const bool chosen = wanted_ == StorageKind::posix;
  const bool posix = usable && (chosen ? coherent : wanted_ == StorageKind::automatic && local);
  if (chosen && !posix && ranks.rank() == 0) {
    warn_once("forebay_storage=posix: " + request_.path + " goes through MPI-IO all the same: " +
              (!coherent                 ? "that is not safe on this file system (" + system_.name + ")"
               : !no_descriptor_.empty() ? no_descriptor_
                                         : "not all ranks can open it by its name"));
  }
  // As the process ends each rank writes what is its own: there it is enough that its descriptor is right.
  const bool right = agreed[offered_.usable] && (told || all_proven || (some_proven && one_inode));
  if (!right && no_descriptor_.empty()) no_descriptor_ = "not all ranks can open it by its name";
  if (!right || (!posix && !request_.needs_descriptor)) drop_descriptor();
  // A hole is completed with what the file holds there, and written again: what another rank has written, and
  // this one does not see yet, would be lost. The ranks of one machine that use one mount share its pages.
  const bool certain = told && (nodes == 1 || coherent);
  fills_holes_ =
      settings.fill_holes == FillHoles::enable || (settings.fill_holes == FillHoles::automatic && certain);
  posix_ = posix;
  // Before anything fails: all ranks have to know alike what the storage is.
  if (wanted_ == StorageKind::automatic || chosen)
    settings.storage = posix ? StorageKind::posix : StorageKind::mpiio;
  if (!posix) {
    if (Status status = go_through_mpi(); !status.ok()) return status;
    storage_ = handle_->storage(descriptor_ >= 0 ? descriptor_ : theirs_);
  } else {
    storage_ = make_posix_storage(descriptor_, request_.path);
    if (waits_) storage_ = std::make_unique<Waiting>(std::move(storage_), [this] { return open_waiting(); });
    on_one_machine_ = local;
    local_ = nodes == 1 && local;
  }
  marked_ = settings.fill_holes != FillHoles::enable;
  agreed_number_ = agreed[offered_.number];
  leave_mark(agreed_number_);
  if (nodes > 1 && !coherent) {
    auto view = std::make_unique<NodeView>(std::move(storage_), theirs_ >= 0 ? theirs_ : descriptor_,
                                           request_.path, system_.renewal);
    view_ = view.get();
    storage_ = std::move(view);
  }
  request_.opener = nullptr;  // the caller's, as is the other
  request_.opened = nullptr;
  const int rank = ranks.rank();
  if (settings.storage == StorageKind::failing && (settings.fail_rank < 0 || settings.fail_rank == rank))
    storage_ = make_failing_storage(std::move(storage_), request_.path, settings.fail_after_bytes);
  if (settings.delay_usec > 0) {
    storage_ =
        make_delayed_storage(std::move(storage_), settings.delay_usec, static_cast<unsigned>(rank + 1));
  }
  return {};
}

// With the handle that is there, or one that is made now.
Status StoredFile::go_through_mpi() {
  if (handle_) return {};
  const BeforeOpen noted(request_.path);
  // What had to be made has been.
  open_by_mpi(true);
  if (!status_.ok()) return status_;
  theirs_ = noted.find().descriptor;
  if (FileId now; known_ && proven_ && id_of(theirs_, now) && now != id_)
    return {Code::unsupported, "MPI-IO takes " + request_.path + " for another file"};
  return {};
}

// ---- the open file ----

std::int64_t StoredFile::preferred_unit() const {
  return forebay::preferred_unit(descriptor_ >= 0 ? descriptor_ : theirs_);
}

Striping StoredFile::stripes() const {
  const int descriptor = descriptor_ >= 0 ? descriptor_ : theirs_;
  if (system_.unit != Unit::layout || descriptor < 0) return {0, 0};
  struct stat info{};
  return lustre_stripes(descriptor, ::fstat(descriptor, &info) == 0 ? info.st_size : 0);
}

std::string StoredFile::name_now() const {
  FileId now;
  if (descriptor_ < 0 || !known_ || (id_at(request_.path, now) && now == id_)) return request_.path;
  return name_of(descriptor_);
}

Status StoredFile::size(std::int64_t& bytes) const {
  if (posix_) {
    struct stat info{};
    if (::fstat(descriptor_, &info) != 0)
      return from_errno(errno, "cannot find the size of " + request_.path);
    bytes = static_cast<std::int64_t>(info.st_size);
    return {};
  }
  if (view_ != nullptr) view_->renew();
  return handle_->size(bytes);
}

Status StoredFile::set_size(const Communicator& ranks, std::int64_t bytes) {
  if (!posix_) return handle_->set_size(bytes);
  const auto size = static_cast<off_t>(bytes);
  if (ranks.rank() != 0 || uninterrupted([&] { return ::ftruncate(descriptor_, size); }) == 0) return {};
  return from_errno(errno, "cannot set the size of " + request_.path);
}

Status StoredFile::sync(bool of_node) {
  // MPI refuses it where nothing can have been written.
  if (!request_.mode.writes) return {};
  if (!posix_) return handle_->sync();
  if (!of_node) return {};
  if (Status status = open_waiting(); !status.ok()) return status;
  return uninterrupted([&] { return ::fsync(descriptor_); }) == 0
             ? Status{}
             : from_errno(errno, "cannot sync " + request_.path);
}

Status StoredFile::close() {
  Status status = close_descriptor();
  status.update(close_handle());
  return status;
}

Status StoredFile::close_descriptor() {
  Status status;
  // So that who opens it next sees all of it on this node, too.
  if (view_ != nullptr) view_->renew();
  view_ = nullptr;
  storage_.reset();
  // What a file system says late, it says here.
  if (descriptor_ >= 0 && ::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR)
    status = from_errno(errno, "cannot close " + request_.path);
  return status;
}

Status StoredFile::close_handle() {
  Status status;
  if (handle_) status = handle_->close();
  handle_.reset();
  return status;
}

}  // namespace forebay
