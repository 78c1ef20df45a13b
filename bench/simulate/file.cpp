// A server's queue is the time when it is free again.
#include "file.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/descriptor.hpp"
#include "rank.hpp"

namespace forebay::simulate {

File::File(const ServerCosts& costs, std::int64_t bytes)
    : costs_(costs),
      size_(bytes),
      free_at_(static_cast<std::size_t>(costs.servers)),
      busy_(free_at_.size()),
      last_writer_(static_cast<std::size_t>(bytes / costs.stripe + 1), -1) {
  // Pages come as they are written.
  void* const at = ::mmap(nullptr, static_cast<std::size_t>(bytes) + 1, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  bytes_ = static_cast<std::byte*>(at);
}

File::~File() {
  ::munmap(bytes_, static_cast<std::size_t>(size_) + 1);
}

double File::serve(std::int64_t offset, std::int64_t length, double at, int writer) {
  double done = at + static_cast<double>(length) / costs_.rank_rate;
  for (std::int64_t part = offset; part < offset + length;) {
    const std::int64_t stripe = part / costs_.stripe;
    const std::int64_t end = std::min(offset + length, (stripe + 1) * costs_.stripe);
    const auto server = static_cast<std::size_t>(stripe % costs_.servers);
    double seconds = costs_.request + static_cast<double>(end - part) / costs_.rate;
    if (writer >= 0) {
      int& last = last_writer_[static_cast<std::size_t>(stripe)];
      if (last >= 0 && last != writer) {
        seconds += costs_.shared;
        ++seen_.shared;
      }
      last = writer;
    }
    free_at_[server] = std::max(free_at_[server], at) + seconds;
    busy_[server] += seconds;
    done = std::max(done, free_at_[server]);
    part = end;
  }
  return done;
}

double File::write(int rank, std::int64_t offset, const std::byte* data, std::int64_t length, double at) {
  if (offset < 0 || length < 0 || offset > size_ - length)
    throw std::out_of_range("a write of bytes [" + std::to_string(offset) + ", " +
                            std::to_string(offset + length) + ") of a file of " + std::to_string(size_));
  std::memcpy(bytes_ + offset, data, static_cast<std::size_t>(length));
  if (damaged_ >= offset && damaged_ < offset + length) bytes_[damaged_] ^= std::byte{1};
  ++seen_.writes;
  seen_.written_bytes += length;
  const bool within =
      offset / costs_.stripe == (offset + std::max<std::int64_t>(length, 1) - 1) / costs_.stripe;
  if (!within && (offset % costs_.stripe != 0 || (offset + length) % costs_.stripe != 0)) ++seen_.straddling;
  if (has_written_.size() <= static_cast<std::size_t>(rank))
    has_written_.resize(static_cast<std::size_t>(rank) + 1);
  if (!has_written_[static_cast<std::size_t>(rank)]) {
    has_written_[static_cast<std::size_t>(rank)] = true;
    ++seen_.writers;
  }
  return serve(offset, length, at, rank);
}

double File::read(std::int64_t offset, std::byte* data, std::int64_t length, double at) {
  const std::int64_t there = std::clamp<std::int64_t>(size_ - offset, 0, length);
  std::memcpy(data, bytes_ + offset, static_cast<std::size_t>(there));
  std::memset(data + there, 0, static_cast<std::size_t>(length - there));
  ++seen_.reads;
  seen_.read_bytes += length;
  return serve(offset, there, at, -1);
}

File::Seen File::seen() const {
  Seen all = seen_;
  all.busiest = *std::max_element(busy_.begin(), busy_.end());
  all.busy = std::accumulate(busy_.begin(), busy_.end(), 0.0);
  return all;
}

void File::forget_seen() {
  seen_ = {};
  std::fill(busy_.begin(), busy_.end(), 0.0);
  has_written_.clear();
}

namespace {

class SimulatedStorage final : public Storage {
 public:
  SimulatedStorage(File& file, int rank) : file_(file), rank_(rank) {}

  Status write(std::span<const Piece> pieces) override {
    for (const Piece& piece : pieces) {
      pass(0);  // what the rank owes comes before
      const double at = clock();
      pass(file_.write(rank_, piece.offset, piece.data, piece.length, at) - at);
    }
    return {};
  }

  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override {
    pass(0);
    const double at = clock();
    pass(file_.read(offset, data, length, at) - at);
    return {};
  }

 private:
  File& file_;
  int rank_;
};

class SimulatedHandle final : public CollectiveHandle {
 public:
  SimulatedHandle(File& file, int rank, Descriptor descriptor)
      : file_(file), rank_(rank), descriptor_(std::move(descriptor)) {}

  std::unique_ptr<Storage> storage(int) override { return make_storage(file_, rank_); }
  Status size(std::int64_t& bytes) override {
    bytes = file_.size();
    return {};
  }
  Striping striping() override { return {file_.costs().stripe, file_.costs().servers}; }
  Status set_size(std::int64_t) override { return {}; }
  Status sync() override { return {}; }
  Status close() override { return {}; }
  void abandon() override {}

 private:
  File& file_;
  int rank_;
  Descriptor descriptor_;
};

}  // namespace

std::unique_ptr<Storage> make_storage(File& file, int rank) {
  return std::make_unique<SimulatedStorage>(file, rank);
}

Status Opener::open(const std::string& path, bool, std::unique_ptr<CollectiveHandle>& out) const {
  Descriptor descriptor;
  if (descriptors_) {
    descriptor = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (descriptor.number() < 0) return from_errno(errno, "cannot open " + path);
  }
  out = std::make_unique<SimulatedHandle>(file_, rank_, std::move(descriptor));
  return {};
}

}  // namespace forebay::simulate
