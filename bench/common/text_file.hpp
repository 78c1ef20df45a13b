// Small files written at once: documents and plots.
#pragma once

#include <string>

namespace forebay::bench {

// Throws std::runtime_error where it cannot be written.
void write_file(const std::string& path, const std::string& text);

}  // namespace forebay::bench
