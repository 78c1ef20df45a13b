// A reduction in the good case; a broadcast of the reason in the bad one.
#include "ranks/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace forebay {
namespace {

struct Reason {
  int code;
  std::array<char, 508> text;
};

}  // namespace

Status agree_outcome(const Communicator& ranks, const Status& mine) {
  return ranks.all(mine.ok()) ? Status{} : spread_failure(ranks, mine);
}

Status spread_failure(const Communicator& ranks, const Status& mine) {
  // A rank that only heard of a failure does not speak for it.
  const bool silent = mine.ok() || mine.code() == Code::peer;
  const auto speaker = static_cast<int>(ranks.minimum(silent ? ranks.size() : ranks.rank()));
  if (speaker == ranks.size()) return mine.ok() ? Status{Code::peer, "another rank failed"} : mine;
  Reason reason{};
  if (ranks.rank() == speaker) {
    reason.code = static_cast<int>(mine.code());
    const std::size_t length = std::min(mine.message().size(), reason.text.size() - 1);
    std::memcpy(reason.text.data(), mine.message().data(), length);
  }
  ranks.broadcast(&reason, sizeof reason, speaker);
  if (!mine.ok() && mine.code() != Code::peer) return mine;
  return Status::heard(static_cast<Code>(reason.code),
                       "rank " + std::to_string(speaker) + ": " + reason.text.data());
}

}  // namespace forebay
