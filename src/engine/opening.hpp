// What all ranks agree on before any of them touches a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "ranks/communicator.hpp"

namespace forebay {

/// Collective, before a file is opened: rank 0's settings on all ranks, but for those that only tests set.
/// Fails on all ranks where `mine` has failed on one, or where a rank has too few descriptors left to open a
/// file: MPI-IO libraries wait for each other for ever then. `least`: values of the caller's (at most 8) of
/// which each rank gets the least, in the same message.
Status share_settings(const Communicator& ranks, Status mine, const std::string& path, Settings& settings,
                      std::span<std::int64_t> least = {});

struct Opening {
  const Communicator& ranks;  ///< the program's
  const char* call;           ///< for messages
  const char* path;           ///< as the program gave it; may be null where this rank has failed
  int patience_seconds;
  const char* remedy = "";  ///< where ranks are missing
};

/// Collective: share_settings, and agreement on the file. Different names, of which MPI libraries make a wait
/// without an end, are Code::bad_argument with two of them on every rank. Names that lead to one file, by
/// links or from different folders, are no mistake. What this process keeps of the file, where it has it open
/// already, is written before. Of `values` (at most 6) all get the least. Where the first of them becomes 0,
/// names do not matter: the stock driver makes of them what it will.
Status agree_to_open(const Opening& opening, Status mine, Settings& settings,
                     std::span<std::int64_t> values = {});

}  // namespace forebay
