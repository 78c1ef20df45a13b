// The simulated file: its bytes, and the servers that have its stripes by turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "storage/collective_handle.hpp"

namespace forebay::simulate {

/// Each server takes one request after the other. Seconds, bytes, bytes a second.
struct ServerCosts {
  int servers = 1;
  std::int64_t stripe = 1 << 20;
  double request = 50e-6;  ///< for each stripe of a write or read
  double rate = 1e9;       ///< of a server
  double shared = 1e-3;    ///< where another rank has written the stripe last: its lock comes over
  double rank_rate = 2e9;  ///< what one rank can send
};

class File {
 public:
  File(const ServerCosts& costs, std::int64_t bytes);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// What a rank puts there at that time; the time when it is done. Outside of the file: std::out_of_range.
  double write(int rank, std::int64_t offset, const std::byte* data, std::int64_t length, double at);
  double read(std::int64_t offset, std::byte* data, std::int64_t length, double at);

  const std::byte* bytes() const { return bytes_; }
  std::int64_t size() const { return size_; }
  const ServerCosts& costs() const { return costs_; }
  /// A bit of the byte at that offset is written wrong: to see that it is found.
  void damage(std::int64_t offset) { damaged_ = offset; }

  struct Seen {
    std::int64_t writes = 0, written_bytes = 0;
    std::int64_t straddling = 0;  ///< writes that begin and end in different stripes, and not at their ends
    std::int64_t shared = 0;      ///< stripes of writes that another rank had written last
    std::int64_t writers = 0;     ///< ranks
    std::int64_t reads = 0, read_bytes = 0;
    double busiest = 0;  ///< seconds of the busiest server
    double busy = 0;     ///< of all
  };
  Seen seen() const;
  void forget_seen();

 private:
  double serve(std::int64_t offset, std::int64_t length, double at, int writer);

  ServerCosts costs_;
  std::int64_t size_;
  std::byte* bytes_;
  std::int64_t damaged_ = -1;
  std::vector<double> free_at_;  // by server
  std::vector<double> busy_;
  std::vector<int> last_writer_;  // by stripe; -1: none
  std::vector<bool> has_written_;
  Seen seen_;
};

/// A rank's way to it.
std::unique_ptr<Storage> make_storage(File& file, int rank);

/// What opens it for the engine; `descriptors`: with a descriptor of a file of that name, which stays empty,
/// as commit mode wants one for the end of the process.
class Opener final : public CollectiveOpener {
 public:
  Opener(File& file, int rank, bool descriptors) : file_(file), rank_(rank), descriptors_(descriptors) {}
  Status open(const std::string& path, bool made, std::unique_ptr<CollectiveHandle>& out) const override;

 private:
  File& file_;
  int rank_;
  bool descriptors_;
};

}  // namespace forebay::simulate
