// The table of codes, and the text that goes with them.
#include "errors.hpp"

#include <string>

namespace forebay::pnc {

int to_nc_error(const Status& status, int io) {
  switch (status.code()) {
    case Code::ok:
      return NC_NOERR;
    case Code::no_memory:
      return NC_ENOMEM;
    case Code::no_shared_memory:
      return NC_ENOMEM;
    case Code::no_space:
      return NC_ENO_SPACE;
    case Code::no_such_file:
      return NC_ENOENT;
    case Code::access:
      return NC_EACCESS;
    case Code::io:
      return io;
    case Code::bad_hint:
      return NC_EINVAL;
    case Code::bad_argument:
      return NC_EINVAL;
    case Code::mpi:
      return NC_EMPI;
    case Code::unsupported:
      return NC_ENOTSUPPORT;
    case Code::peer:
      return io;
    case Code::internal:
      return NC_EINTERNAL;
  }
  return NC_EINTERNAL;
}

int report(const Status& status, const char* what, int io) {
  if (!status.ok() && status.code() != Code::peer && !status.is_heard()) warn_few(what, status.message());
  return to_nc_error(status, io);
}

int thrown_to_nc_error(std::exception_ptr thrown) noexcept {
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const std::bad_alloc&) {
    return NC_ENOMEM;
  } catch (const std::exception& problem) {
    try {
      warn_once(std::string("internal error in the PnetCDF driver: ") + problem.what());
    } catch (...) {
      return NC_ENOMEM;
    }
    return NC_EINTERNAL;
  } catch (...) {
    return NC_EINTERNAL;
  }
}

}  // namespace forebay::pnc
