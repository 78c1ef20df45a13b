// A file that is not whole counts as not written.
#include "text_file.hpp"

#include <fstream>
#include <stdexcept>

namespace forebay::bench {

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace forebay::bench
