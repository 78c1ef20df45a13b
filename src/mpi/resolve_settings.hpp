// A file's settings from where a program may say them.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

#include "base/settings.hpp"
#include "base/status.hpp"

namespace forebay {

/// Reads the settings that apply to a file: hint table defaults, then MPI_Info, then `call` ("k=v;k=v" of a
/// config), then what FOREBAY_CONFIG says of `file` (one rank is enough, who passes an empty name else), then
/// the environment; later ones win. A bad value from MPI_Info is left out, with a warning where
/// `warn` (one rank of a file is enough); elsewhere it is an error.
Status resolve_settings(MPI_Info info, const std::string& call, bool warn, std::string_view file,
                        Settings& settings);

}  // namespace forebay
