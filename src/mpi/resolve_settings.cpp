// Hints from MPI_Info, from the call and from the environment, the later over the earlier.
#include <array>
#include <cstdlib>
#include <string>

#include "base/config_file.hpp"
#include "base/environment.hpp"
#include "base/hints.hpp"
#include "mpi/resolve_settings.hpp"

namespace forebay {

Status resolve_settings(MPI_Info info, const std::string& call, bool warn, std::string_view file,
                        Settings& settings) {
  settings = Settings{};
  // `forebay run`, which sets that variable, has told already.
  if (warn && std::getenv("FOREBAY_LIBDIR") == nullptr) {
    for (const std::string& remark : variables_without_meaning()) warn_once(remark);
  }
  if (info != MPI_INFO_NULL) {
    int keys = 0;
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys; ++i) {
      std::array<char, MPI_MAX_INFO_KEY + 1> key{};
      std::array<char, MPI_MAX_INFO_VAL + 1> value{};
      int found = 0;
      MPI_Info_get_nthkey(info, i, key.data());
      MPI_Info_get(info, key.data(), MPI_MAX_INFO_VAL, value.data(), &found);
      if (found == 0) continue;
      // A hint is advice: what cannot be followed is said and left out.
      const Status status = set_hint(settings, key.data(), value.data(), Origin::info);
      if (!status.ok() && warn)
        warn_once("MPI_Info: " + status.message() +
                  (status.message().ends_with('?') ? " It is left out" : "; it is left out"));
    }
  }
  if (Status status = parse_hints(settings, call, Origin::call); !status.ok()) return status;
  if (!file.empty()) {
    if (Status status = apply_config(file, settings); !status.ok()) return status;
  }
  return apply_environment(settings);
}

}  // namespace forebay
