// Variables of the environment, and those that look like Forebay's and are not: they would have no effect,
// and nothing would tell.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace forebay {

/// Empty where it is not set.
std::string from_environment(const char* name);
/// The first of these that is set.
std::string from_environment(std::span<const char* const> names);

/// A sentence for each of those, saying what may have been meant. A site's own names (FOREBAY_ROOT, …) are
/// passed over.
std::vector<std::string> variables_without_meaning();

}  // namespace forebay
