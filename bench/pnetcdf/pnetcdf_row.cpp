// Rows by name.
#include "pnetcdf_row.hpp"

#include <stdexcept>

namespace forebay::bench {

std::unique_ptr<Row> make_pnetcdf_row(std::string_view name, const Setting& setting, const Maps& maps) {
  if (name == "f-1") return make_e3sm_row(setting, maps.f, false, 1);
  if (name == "f-16") return make_e3sm_row(setting, maps.f, false, 16);
  if (name == "g-1") return make_e3sm_row(setting, maps.g, true, 1);
  if (name == "g-16") return make_e3sm_row(setting, maps.g, true, 16);
  if (name == "s3d") return make_s3d_row(setting);
  if (name == "btio") return make_btio_row(setting);
  if (name == "wrf") return make_wrf_row(setting);
  if (name == "tiny-4") return make_tiny_row(setting, 4);
  if (name == "tiny-16") return make_tiny_row(setting, 16);
  if (name == "small-puts") return make_small_row(setting, SmallCalls::puts);
  if (name == "late") return make_small_row(setting, SmallCalls::late);
  if (name == "small-waits") return make_small_row(setting, SmallCalls::waits);
  if (name == "independent") return make_stride_row(setting, true);
  if (name == "gaps") return make_stride_row(setting, false);
  if (name == "open-close") return from_create(make_open_close_row(setting));
  if (name == "reopen") return from_create(make_reopen_row(setting, false));
  if (name == "reopen-cyclic") return from_create(make_reopen_row(setting, true));
  throw std::runtime_error("there is no row " + std::string(name));
}

}  // namespace forebay::bench
