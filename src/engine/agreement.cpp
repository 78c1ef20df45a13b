// A reduction in the good case; a broadcast of the reason in the bad one.
#include "engine/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "mpi/handles.hpp"

namespace forebay {
namespace {

struct Reason {
  int code;
  std::array<char, 508> text;
};

}  // namespace

Status agree_outcome(MPI_Comm comm, const Status& mine, std::int64_t* least) {
  std::array<std::int64_t, 2> values{mine.ok() ? 1 : 0, least != nullptr ? *least : 0};
  MPI_Allreduce(MPI_IN_PLACE, values.data(), least != nullptr ? 2 : 1, MPI_INT64_T, MPI_MIN, comm);
  if (least != nullptr) *least = values[1];
  return values[0] != 0 ? Status{} : spread_failure(comm, mine);
}

Status spread_failure(MPI_Comm comm, const Status& mine) {
  const int ranks = mpi::size(comm);
  // A rank that only heard of a failure does not speak for it.
  int speaker = mine.ok() || mine.code() == Code::peer ? ranks : mpi::rank(comm);
  MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, comm);
  if (speaker == ranks) return mine.ok() ? Status{Code::peer, "another rank failed"} : mine;
  Reason reason{};
  if (mpi::rank(comm) == speaker) {
    reason.code = static_cast<int>(mine.code());
    const std::size_t length = std::min(mine.message().size(), reason.text.size() - 1);
    std::memcpy(reason.text.data(), mine.message().data(), length);
  }
  MPI_Bcast(&reason, static_cast<int>(sizeof reason), MPI_BYTE, speaker, comm);
  if (!mine.ok() && mine.code() != Code::peer) return mine;
  return Status::heard(static_cast<Code>(reason.code),
                       "rank " + std::to_string(speaker) + ": " + reason.text.data());
}

}  // namespace forebay
