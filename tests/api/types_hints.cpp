#include "base/hints.hpp"
#include "types.hpp"

std::string test::why_refused(const std::string& hint, const std::string& value) {
  forebay::Settings settings;
  return forebay::set_hint(settings, hint, value, forebay::Origin::call).message();
}
