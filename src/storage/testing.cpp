// Storage that fails or dawdles on purpose, so that tests see what users see on a bad day.
#include <unistd.h>

#include <random>

#include "storage/storage.hpp"

namespace forebay {
namespace {

class FailingStorage final : public Storage {
 public:
  FailingStorage(std::unique_ptr<Storage> below, std::string path, std::int64_t bytes)
      : below_(std::move(below)), path_(std::move(path)), left_(bytes) {}

  Status write(std::span<const Piece> pieces) override {
    for (const Piece& piece : pieces) {
      if (piece.length > left_) {
        return {Code::io, range_message("write", path_, piece.offset, piece.length) +
                              ": failure injected by forebay_storage=failing"};
      }
      if (Status status = below_->write({&piece, 1}); !status.ok()) return status;
      left_ -= piece.length;
    }
    return {};
  }

  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override {
    return below_->read(offset, data, length);
  }

 private:
  std::unique_ptr<Storage> below_;
  std::string path_;
  std::int64_t left_;
};

class DelayedStorage final : public Storage {
 public:
  DelayedStorage(std::unique_ptr<Storage> below, std::int64_t usec, unsigned seed)
      : below_(std::move(below)), random_(seed), delay_(0, usec) {}

  Status write(std::span<const Piece> pieces) override {
    ::usleep(static_cast<useconds_t>(delay_(random_)));
    return below_->write(pieces);
  }

  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override {
    ::usleep(static_cast<useconds_t>(delay_(random_)));
    return below_->read(offset, data, length);
  }

 private:
  std::unique_ptr<Storage> below_;
  std::mt19937 random_;
  std::uniform_int_distribution<std::int64_t> delay_;
};

}  // namespace

std::unique_ptr<Storage> make_failing_storage(std::unique_ptr<Storage> below, std::string path,
                                              std::int64_t bytes) {
  return std::make_unique<FailingStorage>(std::move(below), std::move(path), bytes);
}

std::unique_ptr<Storage> make_delayed_storage(std::unique_ptr<Storage> below, std::int64_t usec,
                                              unsigned seed) {
  return std::make_unique<DelayedStorage>(std::move(below), usec, seed);
}

}  // namespace forebay
