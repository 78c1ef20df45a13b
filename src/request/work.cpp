#include "request/work.hpp"

namespace forebay {

void copied(std::span<const Run>) {}

void copied(std::int64_t, std::int64_t) {}

void merged(std::int64_t) {}

}  // namespace forebay
