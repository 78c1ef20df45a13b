#include "request/work.hpp"

namespace forebay {

void copied(std::span<const Run>) {}

void merged(std::int64_t) {}

}  // namespace forebay
