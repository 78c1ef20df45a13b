// Which records of a file are whole when its processes end one by one, each writing what it keeps: the number
// of records in the file's header is raised to that.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "engine/node_memory.hpp"
#include "engine/write_out.hpp"
#include "storage/stored_file.hpp"
#include "topology/topology.hpp"

namespace forebay {

/// One rank's part, in memory that all ranks of the file share. A record is whole when no rank keeps anything
/// any more and every rank has put its part. A rank that dies with something kept is never done.
class ExitCount {
 public:
  /// Collective over `ranks`, the file's ranks, whose topology it is: such memory; none where there cannot
  /// be.
  static NodeMemory share(const Topology& topology, const Communicator& ranks);

  /// Without memory the number rises in MPI_Finalize only, and only on several nodes. Nobody may keep
  /// anything before all ranks have one of these. `file`, which has a descriptor, `ranks` and `path` outlive
  /// this.
  ExitCount(NodeMemory shared, const Topology& topology, const Communicator& ranks, const StoredFile& file,
            const std::string& path);
  ExitCount(const ExitCount&) = delete;
  ExitCount& operator=(const ExitCount&) = delete;

  /// CoreFile::count_at_exit.
  void set(std::int64_t offset, int width, std::int64_t collective, std::int64_t independent);

  /// From now on this rank keeps something; everything is in the file.
  void keeps() { keeps_ = true, publish(); }
  void written() { keeps_ = false, publish(); }
  /// The program has come to its end on this rank: it puts nothing any more.
  void finishes() { finished_ = true, publish(); }
  bool keeping() const { return keeps_; }

  /// Raises the number to what is whole now. False on failure.
  bool raise() noexcept { return raise_to(whole()); }

  /// In MPI_Finalize, where the ranks share no memory: Holder. `well`: this rank has written all.
  void begin_reduction(bool well) noexcept;
  void end_reduction() noexcept;

 private:
  struct Rank {
    std::atomic<std::int64_t>
        collective;  // four times the records of its collective puts, and what it is doing
    std::atomic<std::int64_t> independent;  // of its independent puts since they were last counted together
  };
  static constexpr std::int64_t kKeeps = 1, kFinished = 2, kUnit = 4;

  void publish();
  std::int64_t whole() const;
  bool raise_to(std::int64_t records) noexcept;

  NodeMemory shared_;  // behind ranks_
  Rank* ranks_;
  int count_;
  int rank_;
  const Communicator* between_nodes_;  // null: the ranks share memory
  const StoredFile& file_;
  const std::string& path_;
  CountAtExit place_;
  std::int64_t collective_ = 0;
  std::int64_t independent_ = 0;
  bool keeps_ = false;
  bool finished_ = false;
  std::unique_ptr<Communicator::Started> reduction_;
  std::array<std::int64_t, 3> met_{};
};

}  // namespace forebay
