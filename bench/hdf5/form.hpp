// How a program may write a row through HDF5.
#pragma once

#include <cstdint>
#include <string_view>

namespace forebay::bench {

enum class Transfer { Independent, Collective, Multi };  // multi: collective, several datasets a call

struct Form {
  Transfer transfer = Transfer::Collective;
  bool collective_metadata = false;  // reads and writes of metadata
  std::int64_t alignment = 0;        // in bytes, of objects as large or larger; 0: none
  bool since_18 = false;             // the file format of HDF5 1.8 and later
};

// independent, collective, multi; throws std::runtime_error.
Transfer parse_transfer(std::string_view name);

}  // namespace forebay::bench
