// HDF5 identifiers that close themselves, and HDF5's errors as exceptions.
#pragma once

#include <fmt/format.h>
#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace forebay::bench {

namespace detail {
inline herr_t keep_first(unsigned, const H5E_error2_t* error, void* reason) {
  *static_cast<std::string*>(reason) = error->desc == nullptr ? "" : error->desc;
  return 1;
}
}  // namespace detail

// Throws where an HDF5 call failed, naming it and the innermost reason.
template <typename T>
T check_hdf5(T result, const char* call) {
  if (result >= 0) return result;
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, detail::keep_first, &reason);
  throw std::runtime_error(fmt::format("{}: {}", call, reason));
}

class Hdf5Id {
 public:
  Hdf5Id() = default;
  Hdf5Id(hid_t id, const char* call) : id_(check_hdf5(id, call)) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Hdf5Id() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  operator hid_t() const { return id_; }

  // For closing by hand, where an error has to be seen.
  hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

}  // namespace forebay::bench
