// One open file: the face of the core that the HDF5 driver, the PnetCDF driver and the programming interfaces
// use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/counters.hpp"
#include "base/settings.hpp"
#include "base/status.hpp"
#include "ranks/collective_call.hpp"
#include "request/request.hpp"
#include "storage/collective_handle.hpp"
#include "storage/descriptors.hpp"

namespace forebay {

/// What commit mode may do for a file. `by_rank`: each rank keeps its own puts in call order; the caller
/// flushes where the ranks' order needs it (and independent ones, the node: see begin_independent).
/// `by_node`: the node keeps bytes by their place in the file, in any order of calls of its ranks; on several
/// nodes, where the caller tells about freed space (space_freed).
enum class Keeping { nothing, by_rank, by_node };

/// When a write's bytes must be in the file: as the file's mode says, or before it returns in any mode, and
/// then also where other nodes can see them.
enum class When { as_the_mode_says, before_return };

/// What an independent read sees of other nodes' writes, on a file system where nodes' views differ: those
/// before the last collective call, or all that have been shown.
enum class Seen { since_met, by_any };

/// Where a caller that holds bytes back for itself (segments/level1.hpp) may have them: in its own memory, in
/// memory that the keeper process has, too, or nowhere, since what a returned write promises would be lost
/// with this process.
enum class Level1Use { own, shared, none };

/// Why what is kept goes to the file: it has to be there; the program asks for it, and forebay_sync says how
/// far that reaches; the file is closed, and forebay_close does; or its size is compared.
enum class FlushFor { file, sync, close, size };

class CoreFile;
class Keeper;
struct FileContext;
struct Level1Memory;

/// How a driver opens a file.
struct FileOptions {
  std::string path;  ///< as the program gave it; MPI-IO prefixes ("ufs:") allowed
  OpenMode mode;
  const CollectiveOpener* opener = nullptr;  ///< MPI-IO, for the time of the open; null: there is none
  Settings settings;                         ///< with the hints that the program gave
  std::string driver;                        ///< "hdf5", "pnetcdf", …: for messages and the report
  Keeping keeping = Keeping::nothing;        ///< in commit mode
  bool tells_freed_space = false;  ///< the caller calls space_freed() before bytes of the file can be used
                                   ///< for something else; without it, files on several nodes are strict
                                   ///< where the node would keep
  bool announces_independent = false;  ///< the caller writes by write() after begin_independent() only
  bool needs_handle = false;           ///< CoreFile::handle is asked for
  bool needs_descriptor = false;       ///< the end of the process writes, also in strict mode
  Status elsewhere;  ///< how what all ranks have done before stands on this rank: a failure fails the open
  bool settings_shared = false;        ///< by share_settings, before
  const BeforeOpen* opened = nullptr;  ///< the caller's library has opened the file, on all ranks, since this
                                       ///< was noted: it is that file which is served
  /// On this rank, before this process opens the file once more: what is kept of it goes to the file.
  /// CoreFile::flush_independent where this is empty.
  std::function<void(CoreFile&)> when_opened_again;
  bool level1 = false;       ///< CoreFile::level1 is asked for
  bool only_writer = false;  ///< nothing but this file object changes the file while it is open: a node that
                             ///< keeps bytes with holes between them may read, complete and write the whole
};

/// Every function that says "collective" is called by all ranks of the communicator, with whatever of its own
/// a rank has to give (nothing is fine). A failure of storage or exchange in a collective call is returned on
/// every rank, on ranks that had no part in it with Code::peer. All functions of a file are to be called by
/// one thread at a time; other threads may use other files.
class CoreFile {
 public:
  /// Collective. Opens the file, and makes the node's window on the communicator's first use. The file has a
  /// communicator of its own. Where a node cannot give its window, each rank is a node of its own.
  static Status open(const Communicator& ranks, const FileOptions& options, std::unique_ptr<CoreFile>& out);

