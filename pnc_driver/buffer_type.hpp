// What a program's buffer holds: element types as PnetCDF sees them, and how an MPI datatype lays them out.
#pragma once

#include <mpi.h>
#include <pnetcdf.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pnc {

/// The element types that PnetCDF converts, and those it only recognises.
enum class Element { none, text, int8, uint8, int16, uint16, int32, uint32, float32, float64, int64, uint64, opaque };

std::size_t size_of(Element element);

/// The element type of an external type's values in memory.
Element element_of(nc_type type);

/// The element type of a predefined MPI type, C or Fortran; Element::none for one that PnetCDF does not take.
Element element_of(MPI_Datatype predefined);

/// How PnetCDF takes one buffer argument.
struct BufferLayout {
  Element element = Element::none;
  std::int64_t elements = 0;   ///< in the whole buffer
  bool contiguous = true;      ///< of elements, without gaps
};

/// Understands (count, type) of a data call on a variable of `external` type that asks for `wanted` elements. Returns
/// NC_EUNSPTETYPE, NC_EMULTITYPES or NC_EIOMISMATCH as PnetCDF does, and NC_ECHAR or NC_EBADTYPE where text and numbers
/// meet in a flexible call, which PnetCDF does not check.
int understand_buffer(nc_type external, std::int64_t wanted, MPI_Offset count, MPI_Datatype type, BufferLayout& layout);

/// True when storing `memory` elements as `external` changes more than byte order. CDF-1 and 2 store unsigned char in
/// NC_BYTE as it is.
bool needs_conversion(int cdf_format, nc_type external, Element memory);

/// True where PnetCDF swaps bytes: its rule for which calls it copies.
bool needs_swap(nc_type external, Element memory);

/// True when `imap` (in elements; may be null) does not simply say "row-major".
bool is_mapped(std::span<const MPI_Offset> count, const MPI_Offset* imap);

/// Packs `count` of `type` at `buffer` into `packed`, which holds `bytes`. NC_EINTOVERFLOW when one `type` is 2 GiB or more.
int pack(const void* buffer, MPI_Offset count, MPI_Datatype type, std::byte* packed, std::int64_t bytes);

}  // namespace forebay::pnc
