// Sizes and counts as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace forebay::tools {

/// "12.0 MiB", "512 KiB", "17 bytes".
std::string human_bytes(std::int64_t bytes);

/// "1 234 567".
std::string human_count(std::int64_t count);

/// "1 write", "2 writes".
std::string counted(std::int64_t count, const std::string& one, const std::string& many);

/// Of word_of(CountedBy): "network cards" is "one for each network card". "": nothing is known.
std::string why_so_many_aggregators(const std::string& counted_by);

}  // namespace forebay::tools