  ~CoreFile();
  CoreFile(const CoreFile&) = delete;
  CoreFile& operator=(const CoreFile&) = delete;

  /// Collective write of all ranks' puts. In strict mode the bytes are in the file on return, visible to all
  /// ranks; in commit mode they are, or they are copied and go there with a later flush. A collective flush
  /// that fails keeps what it could not write for the next one, and what was put by the call that flushed is
  /// not kept. `agree_max`: values that the caller wants reduced by MPI_MAX over all ranks in the same
  /// message (at most 8), in place; they are reduced also where the write fails. `when`: before_return on one
  /// rank is enough (for files that the node keeps).
  Status write_all(std::span<const Put> puts, std::span<std::int64_t> agree_max = {},
                   When when = When::as_the_mode_says);

  /// Independent write of this rank's puts; in the file on return, or kept as above.
  Status write(std::span<const Put> puts, When when = When::as_the_mode_says);

  /// Collective: what any rank keeps goes to the file. Nothing to do in strict mode.
  Status flush() { return flush_for(FlushFor::file); }
  /// The same as far as `why` needs it.
  Status flush_for(FlushFor why);
  /// Independent: the same for what this rank, or its node, keeps.
  Status flush_independent();
  /// In strict mode: whether write() does these better than MPI-IO: by completing blocks of the file, which
  /// is faster than a write for each of their runs; or by just that where MPI-IO would complete blocks of
  /// which this node may have an old view.
  bool completes(std::span<const Put> puts) const;
  /// Around writes through handle(): what is kept goes to the file first, and holes in what is put meanwhile
  /// are not filled by any rank. `collective`: by all ranks.
  Status begin_direct_writes(bool collective);
  void end_direct_writes();
  /// This rank has written by another library, which needs none of that: the next flush shows this, too.
  void note_direct_writes();
  /// The same, and other nodes can see it on return.
  Status show_direct_writes();
  /// Before reads through handle(): what is kept goes to the file, and this rank sees what others have shown.
  Status begin_direct_reads(bool collective);
  /// Somebody else may write through handle() whenever he likes.
  void handle_given_away();
  /// Collective, for files that nodes keep: some bytes of the file are about to be free for other use, which
  /// a rank that has passed this may begin with. So everything that is kept anywhere goes to the file first,
  /// and until the next space_taken() or collective call nothing is kept: freeing much costs one barrier.
  /// Does nothing on one node, whose ranks see what is kept of a place that they use again.
  void space_freed();
  /// By all ranks, each for itself, at the same place in the order of such calls: space is allocated.
  void space_taken();

  /// Collective, for files that keep by rank: from now on ranks write by themselves. Their node keeps that,
  /// where it has memory for it: the ranks fill each other's gaps. What is kept of collective writes has to
  /// be flushed before.
  void begin_independent();
  /// Collective, after a flush that went well: they do not any more.
  void end_independent();
  /// Whether this file may keep bytes; and whether collective writes are kept now, which all ranks answer
  /// alike.
  bool commits() const;
  /// Whether ranks of other nodes may not see yet what a rank has written; all ranks answer alike.
  bool hides() const;
  bool holds() const;
  /// The end of the highest byte that this rank's node keeps; 0: nothing is.
  std::int64_t end_of_kept() const;
  /// Whether what is kept reaches the file whatever ends the ranks.
  bool survives() const;
  /// The mode, for people.
  std::string mode_in_words() const;
  /// Where the processes end with bytes still kept, the big-endian number of `width` bytes at `offset` of the
  /// file is raised to what is whole once all ranks have written theirs: `collective`, which collective
  /// writes of all ranks have reached, or what each by itself has (`independent`; 0: nothing). Where a rank
  /// could not write, or the ranks share no memory, the number stays.
  void count_at_exit(std::int64_t offset, int width, std::int64_t collective, std::int64_t independent);
  /// To be asked again now and then, and before each write as long as it is none: the keeper process comes
  /// later, or goes. `shared`: that memory.
  Level1Use level1(Level1Memory& shared);
  /// As the process ends, with what a signal handler may do: bytes within one segment, newer than what the
  /// node keeps.
  bool write_in_signal(std::int64_t offset, const std::byte* data, std::int64_t length) noexcept;

