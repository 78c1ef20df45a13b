// Closed files against the model: the bytes where the library said that they lie, and what stock libraries
// read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model.hpp"
#include "open_file.hpp"

namespace mixed {

/// What is known of a file besides its arrays.
struct Expected {
  Kind kind = Kind::tcio;
  int64_t size = -1;     ///< raw files; -1: not known
  int64_t records = -1;  ///< PnetCDF
};

/// By the system's own calls.
void check_bytes(const std::string& path, const std::vector<std::unique_ptr<Array>>& arrays,
                 const Expected& expected);
/// By the libraries, HDF5 with its serial driver, PnetCDF as it is attached in this process.
void check_by_libraries(const std::string& path, const std::vector<std::unique_ptr<Array>>& arrays,
                        const Expected& expected);

}  // namespace mixed
