// Forebay's error class in HDF5: one major message, one minor message for each kind of failure.
#include "errors.hpp"

#include <array>
#include <string>

namespace forebay::hdf5 {
namespace {

constexpr std::array kinds{"success",       "out of memory",     "no shared memory",   "no space left",
                           "no such file",  "permission denied", "input/output error", "bad hint",
                           "bad argument",  "MPI failure",       "unsupported",        "another rank failed",
                           "internal error"};
static_assert(kinds.size() == static_cast<std::size_t>(Code::internal) + 1);

struct ErrorClass {
  hid_t id = H5I_INVALID_HID;
  hid_t major = H5I_INVALID_HID;
  std::array<hid_t, kinds.size()> minor{};
};
ErrorClass error_class;  // HDF5 serialises its callbacks

bool ready() {
  if (error_class.id > 0 && H5Iis_valid(error_class.id) > 0) return true;
  ErrorClass made;
  made.id = H5Eregister_class("Forebay", "forebay", "1");
  if (made.id < 0) return false;
  made.major = H5Ecreate_msg(made.id, H5E_MAJOR, "Forebay file driver");
  for (std::size_t i = 0; i < kinds.size(); ++i) made.minor[i] = H5Ecreate_msg(made.id, H5E_MINOR, kinds[i]);
  error_class = made;
  return true;
}

}  // namespace

void push_error(const char* function, const Status& status) noexcept {
  if (!ready()) {
    warn_once(status.message());
    return;
  }
  const auto kind = static_cast<std::size_t>(status.code());
  H5Epush2(H5E_DEFAULT, "forebay", function, 0, error_class.id, error_class.major,
           error_class.minor[kind < kinds.size() ? kind : kinds.size() - 1], "%s", status.message().c_str());
}

void forget_error_class() noexcept {
  error_class = {};
}

herr_t report(herr_t result) noexcept {
  if (result < 0) {
    H5E_auto2_t print = nullptr;
    void* data = nullptr;
    if (H5Eget_auto2(H5E_DEFAULT, &print, &data) >= 0 && print != nullptr) print(H5E_DEFAULT, data);
  }
  return result;
}

}  // namespace forebay::hdf5
