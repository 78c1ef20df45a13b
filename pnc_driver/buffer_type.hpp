// What a program's buffer holds: element types as PnetCDF sees them, and how an MPI datatype lays them out.
#pragma once

#include <mpi.h>
#include <pnetcdf.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pnc {

/// The element types that PnetCDF converts, numbered as nc_type and the core number them; and what is none of
/// them: a type that PnetCDF refuses, and one that it recognises but converts to nothing.
enum class Element : int {
  none,
  int8,
  text,
  int16,
  int32,
  float32,
  float64,
  uint8,
  uint16,
  uint32,
  int64,
  uint64,
  opaque
};

std::size_t size_of(Element element);

/// The element type of an external type's values in memory.
inline Element element_of_external(nc_type type) {
  return type >= NC_BYTE && type <= NC_UINT64 ? static_cast<Element>(type) : Element::none;
}
static_assert(static_cast<int>(Element::int8) == NC_BYTE && static_cast<int>(Element::text) == NC_CHAR &&
              static_cast<int>(Element::int16) == NC_SHORT && static_cast<int>(Element::int32) == NC_INT &&
              static_cast<int>(Element::float32) == NC_FLOAT &&
              static_cast<int>(Element::float64) == NC_DOUBLE &&
              static_cast<int>(Element::uint8) == NC_UBYTE &&
              static_cast<int>(Element::uint16) == NC_USHORT &&
              static_cast<int>(Element::uint32) == NC_UINT && static_cast<int>(Element::int64) == NC_INT64 &&
              static_cast<int>(Element::uint64) == NC_UINT64);

/// The element type of a predefined MPI type, C or Fortran; Element::none for one that PnetCDF does not take.
Element element_of(MPI_Datatype predefined);

/// How PnetCDF takes one buffer argument.
struct BufferLayout {
  Element element = Element::none;
  std::int64_t elements = 0;  ///< in the whole buffer
  bool contiguous = true;     ///< of elements, without gaps
  bool is_long = false;       ///< C's long, for which PnetCDF has a fill value of its own
};

/// Understands (count, type) of a data call on a variable of `external` type that asks for `wanted` elements.
/// Returns NC_EUNSPTETYPE, NC_EMULTITYPES or NC_EIOMISMATCH as PnetCDF does, and NC_ECHAR or NC_EBADTYPE
/// where text and numbers meet in a flexible call, which PnetCDF does not check.
int understand_buffer(nc_type external, std::int64_t wanted, MPI_Offset count, MPI_Datatype type,
                      BufferLayout& layout);

/// True when storing `memory` elements as `external` changes more than byte order. CDF-1 and 2 store unsigned
/// char in NC_BYTE as it is.
bool needs_conversion(int cdf_format, nc_type external, Element memory);

/// True where PnetCDF swaps bytes: its rule for which calls it copies.
bool needs_swap(nc_type external, Element memory);

/// True when `imap` (in elements; may be null) does not simply say "row-major".
bool is_mapped(std::span<const MPI_Offset> count, const MPI_Offset* imap);

/// Packs `count` of `type` at `buffer` into `packed`, which holds `bytes`; and back. NC_EINTOVERFLOW when one
/// `type` is 2 GiB or more.
int pack(const void* buffer, MPI_Offset count, MPI_Datatype type, std::byte* packed, std::int64_t bytes);
int unpack(const std::byte* packed, std::int64_t bytes, void* buffer, MPI_Offset count, MPI_Datatype type);

}  // namespace forebay::pnc
