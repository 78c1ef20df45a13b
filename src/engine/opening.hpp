// What all ranks agree on before any of them touches a file.
#pragma once

#include <mpi.h>

#include <span>

#include "base/status.hpp"

namespace forebay {

struct Opening {
  MPI_Comm comm;     ///< the program's
  const char* call;  ///< for messages
  const char* path;  ///< as the program gave it; may be null where this rank has failed
  int patience_seconds;
  const char* remedy = "";  ///< where ranks are missing
};

/// Collective. A failure of any rank (`mine`) is every rank's. So are different names, of which MPI libraries
/// make a wait without an end: Code::bad_argument with two of them. Names that lead to one file, by links or
/// from different folders, are no mistake. What this process keeps of the file, where it has it open already,
/// is written before. Of `values` all get the least, entry by entry, whatever is returned (at most
/// kMostOpening). Where the first becomes 0, names do not matter: the stock driver makes of them what it
/// will.
Status agree_to_open(const Opening& opening, const Status& mine, std::span<int> values = {});
inline constexpr std::size_t kMostOpening = 8;

}  // namespace forebay
