// Decoding MPI datatypes down to their one element type, by the rules and with the error codes of PnetCDF.
#include "buffer_type.hpp"

#include <limits>
#include <vector>

namespace forebay::pnc {
namespace {

struct Decoded {
  Element element = Element::none;
  std::int64_t elements = 0;  // in one datatype
  bool contiguous = true;
  bool is_long = false;
};

// PnetCDF takes Fortran's 8-byte integers for C's long.
bool is_long(MPI_Datatype type) {
  return type == MPI_LONG || type == MPI_INTEGER8;
}

// The datatypes that MPI_Type_get_contents made for us; only derived ones may be freed.
class Contents {
 public:
  static int of(MPI_Datatype type, Contents& contents) {
    int ints = 0, addresses = 0, types = 0;
    if (MPI_Type_get_envelope(type, &ints, &addresses, &types, &contents.combiner_) != MPI_SUCCESS)
      return NC_EMPI;
    if (contents.combiner_ == MPI_COMBINER_NAMED) return NC_NOERR;
    std::vector<MPI_Aint> displacements(static_cast<std::size_t>(addresses));
    contents.ints_.resize(static_cast<std::size_t>(ints));
    std::vector<MPI_Datatype> children(static_cast<std::size_t>(types), MPI_DATATYPE_NULL);
    if (MPI_Type_get_contents(type, ints, addresses, types, contents.ints_.data(), displacements.data(),
                              children.data()) != MPI_SUCCESS) {
      return NC_EMPI;
    }
    contents.types_ = std::move(children);
    return NC_NOERR;
  }
  Contents() = default;
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  ~Contents() {
    for (MPI_Datatype& type : types_) {
      int ints, addresses, types, combiner = MPI_COMBINER_NAMED;
      if (MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner) == MPI_SUCCESS &&
          combiner != MPI_COMBINER_NAMED) {
        MPI_Type_free(&type);
      }
    }
  }
  int combiner() const { return combiner_; }
  std::int64_t number(std::size_t i) const { return ints_[i]; }
  const std::vector<MPI_Datatype>& types() const { return types_; }

 private:
  int combiner_ = MPI_COMBINER_NAMED;
  std::vector<int> ints_;
  std::vector<MPI_Datatype> types_;
};

std::int64_t sum(const Contents& contents, std::size_t first, std::int64_t count) {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < count; ++i) total += contents.number(first + static_cast<std::size_t>(i));
  return total;
}

// Elements of a distributed array that fall to its rank: dimension by dimension, the ranks in C order.
std::int64_t darray_blocks(const Contents& contents) {
  std::int64_t rank = contents.number(1);
  const auto dims = static_cast<std::size_t>(contents.number(2));
  std::int64_t total = 1;
  for (std::size_t d = dims; d-- > 0;) {
    const std::int64_t size = contents.number(3 + d);
    const std::int64_t kind = contents.number(3 + dims + d);
    std::int64_t block = contents.number(3 + 2 * dims + d);
    const std::int64_t ranks = contents.number(3 + 3 * dims + d);
    if (kind == MPI_DISTRIBUTE_NONE) {
      total *= size;
      continue;
    }
    const std::int64_t place = rank % ranks;
    rank /= ranks;
    if (block == MPI_DISTRIBUTE_DFLT_DARG)
      block = kind == MPI_DISTRIBUTE_BLOCK ? (size + ranks - 1) / ranks : 1;
    const std::int64_t round = block * ranks;
    const std::int64_t rest = size % round - place * block;
    total *= size / round * block + (rest < 0 ? 0 : rest < block ? rest : block);
  }
  return total;
}

int decode(MPI_Datatype type, Decoded& out);

