// The same puts by each of the libraries.
#pragma once

#include <memory>
#include <string>

#include "places.hpp"

namespace endings {

class Library {
 public:
  virtual ~Library() = default;
  /// Collective. Creates the file, prefilled and synced where that is wanted, and fills in where its arrays
  /// lie.
  virtual void create(const std::string& path, Facts& facts) = 0;
  virtual void put(int step) = 0;
  /// Collective, or by this rank alone where the library has that and `alone`.
  virtual void sync(bool alone) = 0;
  virtual void close() = 0;
};

/// "pnetcdf", "hdf5", "tcio" or "file"; null: no such library.
std::unique_ptr<Library> make_library(const std::string& name, bool independent);

/// Ends the job with status 3, said on stderr, where `well` is false.
void require(bool well, const char* what);

}  // namespace endings
