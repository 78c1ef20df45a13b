// What a data call says, put and get alike: which elements of a variable, and how the buffer holds them.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "abi_1_12.hpp"
#include "buffer_type.hpp"
#include "conversion.hpp"
#include "selection.hpp"
#include "variables.hpp"

namespace forebay::pnc {

struct OpenFile;

/// put_var's and get_var's, and those of the calls with lists.
struct VarArguments {
  Index start, count, stride, imap;
};
struct VarnArguments {
  int pieces;
  IndexList starts, counts;
};

struct PutBuffer {
  const void* memory = nullptr;
  MPI_Offset count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};
struct GetBuffer {
  void* memory = nullptr;
  MPI_Offset count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// A call as it was made, before anything is done with its data.
struct Request {
  const Variable* variable = nullptr;
  Selection selection;
  BufferLayout layout;
  bool converts = false;
  bool mapped = false;  ///< by imap
  Mapping mapping;

  const Mapping* map() const { return mapped ? &mapping : nullptr; }
  /// Of the elements in memory, side by side.
  std::int64_t memory_bytes() const {
    return selection.elements * static_cast<std::int64_t>(size_of(layout.element));
  }
};

/// Fills `request`; `count` and `type` describe the buffer. The codes are those of the functions that each
/// part is left to.
int understand(OpenFile& file, int variable, const VarArguments& arguments, MPI_Offset count,
               MPI_Datatype type, Request& request);
int understand(OpenFile& file, int variable, const VarnArguments& arguments, MPI_Offset count,
               MPI_Datatype type, Request& request);

}  // namespace forebay::pnc
