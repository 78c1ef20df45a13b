// The loops to the file of all pairs of types, made from one rule for a single element.
#include "convert/convert.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <type_traits>

#include "convert/convert_rules.hpp"
#include "request/byte_order.hpp"

namespace forebay {

struct Converter::Kernel {
  bool (*strided)(const std::byte* in, std::ptrdiff_t stride, std::byte* out, std::size_t count,
                  const std::byte* fill);
  bool (*contiguous)(const std::byte* in, std::byte* out, std::size_t count, const std::byte* fill);
  bool (*runs)(std::span<const Run> runs, const std::byte* memory, std::byte* destination,
               std::int64_t origin, const std::byte* fill);
};

namespace {

using namespace conversion;

template <class Number>
void store_big(std::byte* to, Number value) {
  store(to, byte_swap(std::bit_cast<WordOf<Number>>(value)));
}

// Returns whether the element is plain; if not, what it stores is to be redone.
template <class To, class From>
inline bool convert_plain(const std::byte* from, std::byte* to) {
  const From value = load<From>(from);
  const bool plain = is_plain<To>(value);
  store_big(to, static_cast<To>(plain ? value : From{0}));
  return plain;
}

// Any element; returns whether it is out of range.
template <class To, class From>
bool convert_any(const std::byte* from, std::byte* to, const std::byte* fill) {
  const From value = load<From>(from);
  const bool good = is_in_range<To>(value);
  if (!good && fill != nullptr) {
    store_big(to, load<To>(fill));
  } else if (is_plain<To>(value)) {
    store_big(to, static_cast<To>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    store_big(to, machine_integer<To>(static_cast<double>(value)));
  } else {
    store_big(to, static_cast<To>(value));
  }
  return !good;
}

// With the stride known the compiler makes vectors of the inner loop.
template <class To, class From>
inline bool convert_elements(const std::byte* in, std::ptrdiff_t stride, std::byte* out, std::size_t count,
                             const std::byte* fill) {
  constexpr std::size_t block = 128;
  bool bad = false;
  while (count > 0) {
    const std::size_t n = std::min(block, count);
    bool plain = true;
    for (std::size_t i = 0; i < n; ++i) {
      plain &= convert_plain<To, From>(in + static_cast<std::ptrdiff_t>(i) * stride, out + i * sizeof(To));
    }
    if (!plain) [[unlikely]] {
      for (std::size_t i = 0; i < n; ++i) {
        bad |=
            convert_any<To, From>(in + static_cast<std::ptrdiff_t>(i) * stride, out + i * sizeof(To), fill);
      }
    }
    in += static_cast<std::ptrdiff_t>(n) * stride;
    out += n * sizeof(To);
    count -= n;
  }
  return bad;
}

template <class To, class From>
bool convert_strided(const std::byte* in, std::ptrdiff_t stride, std::byte* out, std::size_t count,
                     const std::byte* fill) {
  return convert_elements<To, From>(in, stride, out, count, fill);
}

template <class To, class From>
bool convert_contiguous(const std::byte* in, std::byte* out, std::size_t count, const std::byte* fill) {
  return convert_elements<To, From>(in, sizeof(From), out, count, fill);
}

// A run that begins or ends inside an element: that element is converted aside, and in part copied.
template <class To, class From>
bool convert_cut_run(const Run& run, const std::byte* memory, std::byte* to, const std::byte* fill) {
  constexpr std::int64_t size = sizeof(To);
  bool bad = false;
  std::int64_t at = run.stream;
  const std::int64_t end = run.stream + run.length;
  while (at < end) {
    const std::int64_t element = at / size;
    const std::byte* from = memory + element * static_cast<std::int64_t>(sizeof(From));
    const std::int64_t skip = at - element * size;
    std::int64_t length;
    if (skip == 0 && end - at >= size) {
      length = (end - at) / size * size;
      bad |= convert_contiguous<To, From>(from, to, static_cast<std::size_t>(length / size), fill);
    } else {
      std::byte whole[sizeof(To)];
      bad |= convert_any<To, From>(from, whole, fill);
      length = std::min(size - skip, end - at);
      std::memcpy(to, whole + skip, static_cast<std::size_t>(length));
    }
    at += length;
    to += length;
  }
  return bad;
}

// 1 to 4 whole elements without a branch on how many: elements 1 and 2 are the last once more where there are
// fewer.
template <class To, class From>
inline bool convert_few(const std::byte* from, std::byte* to, std::int64_t count) {
  const std::int64_t last = count - 1;
  bool plain = true;
  for (const std::int64_t i :
       {std::int64_t{0}, std::min<std::int64_t>(1, last), std::min<std::int64_t>(2, last), last}) {
    plain &= convert_plain<To, From>(from + i * static_cast<std::int64_t>(sizeof(From)),
                                     to + i * static_cast<std::int64_t>(sizeof(To)));
  }
  return plain;
}

template <class To, class From>
bool convert_runs(std::span<const Run> runs, const std::byte* memory, std::byte* destination,
                  std::int64_t origin, const std::byte* fill) {
  constexpr std::int64_t size = sizeof(To);
  const auto memory_of = [&](const Run& run) {
    return memory + static_cast<std::size_t>(run.stream) / sizeof(To) * sizeof(From);
  };
  std::int64_t lengths = 0;
  std::int64_t streams = 0;
  for (const Run& run : runs) {
    lengths |= run.length;
    streams |= run.stream;
  }
  bool bad = false;
  bool plain = true;
  if (lengths == size && (streams & (size - 1)) == 0 && size > 1) {  // single elements, all of them
    for (const Run& run : runs)
      plain &= convert_plain<To, From>(memory_of(run), destination + (run.file - origin));
  } else {
    for (const Run& run : runs) {
      std::byte* to = destination + (run.file - origin);
      if (((run.stream | run.length) & (size - 1)) != 0) {
        bad |= convert_cut_run<To, From>(run, memory, to, fill);
      } else if (run.length <= 4 * size) {
        plain &= convert_few<To, From>(memory_of(run), to, run.length / size);
      } else {
        bad |= convert_contiguous<To, From>(memory_of(run), to, static_cast<std::size_t>(run.length / size),
                                            fill);
      }
    }
  }
  if (!plain) [[unlikely]] {
    // All once more with care, in the order of the runs, since they may overlap.
    for (const Run& run : runs)
      bad |= convert_cut_run<To, From>(run, memory, destination + (run.file - origin), fill);
  }
  return bad;
}

template <class To, class From>
struct KernelOf {
  static constexpr Converter::Kernel kernel = {&convert_strided<To, From>, &convert_contiguous<To, From>,
                                               &convert_runs<To, From>};
};

constexpr auto kernels = kernel_table<Converter::Kernel, KernelOf>();

constexpr std::array<std::int64_t, type_count> sizes = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};

}  // namespace

std::int64_t element_size(ExternalType type) {
  return sizes[static_cast<std::size_t>(type)];
}
std::int64_t element_size(MemoryType type) {
  return sizes[static_cast<std::size_t>(type)];
}

bool convertible(ExternalType external, MemoryType memory) {
  return (external == ExternalType::text) == (memory == MemoryType::text);
}

std::array<std::byte, 8> default_fill(ExternalType type) {
  std::array<std::byte, 8> fill{};
  const auto set = [&](auto value) { store(fill.data(), value); };
  switch (type) {
    case ExternalType::i8:
      set(std::int8_t{-127});
      break;
    case ExternalType::text:
      set(std::uint8_t{0});
      break;
    case ExternalType::i16:
      set(std::int16_t{-32767});
      break;
    case ExternalType::i32:
      set(std::int32_t{-2147483647});
      break;
    case ExternalType::f32:
      set(9.9692099683868690e+36f);
      break;
    case ExternalType::f64:
      set(9.9692099683868690e+36);
      break;
    case ExternalType::u8:
      set(std::uint8_t{255});
      break;
    case ExternalType::u16:
      set(std::uint16_t{65535});
      break;
    case ExternalType::u32:
      set(std::uint32_t{4294967295u});
      break;
    case ExternalType::i64:
      set(std::int64_t{-9223372036854775806});
      break;
    case ExternalType::u64:
      set(std::uint64_t{18446744073709551614u});
      break;
  }
  return fill;
}

Converter::Converter(ExternalType external, MemoryType memory, const void* fill, ConvertOptions options)
    : external_size_(element_size(external)),
      memory_size_(element_size(memory)),
      has_fill_(fill != nullptr),
      big_endian_(options.big_endian) {
  assert(convertible(external, memory));
  if (options.classic_bytes && external == ExternalType::i8 && memory == MemoryType::u8)
    memory = MemoryType::i8;
  kernel_ = kernels[static_cast<std::size_t>(external)][static_cast<std::size_t>(memory)];
  if (has_fill_) std::memcpy(fill_.data(), fill, static_cast<std::size_t>(external_size_));
}

// The loops write the file's order.
bool Converter::finish(std::byte* out, std::size_t count, bool bad) const {
  if (big_endian_) return bad;
  switch (external_size_) {
    case 2:
      swap_many<std::uint16_t>(out, out, count);
      break;
    case 4:
      swap_many<std::uint32_t>(out, out, count);
      break;
    case 8:
      swap_many<std::uint64_t>(out, out, count);
      break;
    default:
      break;
  }
  return bad;
}

bool Converter::convert(const std::byte* in, std::byte* out, std::size_t count) const {
  return finish(out, count, kernel_->contiguous(in, out, count, fill()));
}

bool Converter::convert_strided(const std::byte* in, std::ptrdiff_t stride, std::byte* out,
                                std::size_t count) const {
  return finish(out, count, kernel_->strided(in, stride, out, count, fill()));
}

bool Converter::convert_runs(std::span<const Run> runs, const std::byte* memory, std::byte* destination,
                             std::int64_t origin) const {
  assert(big_endian_);
  return kernel_->runs(runs, memory, destination, origin, fill());
}

bool convert(ExternalType external, MemoryType memory, const void* in, void* out, std::size_t count,
             const void* fill, ConvertOptions options) {
  const Converter converter(external, memory, fill, options);
  return converter.convert(static_cast<const std::byte*>(in), static_cast<std::byte*>(out), count);
}

}  // namespace forebay
