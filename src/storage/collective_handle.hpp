// A file that all ranks have opened by a library of their own, as MPI-IO: what storage needs of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "layout/file_domains.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// What a program wants of a file when it opens it.
struct OpenMode {
  bool reads = true;
  bool writes = true;
  bool creates = false;    ///< where it is not there
  bool exclusive = false;  ///< fails where it is there
  bool plain = true;       ///< nothing that open(2) could not do as well
};

/// Failures name the file and the cause. The destructor closes what was not closed or abandoned.
class CollectiveHandle {
 public:
  virtual ~CollectiveHandle() = default;

  /// Independent operations on it. `descriptor`: of that file, to ask how much room is left; -1: none.
  virtual std::unique_ptr<Storage> storage(int descriptor) = 0;
  virtual Status size(std::int64_t& bytes) = 0;
  /// What it knows of the file's stripes; 0 where it does not.
  virtual Striping striping() = 0;
  // Collective:
  virtual Status set_size(std::int64_t bytes) = 0;
  virtual Status sync() = 0;
  virtual Status close() = 0;

  /// Closing is collective, and some ranks have nothing to close.
  virtual void abandon() = 0;
};

class CollectiveOpener {
 public:
  virtual ~CollectiveOpener() = default;
  /// Collective. `made`: the file is there, whatever the mode says of creating it. Code::mpi where nothing is
  /// known but that it failed.
  virtual Status open(const std::string& path, bool made, std::unique_ptr<CollectiveHandle>& out) const = 0;
};

}  // namespace forebay
