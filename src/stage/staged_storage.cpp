#include "stage/staged_storage.hpp"

#include <new>
#include <utility>

namespace forebay {
namespace {

class StagedStorage final : public Storage {
 public:
  StagedStorage(Storage& below, std::unique_ptr<NodeStage> stage, Counters& counters,
                std::function<bool()> may_change)
      : below_(below), stage_(std::move(stage)), counters_(counters), may_change_(std::move(may_change)) {}

  Status write(std::span<const Piece> pieces) override { return below_.write(pieces); }

  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override {
    if (changed_ || (may_change_ && may_change_() && looks_changed()))
      return below_.read(offset, data, length);
    StageTally tally;
    Status status;
    try {
      status = stage_->read(offset, data, length, below_, tally);
    } catch (const std::bad_alloc&) {
      status = below_.read(offset, data, length);
    }
    counters_.stage_reads += tally.reads;
    counters_.stage_read_bytes += tally.read_bytes;
    counters_.stage_fetches += tally.fetches;
    counters_.stage_fetched_bytes += tally.fetched_bytes;
    return status;
  }

 private:
  bool looks_changed() {
    FileStamp now;
    changed_ =
        !stage_->is_certain() || !stamp_at(stage_->identity().path, now) || now != stage_->identity().stamp();
    return changed_;
  }

  Storage& below_;
  std::unique_ptr<NodeStage> stage_;
  Counters& counters_;
  std::function<bool()> may_change_;
  bool changed_ = false;
};

}  // namespace

std::unique_ptr<Storage> make_staged_storage(Storage& below, std::unique_ptr<NodeStage> stage,
                                             Counters& counters, std::function<bool()> may_change) {
  return std::make_unique<StagedStorage>(below, std::move(stage), counters, std::move(may_change));
}

}  // namespace forebay
