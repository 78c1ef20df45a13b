// Each rank's share of a file, written contiguously by pwrite.
#include "plain_writes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace forebay::bench {
namespace {

constexpr std::int64_t write_size = std::int64_t{4} << 20;

int open_file(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (descriptor < 0) throw std::runtime_error(fmt::format("open {}: {}", path, std::strerror(errno)));
  return descriptor;
}

}  // namespace

PlainWrites::PlainWrites(std::int64_t bytes, MPI_Comm comm) : comm_(comm) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  begin_ = bytes * rank / ranks;
  end_ = bytes * (rank + 1) / ranks;
  buffer_.assign(static_cast<std::size_t>(std::min(write_size, end_ - begin_)), std::byte{0x5a});
}

void PlainWrites::create(const std::string& path) {
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  if (rank == 0) descriptor_ = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  MPI_Barrier(comm_);
  if (rank != 0) descriptor_ = open_file(path, O_WRONLY);
}

void PlainWrites::write() {
  for (std::int64_t at = begin_; at < end_;) {
    const auto size = static_cast<std::size_t>(std::min(write_size, end_ - at));
    const ssize_t wrote = ::pwrite(descriptor_, buffer_.data(), size, at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) throw std::runtime_error(fmt::format("pwrite: {}", std::strerror(errno)));
    at += wrote;
  }
}

void PlainWrites::close() {
  if (::close(descriptor_) != 0) throw std::runtime_error(fmt::format("close: {}", std::strerror(errno)));
}

}  // namespace forebay::bench
