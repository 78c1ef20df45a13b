// Appends from one buffer, over and over.
#include "rank_copies.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace forebay::bench {

RankCopies::RankCopies(const std::string& folder, int rank)
    : path_(fmt::format("{}/copy.{}.{}", folder, ::getpid(), rank)),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644)),
      buffer_(std::size_t{4} << 20, std::byte{0x5a}) {
  if (descriptor_ < 0) throw std::runtime_error(fmt::format("open {}: {}", path_, std::strerror(errno)));
}

RankCopies::~RankCopies() {
  ::close(descriptor_);
  ::unlink(path_.c_str());
}

void RankCopies::append(std::int64_t bytes) {
  while (bytes > 0) {
    const auto size = std::min(static_cast<std::size_t>(bytes), buffer_.size());
    const ssize_t wrote = ::write(descriptor_, buffer_.data(), size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) throw std::runtime_error(fmt::format("write {}: {}", path_, std::strerror(errno)));
    bytes -= wrote;
  }
}

}  // namespace forebay::bench