  /// Independent contiguous write and read. write_at is in the file on return: past what a rank keeps by
  /// itself, in the place of what the node keeps there.
  /// With When::before_return other nodes can see it as well, and do with Seen::by_any. read_at comes after
  /// what this rank keeps has been written, and sees what the node keeps. Zero bytes are read past the end of
  /// the file. Whether the program wrote or a library of its own accord, the caller knows:
  /// counters().independent_writes is left to it.
  Status write_at(std::int64_t offset, const void* data, std::int64_t length,
                  When when = When::as_the_mode_says);
  Status read_at(std::int64_t offset, void* data, std::int64_t length, Seen seen = Seen::since_met);

  /// Collective read of all ranks' gets: sees what any rank wrote before, and nothing that any of them writes
  /// after it. Zero bytes are read past the end of the file.
  Status read_all(std::span<const Get> gets);

  /// Independent read of this rank's gets; as read_at.
  Status read(std::span<const Get> gets);

  /// Collective: before and after a read that all ranks make together by themselves, so that it sees what any
  /// of them wrote before, and nothing that any of them writes next. Costs nothing where nobody can write.
  /// Where other nodes' bytes could not be written, so that the read would not see them, the reason on all
  /// ranks.
  Status barrier_around_read();

  /// Collective: waits for all ranks. For whoever goes on with a collective call of another library, which
  /// would not say for whom it waits; `call` is its name.
  void barrier(const char* call);
  /// Collective: before and after a collective call of another library that reads or writes the file past
  /// this: what any rank has written by whatever handle is seen by all. Costs nothing where nodes see each
  /// other's writes by themselves.
  void show_to_all(const char* call);
  /// A collective call on this file, for what a long wait in it has to say.
  CollectiveCall::About about(const char* call) const;

  /// Size of the file in bytes, as this rank sees it now. Independent.
  Status size(std::int64_t& bytes);

  /// Collective: sets the size (truncates or extends). It is so when any rank leaves.
  Status set_size(std::int64_t bytes);

  /// Keeps a failure of this rank's for the next sync or close, which returns it on every rank: for callers
  /// whose other ranks would wait for this one if it gave up now.
  void defer(Status failure);
  /// The same where nothing is lost yet: whoever returns it does so once.
  void tell_once(Status failure);

  /// Collective: what was written is on stable storage as far as MPI_File_sync says. Returns deferred
  /// failures, and close returns them again: the file is not whole.
  Status sync();

  /// Collective: drains, closes, adds the report to settings.stats. The first failure not yet reported is
  /// returned. `least`: a value of the caller's, of which each rank gets the least in the same message.
  Status close(std::int64_t* least = nullptr);

  const Communicator& comm() const;  ///< the file's own
  CollectiveHandle* handle()
      const;  ///< for code that must go past Forebay (file views, atomicity), where it was
              ///< asked for; null: there is none. The handle's view stays bytes at 0
  /// A name to open the file by once more, on this rank: that which the program gave, while it is still this
  /// file's, else one that the system has for an open file.
  std::string name_now() const;
  int rank() const;
  int ranks() const;
  int nodes() const;
  const std::string& path() const;
  /// The unit in which the node keeps bytes, or would: segments begin at multiples of it.
  std::int64_t segment_bytes() const;
  const Settings& settings() const;
  Counters& counters();

 private:
  CoreFile();
  void note_open();
  std::unique_ptr<FileContext> file_;
  std::unique_ptr<Keeper> keeper_;  // goes first
};

}  // namespace forebay
