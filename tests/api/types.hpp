// The library's own reader of hints, apart from the public headers: both have names in namespace forebay.
#pragma once

#include <string>

namespace test {

/// Empty where the library takes that value.
std::string why_refused(const std::string& hint, const std::string& value);

}  // namespace test
