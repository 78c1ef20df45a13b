// Commit mode for files whose ranks write one after the other at any place, as HDF5's do: what one open file
// keeps in its node's segments.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/counters.hpp"
#include "base/settings.hpp"
#include "engine/node_set.hpp"
#include "engine/termination.hpp"
#include "engine/write_behind.hpp"
#include "layout/file_domains.hpp"
#include "segments/node_segments.hpp"
#include "storage/stored_file.hpp"

namespace forebay {

class KeptOnNode final : public Holder {
 public:
  /// Collective: memory for so many segments of so many bytes.
  using Lease =
      std::function<Status(std::int64_t segment_bytes, int count, std::shared_ptr<SegmentMemory>& out)>;
  /// Collective over `all`, whose topology it is. The file has a descriptor and outlives this. `can_fill`:
  /// holes in what is kept, from the file; on several nodes only where they are the `only_writer` and lock
  /// what they write. Code::no_shared_memory where a node has none.
  static Status create(const Lease& lease, const Topology& topology, const Communicator& all,
                       const Settings& settings, const FileDomains& layout, const std::string& path, StoredFile& file, Counters& counters,
                       bool can_fill, bool only_writer, std::unique_ptr<KeptOnNode>& out);
  ~KeptOnNode() override;

  /// The least that a rank of a node needs to keep anything.
  static std::int64_t least_share(int ranks);
  /// Of a segment, on a node with so many ranks.
  static std::int64_t choose_segment_bytes(const Settings& settings, const FileDomains& layout, int ranks);

  /// Whether a collective call with so many bytes from this rank is small enough to be kept.
  bool small(std::int64_t bytes) const { return bytes >= 0 && bytes <= most_; }
  /// Before a put: the end of the process is seen to.
  void be_watched();
  /// Keeps a put; NodeSegments::put.
  Status put(const Put& put);

  /// After a flush: a program may have set signal handlers by the next put.
  void flushed() { watching_ = false; }

  void write_out(Ending ending) noexcept override;

  /// For the next file, when this one is closed.
  const std::shared_ptr<SegmentMemory>& memory() const { return memory_; }

  NodeSegments segments;

  /// Where the process ends, after what is kept was written, this knows how many records are whole.
  WriteBehind* counted_by = nullptr;

  /// Nodes lock what they write of a segment: whatever goes to the file has to go through segments.
  bool locks = false;

  /// Nothing is kept now: see CoreFile::space_freed.
  bool resting = false;

 private:
  KeptOnNode(std::shared_ptr<SegmentMemory> memory, int count, int ranks, int rank, const std::string& path,
             const StoredFile& file);

  std::shared_ptr<SegmentMemory> memory_;
  std::string path_;
  const StoredFile& file_;
  std::int64_t most_ = 0;
  bool watching_ = false;
  Counters* counters_ = nullptr;
};

}  // namespace forebay
