// Rows and forms by name.
#include <stdexcept>

#include "hdf5_row.hpp"

namespace forebay::bench {

Transfer parse_transfer(std::string_view name) {
  if (name == "independent") return Transfer::Independent;
  if (name == "collective") return Transfer::Collective;
  if (name == "multi") return Transfer::Multi;
  throw std::runtime_error("there is no transfer " + std::string(name));
}

std::unique_ptr<Row> make_hdf5_row(std::string_view name, const Setting& setting, const Form& form,
                                   const std::string& f_map) {
  const auto sized = [&](std::int64_t tiny, std::int64_t quick, std::int64_t normal, std::int64_t full) {
    return by_size(setting.size, tiny, quick, normal, full);
  };
  const Blocks chunked{3, 2, sized(12, 72, 144, 240), true, 0};
  if (name == "datasets") return make_datasets_row(setting, form);
  if (name == "stride-1") return make_stride_row(setting, form, 1);
  if (name == "stride-64") return make_stride_row(setting, form, 64);
  if (name == "block-2d") return make_block_row(setting, form, {2, 4, sized(8, 192, 512, 768)});
  if (name == "block-3d") return make_block_row(setting, form, {3, 4, sized(4, 48, 64, 80)});
  if (name == "chunked") return make_block_row(setting, form, chunked);
  if (name == "deflate") {
    Blocks deflated = chunked;
    deflated.level = 1;
    return make_block_row(setting, form, deflated);
  }
  if (name == "multi") return make_block_row(setting, form, {2, 32, sized(4, 96, 128, 192)});
  if (name == "f") return make_f_row(setting, form, f_map);
  if (name == "amr") return make_amr_row(setting, form);
  if (name == "small-independent") return make_small_row(setting, form);
  if (name == "independent") return make_calls_row(setting, form, true);
  if (name == "gaps") return make_calls_row(setting, form, false);
  if (name == "open-close") return from_create(make_block_row(setting, form, {2, 1, 16}));
  throw std::runtime_error("there is no row " + std::string(name));
}

}  // namespace forebay::bench