int decode_struct(const Contents& contents, Decoded& out) {
  for (std::size_t i = 0; i < contents.types().size(); ++i) {
    Decoded member;
    if (int err = decode(contents.types()[i], member); err != NC_NOERR) return err;
    if (member.element == Element::none) continue;
    if (out.element != Element::none && out.element != member.element) return NC_EMULTITYPES;
    out.element = member.element;
    out.is_long = member.is_long;
    out.elements += member.elements * contents.number(1 + i);
  }
  out.contiguous = false;
  return NC_NOERR;
}

int decode(MPI_Datatype type, Decoded& out) {
  Contents contents;
  if (int err = Contents::of(type, contents); err != NC_NOERR) return err;
  const int combiner = contents.combiner();
  if (combiner == MPI_COMBINER_NAMED) {
    out.element = element_of(type);
    out.elements = 1;
    out.is_long = is_long(type);
    return out.element == Element::none ? NC_EUNSPTETYPE : NC_NOERR;
  }
  if (combiner == MPI_COMBINER_STRUCT) return decode_struct(contents, out);
  if (contents.types().size() != 1) return NC_EUNSPTETYPE;  // the parametrised Fortran 90 types
  if (int err = decode(contents.types()[0], out); err != NC_NOERR) return err;

  std::int64_t blocks = 1;
  bool gaps = true;
  switch (combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      blocks = contents.number(0);
      gaps = false;
      break;
    case MPI_COMBINER_DUP:
      gaps = false;
      break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      blocks = contents.number(0) * contents.number(1);
      break;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
      blocks = sum(contents, 1, contents.number(0));
      break;
    case MPI_COMBINER_SUBARRAY: {
      const auto dims = static_cast<std::size_t>(contents.number(0));
      for (std::size_t d = 0; d < dims; ++d) blocks *= contents.number(1 + dims + d);
      break;
    }
    case MPI_COMBINER_DARRAY:
      blocks = darray_blocks(contents);
      break;
    case MPI_COMBINER_RESIZED:
      break;
    default:
      return NC_EUNSPTETYPE;
  }
  out.elements *= blocks;
  if (gaps) out.contiguous = false;
  return NC_NOERR;
}

}  // namespace

std::size_t size_of(Element element) {
  switch (element) {
    case Element::none:
      return 0;
    case Element::text:
    case Element::int8:
    case Element::uint8:
    case Element::opaque:
      return 1;
    case Element::int16:
    case Element::uint16:
      return 2;
    case Element::int32:
    case Element::uint32:
    case Element::float32:
      return 4;
    case Element::float64:
    case Element::int64:
    case Element::uint64:
      return 8;
  }
  return 0;
}

Element element_of(MPI_Datatype type) {
  // The common ones first; MPI's handles need not be constants, so this cannot be a switch.
  if (type == MPI_FLOAT) return Element::float32;
  if (type == MPI_DOUBLE) return Element::float64;
  if (type == MPI_INT) return Element::int32;
  if (type == MPI_CHAR) return Element::text;
  if (type == MPI_SIGNED_CHAR) return Element::int8;
  if (type == MPI_UNSIGNED_CHAR) return Element::uint8;
  if (type == MPI_SHORT) return Element::int16;
  if (type == MPI_UNSIGNED_SHORT) return Element::uint16;
  if (type == MPI_UNSIGNED) return Element::uint32;
  if (type == MPI_LONG) return sizeof(long) == 8 ? Element::int64 : Element::int32;
  if (type == MPI_LONG_LONG_INT) return Element::int64;
  if (type == MPI_UNSIGNED_LONG_LONG) return Element::uint64;
  // Recognised inside a derived type, but nothing converts from it.
  if (type == MPI_BYTE || type == MPI_UNSIGNED_LONG) return Element::opaque;
  if (type == MPI_CHARACTER) return Element::text;
  if (type == MPI_INTEGER1) return Element::int8;
  if (type == MPI_INTEGER2) return Element::int16;
  if (type == MPI_INTEGER || type == MPI_INTEGER4) return Element::int32;
  if (type == MPI_INTEGER8) return Element::int64;
  if (type == MPI_REAL || type == MPI_REAL4) return Element::float32;
  if (type == MPI_DOUBLE_PRECISION || type == MPI_REAL8) return Element::float64;
  return Element::none;
}

