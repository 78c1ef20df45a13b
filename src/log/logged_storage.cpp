#include "log/logged_storage.hpp"

namespace forebay {
namespace {

class LoggedStorage final : public Storage {
 public:
  LoggedStorage(Storage& below, NodeLog& log) : below_(below), log_(log) {}

  Status write(std::span<const Piece> pieces) override { return log_.append(pieces, below_); }

  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override {
    for (;;) {
      const NodeLog::Mark mark = log_.mark();
      Status status = below_.read(offset, data, length);
      if (!status.ok() || log_.overlay(mark, offset, data, length, status)) return status;
    }
  }

 private:
  Storage& below_;
  NodeLog& log_;
};

}  // namespace

std::unique_ptr<Storage> make_logged_storage(Storage& below, NodeLog& log) {
  return std::make_unique<LoggedStorage>(below, log);
}

}  // namespace forebay
