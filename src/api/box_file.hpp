// One open file of boxes: the core's file, and what programs get wrong in calls that all ranks make together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/open.hpp"
#include "api/requests.hpp"
#include "base/status.hpp"

namespace forebay::api {

/// `_all` functions, flush, sync, set_size and close are collective. `mine`: how this rank's arguments stand;
/// a rank with bad ones takes part with nothing, and all return that. `callbacks` is set where one of this
/// rank's failed.
class BoxFile {
 public:
  explicit BoxFile(tcio::Opened opened) : core_(std::move(opened.core)), opened_(std::move(opened)) {}

  tcio::Access access() const { return opened_.access; }
  const std::string& path() const { return core_->path(); }

  Status put(Requests& requests, bool& callbacks);
  Status put_all(Requests& requests, Status mine, bool& callbacks);
  Status get(Requests& requests, bool& callbacks);
  Status get_all(Requests& requests, Status mine, bool& callbacks);
  Status flush();
  Status sync();
  Status size(std::int64_t& bytes);
  Status set_size(std::int64_t bytes, Status mine);
  Status close();

 private:
  Status failed_callback(const char* what) const;

  std::unique_ptr<CoreFile> core_;
  tcio::Opened opened_;
  std::int64_t end_ = 0;  // of what this rank put since the last flush
};

}  // namespace forebay::api
