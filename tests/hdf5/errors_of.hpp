// What a failing call of HDF5 says.
#pragma once

#include <hdf5.h>

#include <cstdio>
#include <string>

namespace test {

/// Runs `f` with HDF5's error printing off; the descriptions on the error stack afterwards, a line each.
template <class F>
std::string errors_of(F&& f) {
  H5E_auto2_t print = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &print, &data);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5Eclear2(H5E_DEFAULT);
  f();
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_DOWNWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        *static_cast<std::string*>(out) += std::string(error->desc) + "\n";
        return 0;
      },
      &text);
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, print, data);
  return text;
}

/// Whether the text has that part; prints the text where it does not.
inline bool says(const std::string& text, const char* part) {
  if (text.find(part) != std::string::npos) return true;
  std::fprintf(stderr, "  the error stack does not say \"%s\":\n%s", part, text.c_str());
  return false;
}

}  // namespace test