int understand_buffer(nc_type external, std::int64_t wanted, MPI_Offset count, MPI_Datatype type,
                      BufferLayout& layout) {
  layout = {};
  if (type == MPI_DATATYPE_NULL) {
    layout.element = element_of_external(external);
    layout.elements = wanted;
  } else if (count == NC_COUNT_IGNORE) {
    layout.element = element_of(type);
    layout.elements = wanted;
    layout.is_long = type == MPI_LONG;
  } else {
    Decoded decoded;
    if (int err = decode(type, decoded); err != NC_NOERR) return err;
    layout.element = decoded.element;
    layout.elements = decoded.elements * count;
    layout.contiguous = decoded.contiguous;
    layout.is_long = decoded.is_long;
    if (layout.elements != wanted) return NC_EIOMISMATCH;
  }
  if (layout.element == Element::none) return NC_EUNSPTETYPE;
  if ((external == NC_CHAR) != (layout.element == Element::text)) return NC_ECHAR;
  if (layout.element == Element::opaque) return NC_EBADTYPE;
  return NC_NOERR;
}

bool needs_conversion(int cdf_format, nc_type external, Element memory) {
  if (cdf_format < 5 && external == NC_BYTE && memory == Element::uint8) return false;
  return element_of_external(external) != memory;
}

bool needs_swap(nc_type external, Element memory) {
  return !((external == NC_CHAR && memory == Element::text) ||
           (external == NC_BYTE && memory == Element::int8) ||
           (external == NC_UBYTE && memory == Element::uint8));
}

bool is_mapped(std::span<const MPI_Offset> count, const MPI_Offset* imap) {
  if (imap == nullptr) return false;
  MPI_Offset compact = 1;
  bool row_major = true;
  for (std::size_t d = count.size(); d-- > 0;) {
    row_major = row_major && imap[d] == compact;
    compact *= count[d];
  }
  return compact > 1 && !row_major;
}

namespace {

// MPI's packing counts in int: calls f(first, count, at, bytes) for as many of `type` as fit, from byte `at`
// of what is packed on.
template <class F>
int in_parts(MPI_Offset count, std::int64_t bytes, F&& f) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (count <= 0) return NC_NOERR;
  const std::int64_t each = bytes / count;
  if (each > most) return NC_EINTOVERFLOW;
  const std::int64_t step = each > 0 ? most / each : most;
  for (MPI_Offset done = 0; done < count;) {
    const auto now = static_cast<int>(count - done < step ? count - done : step);
    if (f(done, now, done * each, static_cast<int>(now * each)) != MPI_SUCCESS) return NC_EMPI;
    done += now;
  }
  return NC_NOERR;
}

}  // namespace

int pack(const void* buffer, MPI_Offset count, MPI_Datatype type, std::byte* packed, std::int64_t bytes) {
  MPI_Aint lower = 0, extent = 0;
  if (MPI_Type_get_extent(type, &lower, &extent) != MPI_SUCCESS) return NC_EMPI;
  return in_parts(count, bytes, [&](MPI_Offset first, int now, std::int64_t at, int size) {
    int position = 0;
    return MPI_Pack(static_cast<const std::byte*>(buffer) + first * extent, now, type, packed + at, size,
                    &position, MPI_COMM_SELF);
  });
}

int unpack(const std::byte* packed, std::int64_t bytes, void* buffer, MPI_Offset count, MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  if (MPI_Type_get_extent(type, &lower, &extent) != MPI_SUCCESS) return NC_EMPI;
  return in_parts(count, bytes, [&](MPI_Offset first, int now, std::int64_t at, int size) {
    int position = 0;
    return MPI_Unpack(packed + at, size, &position, static_cast<std::byte*>(buffer) + first * extent, now,
                      type, MPI_COMM_SELF);
  });
}

}  // namespace forebay::pnc
