// A file that a driver leaves to its library's own: what the report says of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/settings.hpp"
#include "ranks/communicator.hpp"

namespace forebay {

/// The name by which a report knows a file: absolute, since a program may change its folder before it closes
/// the file. `descriptor`, where there is one, tells it of a name that MPI-IO may take apart.
std::string reported_path(const std::string& path, int descriptor = -1);

/// From the open to the close of such a file.
class StockReport {
 public:
  /// Collective. Null on every rank where rank 0's settings ask for no report, or a rank has not opened it.
  static std::unique_ptr<StockReport> begin(const Communicator& ranks, bool opened, const Settings& settings,
                                            const std::string& path, const std::string& driver,
                                            const std::string& reason);

  /// Collective, once the file is closed. The bytes that the library says this rank has moved, as far as it
  /// tells. A report that cannot be written is said, and no reason to fail a close.
  void end(std::int64_t put_bytes, std::int64_t get_bytes);

 private:
  std::unique_ptr<Communicator> ranks_;
  std::string stats_;
  std::string path_;
  std::string driver_;
  std::string reason_;
};

}  // namespace forebay
