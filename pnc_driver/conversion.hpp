// How the values of a buffer become those of a variable: what the core's conversions need to know, asked and
// translated here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "buffer_type.hpp"
#include "convert/convert.hpp"
#include "request/move_runs.hpp"
#include "variables.hpp"

namespace forebay::pnc {

struct OpenFile;

/// How elements of a buffer become a variable's values, or the other way round.
struct Conversion {
  ExternalType external;
  MemoryType memory;
  std::array<std::byte, 8> fill{};  ///< stored for what is out of range
  ConvertOptions options;
};

/// For a put: asks for the variable's fill value where it may be needed.
int conversion_for(OpenFile& file, const Variable& variable, Element element, Conversion& conversion);
/// For a get.
Conversion conversion_back(const OpenFile& file, const Variable& variable, const BufferLayout& layout);

/// What brings values of the variable's type from this machine's byte order into the file's, and back.
Swap swap_of(const Variable& variable);

/// How an imap lays out a buffer: elements from one index to the next, in each dimension of the box.
struct Mapping {
  std::vector<std::int64_t> count;
  std::vector<std::int64_t> imap;
};

/// Copies `elements` elements, converted and in the file's byte order; through `mapping` unless that is null.
/// NC_ERANGE when one was out of range.
int copy_converted(const std::byte* from, std::int64_t elements, const Mapping* mapping,
                   const Conversion& conversion, std::byte* to);

}  // namespace forebay::pnc
