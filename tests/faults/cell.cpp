// Reading a cell.
#include "cell.hpp"

#include <cerrno>
#include <map>
#include <sstream>

namespace faults {

bool Cell::read(const std::string& line) {
  static const std::map<std::string, int> errors{{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT},
                                                 {"EFBIG", EFBIG},   {"EINTR", EINTR},   {"EMFILE", EMFILE},
                                                 {"EACCES", EACCES}, {"short", 0},       {"slow", 0}};
  std::istringstream words(line);
  if (!(words >> key)) return false;
  words >> hints;
  std::istringstream parts(key);
  for (std::string* field :
       {&library, &mode, &nodes, &op, &kept, &place, &call, &fault, &number, &again, &rank}) {
    if (!std::getline(parts, *field, '/')) return false;
  }
  const auto at = errors.find(fault);
  if (at == errors.end()) return false;
  error = at->second;
  return true;
}

bool Cell::is_error() const {
  return error != 0 && error != EINTR;
}

}  // namespace faults
