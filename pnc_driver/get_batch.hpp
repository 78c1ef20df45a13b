// The gets of one call to the core: cursors and sinks made from requests, and what is left to do when their
// bytes are there.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "arguments.hpp"
#include "convert/convert_sink.hpp"
#include "open_file.hpp"
#include "placement.hpp"
#include "request/memory_stream.hpp"
#include "request/request.hpp"

namespace forebay::pnc {

class GetBatch {
 public:
  explicit GetBatch(OpenFile& file) : file_(file), placement_(file) {}

  /// Adds a get into `buffer`. Both must stay.
  int add(const Request& request, const GetBuffer& buffer);

  /// Takes nothing after all: the rank only takes part.
  void clear();

  std::span<const Get> gets() const { return gets_; }
  std::int64_t bytes() const { return bytes_; }
  std::size_t requests() const { return entries_.size(); }

  /// To be called once for each request, numbered as they were added, after the core has read: fills buffers
  /// with gaps. NC_ERANGE when a number was out of range.
  int finish(std::size_t request);

 private:
  struct Entry {
    const Request* request;
    const GetBuffer* buffer;
    std::unique_ptr<std::byte[]> packed;  // where the buffer has gaps
    std::int64_t packed_bytes;
    std::size_t converted, scattered;  // how many of them came before
  };
  int add_sinks(Entry& entry, std::byte* elements);

  OpenFile& file_;
  Placement placement_;
  std::deque<MemorySink> memory_;
  std::deque<ConvertSink> converted_;
  std::deque<ScatterSink> scattered_;
  std::vector<Get> gets_;
  std::vector<Entry> entries_;
  std::int64_t bytes_ = 0;
};

/// Collective. Reads all ranks' batches, after what was put before. `problem` is what this rank found wrong
/// before: it then takes part with nothing, and gets that code back.
int read_collective(OpenFile& file, GetBatch& batch, int problem);

/// Reads this rank's batch.
int read_independent(OpenFile& file, GetBatch& batch);

}  // namespace forebay::pnc
