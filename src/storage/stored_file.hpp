// The file of one communicator's ranks, from open to close.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "ranks/agreement.hpp"
#include "ranks/communicator.hpp"
#include "storage/collective_handle.hpp"
#include "storage/descriptors.hpp"
#include "storage/file_system.hpp"
#include "storage/node_view.hpp"
#include "storage/open_mark.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// Holds all there is of one open file on this rank: MPI-IO's handle where somebody needs one, and at most
/// one descriptor of ours, which is of the file that MPI-IO (or the library that opened it before) has open:
/// device and inode say so. After the open no name is looked at again.
///
/// Opening is done in steps, so that what its ranks have to agree on travels with what the caller has them
/// agree on: lead() on rank 0, whose outcome all ranks give to open(), then offer() into the agreement, then
/// settle() with its result.
class StoredFile {
 public:
  struct Request {
    std::string path;
    OpenMode mode;
    const CollectiveOpener* opener = nullptr;  ///< MPI-IO; null: there is none. Not used after settle()
    bool needs_handle = false;                 ///< MPI-IO opens it in any case
    bool needs_descriptor = false;             ///< wanted for the end of the process
    const BeforeOpen* opened =
        nullptr;            ///< somebody else has opened it, with all ranks, since this was noted
    bool may_wait = false;  ///< this rank may never touch it: it opens it with its first read or write, where
                            ///< opening is a message to a server
  };

  StoredFile() = default;
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;
  ~StoredFile();

  /// Rank 0, before the others open: makes the file where it has to be made and MPI-IO is not needed for it.
  std::int64_t lead(const Request& request, const Settings& settings);
  /// Whether `lay_out` may have something to do, which all ranks answer alike.
  static bool may_lay_out(const Request& request, const Settings& settings, std::int64_t led);
  /// Rank 0, after lead(): makes a file with the stripes that the hints want, where it is to be made on
  /// Lustre in a folder without a layout. `owners`: how many ranks will write it at once. What open() is to
  /// get instead of what lead() said.
  std::int64_t lay_out(const Request& request, const Settings& settings, int owners, std::int64_t led);
  /// All ranks, with rank 0's settings. Failures go into the offer.
  void open(const Communicator& ranks, const Request& request, const Settings& settings, std::int64_t led);

  void offer(Agreement& agreement);
  /// What failed on this rank so far.
  const Status& status() const { return status_; }
  /// Whether all ranks have opened it.
  bool opened(const Agreement& agreed) const { return agreed[offered_.well]; }
  /// Collective, where all have: how it is stored. Where this is not ok on a rank, the others are to hear of
  /// it from the caller.
  Status settle(const Communicator& ranks, int node, int nodes, Settings& settings, const Agreement& agreed);
  /// Instead of settle() where some rank has not opened it: nothing collective is possible.
  void give_up();

  Storage& storage() { return *storage_; }

  /// Null unless it was asked for, or storage is MPI-IO.
  CollectiveHandle* handle() const { return handle_.get(); }
  /// Ours, of this file; on all ranks or on none, where it is -1.
  int descriptor() const { return descriptor_; }
  /// False where it is not known.
  bool identity(FileId& out) const {
    out = id_;
    return known_;
  }
  /// One to ask about the file, MPI-IO's where we have none; -1: there is none, either.
  int any_descriptor() const { return descriptor_ >= 0 ? descriptor_ : theirs_; }
  /// Why there is none of ours.
  const std::string& no_descriptor() const { return no_descriptor_; }
  /// The file is in this machine's own page cache, and storage goes there without detours.
  bool local() const { return local_; }
  /// The same whatever MPI calls nodes: containers of one machine, and network namespaces, may be several.
  bool on_one_machine() const { return on_one_machine_; }
  /// What no rank puts may be read and written again with what lies around it, as long as mark() says that
  /// no other file object writes the file.
  bool fills_holes() const { return fills_holes_; }
  /// Null where the user has said that there are none.
  std::int64_t mark_number() const { return agreed_number_; }
  const OpenMark* mark() const { return marked_ ? &mark_ : nullptr; }
  /// Nodes do not see by themselves what others write: all ranks, or none. There, after show() by all ranks
  /// and then a barrier, look_anew() lets this rank see it with its next read, or when it asks for the size.
  bool views_differ() const { return view_ != nullptr; }
  Status show() { return view_ != nullptr ? view_->show() : Status{}; }
  /// This process has written past storage(): show() cares for that, too. `from_now_on`: it goes on to.
  void note_direct_writes(bool from_now_on = false) {
    if (view_ != nullptr) view_->note_direct_writes(from_now_on);
  }
  /// Whether each write that comes is shown before it returns.
  void show_at_once(bool wanted) {
    if (view_ != nullptr) view_->show_at_once(wanted);
  }
  bool shows_at_once() const { return view_ != nullptr && view_->shows_at_once(); }
  void look_anew() {
    if (view_ != nullptr) view_->look_anew();
  }
  /// The same at once, for who reads past storage().
  void look_now() {
    look_anew();
    if (view_ != nullptr) view_->renew();
  }
  const FileSystem& system() const { return system_; }
  std::int64_t preferred_unit() const;
  /// Of this file, as its file system lays it out; each 0 where it does not say.
  Striping stripes() const;
  /// CoreFile::name_now.
  std::string name_now() const;

  /// As this rank sees it now.
  Status size(std::int64_t& bytes) const;
  /// Collective; the outcome is this rank's own.
  Status set_size(const Communicator& ranks, std::int64_t bytes);
  /// Collective where handle() is not null. When all ranks have written; `of_node`: whether this one syncs
  /// for the ranks of its node, which have one file.
  Status sync(bool of_node);
  /// The two below.
  Status close();
  /// What file systems say late, they say here, if this wrote. Not collective.
  Status close_descriptor();
  /// Collective where handle() is not null.
  Status close_handle();
  /// When all ranks have closed: until then others may still write.
  void release_mark() { mark_.release(); }

 private:
  bool by_name(const Request& request, const Settings& settings) const;
  void open_by_name();
  Status open_waiting();
  void open_by_mpi(bool made);
  void identify(const BeforeOpen& before);
  void drop_descriptor();
  void leave_mark(std::int64_t number);
  Status go_through_mpi();
  bool others_on_node(const Communicator& ranks, int node) const;

  // What all ranks say of what they have opened.
  struct Offered {
    Agreement::All well, local, coherent, known, usable, all_proven;
    Agreement::Any some_proven;
    Agreement::Same device, inode;
    Agreement::Minimum number;
  };

  Request request_;
  Offered offered_{};
  StorageKind wanted_ = StorageKind::automatic;
  Status status_;
  std::unique_ptr<CollectiveHandle> handle_;
  int descriptor_ = -1;
  int theirs_ = -1;  // MPI-IO's, to ask about the file
  FileId id_;
  bool known_ = false;   // id_
  bool proven_ = false;  // the one that has been opened before
  bool waits_ = false;   // descriptor_ only names the file so far
  bool posix_ = false;
  bool local_ = false;
  bool on_one_machine_ = false;
  bool fills_holes_ = false;
  bool shows_ = false;  // rank 0: what is said to others outside of this object
  bool marked_ = true;
  std::int64_t number_ = 0, agreed_number_ = 0;
  OpenMark mark_;
  FileSystem system_;
  std::string no_descriptor_;
  std::unique_ptr<Storage> storage_;
  NodeView* view_ = nullptr;  // in storage_
};

}  // namespace forebay
