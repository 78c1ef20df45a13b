// Each rank's share of a file, read contiguously by pread.
#include "plain_reads.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace forebay::bench {
namespace {

constexpr std::int64_t read_size = std::int64_t{4} << 20;

}  // namespace

PlainReads::PlainReads(const std::string& path, MPI_Comm comm)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat info{};
  if (descriptor_ < 0 || ::fstat(descriptor_, &info) != 0)
    throw std::runtime_error(fmt::format("open {}: {}", path, std::strerror(errno)));
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  begin_ = info.st_size * rank / ranks;
  end_ = info.st_size * (rank + 1) / ranks;
  buffer_.assign(static_cast<std::size_t>(end_ - begin_), std::byte{1});
}

PlainReads::~PlainReads() {
  ::close(descriptor_);
}

void PlainReads::read() {
  for (std::int64_t at = begin_; at < end_;) {
    const auto size = static_cast<std::size_t>(std::min(read_size, end_ - at));
    const ssize_t got = ::pread(descriptor_, buffer_.data() + (at - begin_), size, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw std::runtime_error(fmt::format("pread: {}", std::strerror(errno)));
    at += got;
  }
}

}  // namespace forebay::bench
