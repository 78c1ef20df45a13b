// Translating types, and the conversions that do not happen on the way to the file.
#include "conversion.hpp"

#include <bit>

#include "convert/convert_source.hpp"
#include "convert/get_converter.hpp"
#include "open_file.hpp"

namespace forebay::pnc {

int conversion_for(OpenFile& file, const Variable& variable, Element element, Conversion& conversion) {
  conversion.external = static_cast<ExternalType>(variable.type);
  conversion.memory = static_cast<MemoryType>(element);
  conversion.options.classic_bytes = file.cdf_format < 5;
  // A variable may have a fill value of its own, at any time in define mode.
  if (element == element_of_external(variable.type)) return NC_NOERR;
  return file.stock.inq_var(file.stock_file, variable.id, nullptr, nullptr, nullptr, nullptr, nullptr,
                            nullptr, nullptr, conversion.fill.data());
}

Conversion conversion_back(const OpenFile& file, const Variable& variable, const BufferLayout& layout) {
  Conversion conversion;
  conversion.external = static_cast<ExternalType>(variable.type);
  conversion.memory = static_cast<MemoryType>(layout.element);
  conversion.fill = default_fill(conversion.memory, layout.is_long);
  conversion.options.classic_bytes = file.cdf_format < 5;
  return conversion;
}

Swap swap_of(const Variable& variable) {
  if constexpr (std::endian::native == std::endian::big) return Swap::none;
  return static_cast<Swap>(variable.element_bytes);
}

int copy_converted(const std::byte* from, std::int64_t elements, const Mapping* mapping,
                   const Conversion& conversion, std::byte* to) {
  bool out_of_range = false;
  if (mapping == nullptr) {
    out_of_range = convert(conversion.external, conversion.memory, from, to,
                           static_cast<std::size_t>(elements), conversion.fill.data(), conversion.options);
  } else {
    GatherSource source(from, mapping->count, mapping->imap, conversion.external, conversion.memory,
                        conversion.fill.data(), conversion.options);
    const Run all{0, 0, elements * element_size(conversion.external)};
    source.produce({&all, 1}, to, 0);
    out_of_range = source.range_error();
  }
  return out_of_range ? NC_ERANGE : NC_NOERR;
}

}  // namespace forebay::pnc
