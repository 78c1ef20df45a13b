// What forebay doctor says of a folder's file system, and where each answer comes from.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace forebay::tools {

/// What the trial files in the folder were really written with; "" and 0 where none was.
struct Written {
  std::string storage;
  std::int64_t stripe_bytes = 0;
  std::string stripe_source;         ///< as in reports
  std::int64_t storage_targets = 0;  ///< 0: not known
};

nlohmann::ordered_json examine_folder(const std::string& folder, const Written& written);

}  // namespace forebay::tools
