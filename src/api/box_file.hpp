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

  /// Notes requests for a wait; flush, sync, set_size and close wait, too, for those of all ranks. What is
  /// wrong with them is returned here, and again by that.
  Status note(Requests::Kind kind, const forebay_request* requests, std::int64_t count,
              const std::string& what);
  Status wait(bool& callbacks);
  Status wait_all(bool& callbacks);

  Status flush(bool& callbacks);
  Status sync(bool& callbacks);
  Status size(std::int64_t& bytes);
  Status set_size(std::int64_t bytes, Status mine, bool& callbacks);
  Status close(bool& callbacks);

 private:
  struct Pending {
    Requests puts{Requests::Kind::put};
    Requests gets{Requests::Kind::get};
    Status refused;
    bool any() const { return !puts.empty() || !gets.empty() || !refused.ok(); }
  };

  Status failed_callback(const char* what) const;

  std::unique_ptr<CoreFile> core_;
  tcio::Opened opened_;
  Pending pending_;
  std::int64_t end_ = 0;  // of what this rank put since the last flush
};

}  // namespace forebay::api
