// Staging around the core's calls, and outcomes that all ranks share.
#include "api/box_file.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "ranks/agreement.hpp"

namespace forebay::api {

// Others hear of it as of another rank's failure: the reason is the program's own.
Status BoxFile::failed_callback(const char* what) const {
  return {Code::bad_argument, std::string("a callback failed that ") + what + path()};
}

Status BoxFile::put(Requests& requests, bool& callbacks) {
  Status status;
  try {
    requests.begin();
    status = core_->write(requests.puts());
  } catch (const StagedSource::Failed&) {
  }
  callbacks = !requests.settle();
  if (callbacks) return failed_callback("fills a put to ");
  if (status.ok()) end_ = std::max(end_, requests.end());
  return status;
}

Status BoxFile::put_all(Requests& requests, Status mine, bool& callbacks) {
  const CollectiveCall call(core_->about("collective write"));
  std::array<std::int64_t, 1> bad{mine.ok() ? 0 : 1};
  Status status;
  requests.begin();
  if (opened_.buffering) {
    status = core_->write_all(requests.puts(), bad);
  } else {
    core_->comm().barrier();  // what others put by themselves before is older
    try {
      status = core_->write(requests.puts());
    } catch (const std::bad_alloc&) {
      status = {Code::no_memory, "no memory for a collective write to " + path()};
    }
    status = agree_outcome(core_->comm(), status);
    core_->comm().reduce({bad.data(), 1}, Communicator::Op::maximum);
  }
  callbacks = !requests.settle();
  if (status.ok() && bad[0] == 0) {
    // Something begun that nobody asked for is this rank's own affair.
    if (callbacks) return failed_callback("fills a put to ");
    end_ = std::max(end_, requests.end());
    return {};
  }
  // All ranks come here, or none: the reason is to be that of who failed himself, not what the core made of
  // it.
  if (callbacks) mine = failed_callback("fills a put to ");
  mine = agree_outcome(core_->comm(), mine);
  mine.update(std::move(status));
  return mine;
}

Status BoxFile::get(Requests& requests, bool& callbacks) {
  Status status = core_->read(requests.gets());
  callbacks = !requests.settle();
  if (callbacks) status.update(failed_callback("takes what was read from "));
  return status;
}

Status BoxFile::get_all(Requests& requests, Status mine, bool& callbacks) {
  const CollectiveCall call(core_->about("collective read"));
  Status status;
  if (opened_.buffering) {
    status = core_->read_all(requests.gets());
  } else {
    core_->comm().barrier();
    status = core_->read(requests.gets());
  }
  callbacks = !requests.settle();
  if (callbacks) mine.update(failed_callback("takes what was read from "));
  mine.update(std::move(status));
  return agree_outcome(core_->comm(), mine);
}

Status BoxFile::note(Requests::Kind kind, const forebay_request* requests, std::int64_t count,
                     const std::string& what) {
  Status status = (kind == Requests::Kind::put ? pending_.puts : pending_.gets).add(requests, count, what);
  if (!status.ok()) pending_.refused.update(status);
  return status;
}

Status BoxFile::wait(bool& callbacks) {
  Pending mine = std::exchange(pending_, Pending{});
  Status status = std::move(mine.refused);
  bool failed = false;
  if (!mine.puts.empty()) status.update(put(mine.puts, callbacks));
  if (!mine.gets.empty()) status.update(get(mine.gets, failed));
  callbacks = callbacks || failed;
  return status;
}

Status BoxFile::wait_all(bool& callbacks) {
  const CollectiveCall call(core_->about("wait_all"));
  Pending mine = std::exchange(pending_, Pending{});
  Agreement agreed;
  const auto puts = agreed.any(!mine.puts.empty()), gets = agreed.any(!mine.gets.empty()),
             refused = agreed.any(!mine.refused.ok());
  agreed.reduce_over(core_->comm());
  Status status;
  bool failed = false;
  if (agreed[refused]) status = spread_failure(core_->comm(), mine.refused);
  if (agreed[puts]) status.update(put_all(mine.puts, {}, callbacks));
  if (agreed[gets]) status.update(get_all(mine.gets, {}, failed));
  callbacks = callbacks || failed;
  return status;
}

// Who has something pending is told with the outcome, since a flush is made of such messages.
Status BoxFile::flush(bool& callbacks) {
  const CollectiveCall call(core_->about("flush"));
  Status status = core_->flush();
  // Also a barrier in strict mode, where the core has nothing to do.
  Agreement agreed;
  const auto well = agreed.all(status.ok());
  const auto pending = agreed.any(pending_.any());
  agreed.reduce_over(core_->comm());
  if (!agreed[well]) status = spread_failure(core_->comm(), status);
  if (agreed[pending]) {
    status.update(wait_all(callbacks));
    status.update(agree_outcome(core_->comm(), core_->flush()));
  }
  if (status.ok()) end_ = 0;
  return status;
}

Status BoxFile::sync(bool& callbacks) {
  const CollectiveCall call(core_->about("sync"));
  Status status = wait_all(callbacks);
  status.update(core_->sync());
  if (status.ok()) end_ = 0;
  return status;
}

Status BoxFile::size(std::int64_t& bytes) {
  Status status = core_->size(bytes);
  bytes = std::max(bytes, end_);
  return status;
}

Status BoxFile::set_size(std::int64_t bytes, Status mine, bool& callbacks) {
  const CollectiveCall call(core_->about("change of size"));
  if (Status status = tcio::agree_on_size(*core_, bytes, std::move(mine)); !status.ok()) return status;
  if (Status status = flush(callbacks); !status.ok()) return status;
  return core_->set_size(bytes);
}

Status BoxFile::close(bool& callbacks) {
  const CollectiveCall call(core_->about("close"));
  Status status = wait_all(callbacks);
  status.update(core_->close());
  return status;
}

}  // namespace forebay::api
