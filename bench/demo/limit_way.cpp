// The limit the demo holds everything against: plain contiguous writes of the same number of bytes.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "way.hpp"

namespace forebay::demo {
namespace {

constexpr std::int64_t write_size = std::int64_t{4} << 20;

class LimitWay final : public Way {
 public:
  LimitWay(std::int64_t bytes, MPI_Comm comm) : comm_(comm) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    begin_ = bytes * rank / ranks;
    end_ = bytes * (rank + 1) / ranks;
    buffer_.assign(static_cast<std::size_t>(std::min(write_size, end_ - begin_)), std::byte{0x5a});
  }

  void create(const std::string& path) override {
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    if (rank == 0) descriptor_ = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
    MPI_Barrier(comm_);
    if (rank != 0) descriptor_ = open_file(path, O_WRONLY);
  }

  void aim(std::int64_t) override {}

  void write(std::int64_t) override {
    for (std::int64_t at = begin_; at < end_;) {
      const auto size = static_cast<std::size_t>(std::min(write_size, end_ - at));
      const ssize_t wrote = ::pwrite(descriptor_, buffer_.data(), size, at);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) throw std::runtime_error(fmt::format("pwrite: {}", std::strerror(errno)));
      at += wrote;
    }
  }

  void close() override {
    if (::close(descriptor_) != 0) throw std::runtime_error(fmt::format("close: {}", std::strerror(errno)));
  }

 private:
  static int open_file(const std::string& path, int flags) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
    if (descriptor < 0) throw std::runtime_error(fmt::format("open {}: {}", path, std::strerror(errno)));
    return descriptor;
  }

  MPI_Comm comm_;
  std::int64_t begin_ = 0, end_ = 0;
  int descriptor_ = -1;
  std::vector<std::byte> buffer_;
};

}  // namespace

std::unique_ptr<Way> make_limit_way(std::int64_t bytes, MPI_Comm comm) {
  return std::make_unique<LimitWay>(bytes, comm);
}

}  // namespace forebay::demo
