// PnetCDF's data calls behind one description, so that a test can go through all shapes, methods and types in
// loops.
#pragma once

#include <mpi.h>
#include <pnetcdf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness.hpp"

namespace forebay::test {

enum class Shape { var1, var, vara, vars, varm, varn };
enum class Method { collective, independent, iput, bput, get_all, get, iget };
inline constexpr std::size_t methods = 7;
/// How the buffer is described: by the function's name, or by an MPI datatype: a predefined one, a vector
/// with gaps, or MPI_DATATYPE_NULL ("as the variable").
enum class Face { typed, flexible, gaps, as_variable };

inline constexpr std::array all_shapes{Shape::var1, Shape::var,  Shape::vara,
                                       Shape::vars, Shape::varm, Shape::varn};
inline constexpr std::array put_methods{Method::collective, Method::independent, Method::iput, Method::bput};
inline constexpr std::array get_methods{Method::get_all, Method::get, Method::iget};

const char* name_of(Shape shape);
const char* name_of(Method method);
const char* name_of(Face face);

/// The memory types of PnetCDF's typed functions.
enum Memory {
  text,
  schar,
  uchar,
  short_,
  ushort_,
  int_,
  uint_,
  long_,
  float_,
  double_,
  longlong,
  ulonglong,
  memory_types
};
const char* name_of(Memory memory);
std::size_t size_of(Memory memory);
MPI_Datatype mpi_type_of(Memory memory);
/// The memory type that needs no conversion.
Memory memory_of(nc_type type);

/// The external types of a format (1, 2 or 5).
std::vector<nc_type> external_types(int format);
const char* name_of_type(nc_type type);

/// One put or get. `start`, `count`, … as the shape takes them; `starts` and `counts` for varn (an empty
/// count means null).
struct Call {
  Shape shape = Shape::vara;
  Method method = Method::collective;
  Face face = Face::typed;
  int variable = 0;
  nc_type type = NC_INT;  // of the variable
  Memory memory = int_;
  std::vector<MPI_Offset> start, count, stride, imap;
  std::vector<std::vector<MPI_Offset>> starts, counts;
  std::int64_t elements = 0;      // that are put or got
  std::vector<std::byte> buffer;  // as the face and imap lay it out
  std::vector<std::byte> before;  // the same, to see that nobody changes it
  int request = NC_REQ_NULL;
};

/// Fills call.buffer with `call.elements` values that depend on `seed` only: small ones, or with `wild` also
/// ones that many external types cannot hold. For varm, `call.imap` says where they go.
void fill_buffer(Call& call, std::uint64_t seed, bool wild);

/// Makes the call; of a get, the buffer is what it finds there. The arrays it passed are overwritten before
/// it returns, and for bput the buffer too. Returns the code.
int perform(int file, Call& call);

/// Collective. Puts the last element of every variable that has one, so that no part of a variable lies
/// behind the end of the file: there PnetCDF reads, and moves in a redefinition, what happens to be in its
/// buffers.
void put_last_elements(Run& run, int file);

}  // namespace forebay::test
