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

Status BoxFile::flush() {
  const CollectiveCall call(core_->about("flush"));
  Status status = core_->flush();
  // Also a barrier in strict mode, where the core has nothing to do.
  status = agree_outcome(core_->comm(), status);
  if (status.ok()) end_ = 0;
  return status;
}

Status BoxFile::sync() {
  Status status = core_->sync();
  if (status.ok()) end_ = 0;
  return status;
}

Status BoxFile::size(std::int64_t& bytes) {
  Status status = core_->size(bytes);
  bytes = std::max(bytes, end_);
  return status;
}

Status BoxFile::set_size(std::int64_t bytes, Status mine) {
  const CollectiveCall call(core_->about("change of size"));
  if (Status status = tcio::agree_on_size(*core_, bytes, std::move(mine)); !status.ok()) return status;
  if (Status status = flush(); !status.ok()) return status;
  return core_->set_size(bytes);
}

Status BoxFile::close() {
  return core_->close();
}

}  // namespace forebay::api
