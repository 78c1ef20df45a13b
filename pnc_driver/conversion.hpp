// How the values of a buffer become those of a variable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "buffer_type.hpp"
#include "request/memory_source.hpp"
#include "variables.hpp"

namespace forebay::pnc {

struct OpenFile;

/// The byte order that the file wants, for values in the variable's type and this machine's order.
Swap swap_of(const Variable& variable);

/// Copies elements of `each` bytes that lie as `imap` says (elements from one index to the next, in each dimension) one after
/// the other.
void gather(const std::byte* from, std::size_t each, std::span<const MPI_Offset> count, const MPI_Offset* imap,
            std::byte* to);

/// Copies `elements` values, converted to the variable's type where `converts`, in this machine's byte order. NC_ERANGE when
/// one is out of range; the variable's fill value is then stored in its place.
int store_as(OpenFile& file, const Variable& variable, const std::byte* from, Element element, std::int64_t elements,
             bool converts, std::byte* to);

}  // namespace forebay::pnc
