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

/// The same of a file, without writing: what Forebay would do there by the hints that it gets. `bytes`: its
/// size.
nlohmann::ordered_json examine_file_system(const std::string& file, int descriptor, std::int64_t bytes);

/// Of either.
void print_file_system(const nlohmann::ordered_json& found);

}  // namespace forebay::tools
