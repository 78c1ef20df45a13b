// Conversion by PnetCDF's rules of range, and the order of bytes and of mapped buffers.
#include "conversion.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "open_file.hpp"

namespace forebay::pnc {
namespace {

template <class To, class From>
bool fits(From v) {
  if constexpr (std::is_same_v<To, From>) return true;
  else if constexpr (std::is_floating_point_v<To>) {
    if constexpr (std::is_floating_point_v<From>) return !(static_cast<double>(v) > std::numeric_limits<To>::max() || static_cast<double>(v) < std::numeric_limits<To>::lowest());
    else return true;
  } else if constexpr (std::is_floating_point_v<From>) {
    return !(static_cast<double>(v) > static_cast<double>(std::numeric_limits<To>::max()) || static_cast<double>(v) < static_cast<double>(std::numeric_limits<To>::min()));
  } else {
    return !std::cmp_greater(v, std::numeric_limits<To>::max()) && !std::cmp_less(v, std::numeric_limits<To>::min());
  }
}

template <class To, class From>
bool run(const std::byte* from, std::byte* to, std::int64_t n, const std::byte* fill) {
  bool out = false;
  To fv; std::memcpy(&fv, fill, sizeof fv);
  for (std::int64_t i = 0; i < n; ++i) {
    From v; std::memcpy(&v, from + i * (std::int64_t)sizeof v, sizeof v);
    To r;
    if (fits<To>(v)) r = static_cast<To>(v); else { r = fv; out = true; }
    std::memcpy(to + i * (std::int64_t)sizeof r, &r, sizeof r);
  }
  return out;
}

template <class F>
auto with(Element e, F f) {
  switch (e) {
    case Element::int8: return f((signed char)0);
    case Element::uint8: return f((unsigned char)0);
    case Element::int16: return f((short)0);
    case Element::uint16: return f((unsigned short)0);
    case Element::int32: return f((int)0);
    case Element::uint32: return f((unsigned)0);
    case Element::float32: return f((float)0);
    case Element::float64: return f((double)0);
    case Element::int64: return f((long long)0);
    default: return f((unsigned long long)0);
  }
}

}  // namespace

Swap swap_of(const Variable& variable) {
  if constexpr (std::endian::native == std::endian::big) return Swap::none;
  return static_cast<Swap>(variable.element_bytes);
}

void gather(const std::byte* from, std::size_t each, std::span<const MPI_Offset> count, const MPI_Offset* imap,
            std::byte* to) {
  if (count.empty()) {
    std::memcpy(to, from, each);
    return;
  }
  std::size_t below = each;
  for (std::size_t d = 1; d < count.size(); ++d) below *= static_cast<std::size_t>(count[d]);
  const auto step = imap[0] * static_cast<MPI_Offset>(each);
  for (MPI_Offset i = 0; i < count[0]; ++i) {
    gather(from + i * step, each, count.subspan(1), imap + 1, to + static_cast<std::size_t>(i) * below);
  }
}

int store_as(OpenFile& file, const Variable& variable, const std::byte* from, Element element, std::int64_t elements,
             bool converts, std::byte* to) {
  if (!converts) {
    std::memcpy(to, from, static_cast<std::size_t>(elements * variable.element_bytes));
    return NC_NOERR;
  }
  std::byte fill[8];
  if (int err = file.stock.inq_var(file.stock_file, variable.id, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, fill)) return err;
  const bool out = with(element, [&](auto f) {
    return with(element_of(variable.type), [&](auto t) { return run<decltype(t), decltype(f)>(from, to, elements, fill); });
  });
  return out ? NC_ERANGE : NC_NOERR;
}

}  // namespace forebay::pnc
