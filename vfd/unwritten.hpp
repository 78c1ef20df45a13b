// HDF5's metadata that could not be written: HDF5 was told that it was (write.cpp says why), and writes it no
// more.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "engine/core_file.hpp"

namespace forebay::hdf5 {

/// What one rank could not write of a file, oldest first. Independent.
class Unwritten {
 public:
  bool empty() const { return pieces_.empty(); }

  /// Takes what a failed write had; its part that went well may be among it. False: it cannot be kept.
  bool keep(CoreFile& core, std::int64_t offset, const void* bytes, std::int64_t length);

  /// Tries again. What fails stays. Where the file holds something else by now than after the failure,
  /// something newer was written there: the same metadata by another rank, or what uses that space since.
  /// Then nothing is.
  Status write(CoreFile& core);

  /// Newer bytes come.
  void forget(std::int64_t offset, std::int64_t length);

  /// Puts what is kept over what was read from the file.
  void lay_over(std::int64_t offset, void* bytes, std::int64_t length) const;

 private:
  struct Piece {
    std::int64_t offset;
    std::vector<std::byte> bytes;
    std::vector<std::byte> seen;  ///< in the file, after the failure
    std::int64_t end() const { return offset + static_cast<std::int64_t>(bytes.size()); }
  };
  std::vector<Piece> pieces_;
};

}  // namespace forebay::hdf5
