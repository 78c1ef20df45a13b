// The loops to memory of all pairs of types, made from one rule for a single element.
#include "convert/get_converter.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>
#include <type_traits>

#include "convert/convert_rules.hpp"
#include "request/byte_order.hpp"

namespace forebay {

struct GetConverter::Kernel {
  bool (*strided)(const std::byte* in, std::byte* out, std::ptrdiff_t stride, std::size_t count,
                  const std::byte* fill);
  bool (*contiguous)(const std::byte* in, std::byte* out, std::size_t count, const std::byte* fill);
  bool (*runs)(std::span<const Run> runs, const std::byte* window, std::int64_t origin, std::byte* memory,
               CutElements& cut, const std::byte* fill);
};

namespace {

using namespace conversion;

template <class Number>
inline Number load_big(const std::byte* from) {
  return std::bit_cast<Number>(byte_swap(load<WordOf<Number>>(from)));
}

// PnetCDF checks a float that becomes a double when it writes, not when it reads.
template <class To, class From>
constexpr bool is_plain_here(From value) {
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, double>) {
    return true;
  } else {
    return is_plain<To>(value);
  }
}

// Returns whether the element is plain; if not, what it stores is to be redone.
template <class To, class From>
inline bool convert_plain(const std::byte* from, std::byte* to) {
  const From value = load_big<From>(from);
  const bool plain = is_plain_here<To>(value);
  store(to, static_cast<To>(plain ? value : From{0}));
  return plain;
}

// Any element; returns whether it is out of range.
template <class To, class From>
bool convert_any(const std::byte* from, std::byte* to, const std::byte* fill) {
  const From value = load_big<From>(from);
  if (is_plain_here<To>(value)) {
    store(to, static_cast<To>(value));
    return false;
  }
  if (!is_in_range<To>(value)) {
    store(to, load<To>(fill));
    return true;
  }
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    const auto number = static_cast<double>(value);
    const bool limit = number == static_cast<double>(std::numeric_limits<To>::max());
    store(to, limit ? std::numeric_limits<To>::max() : machine_integer<To>(number));
  }
  return false;
}

// With the stride known the compiler makes vectors of the inner loop, where it can.
template <class To, class From>
inline bool convert_elements(const std::byte* in, std::byte* out, std::ptrdiff_t stride, std::size_t count,
                             const std::byte* fill) {
  constexpr std::size_t block = 128;
  bool bad = false;
  while (count > 0) {
    const std::size_t n = std::min(block, count);
    bool plain = true;
    for (std::size_t i = 0; i < n; ++i) {
      plain &= convert_plain<To, From>(in + i * sizeof(From), out + static_cast<std::ptrdiff_t>(i) * stride);
    }
    if (!plain) [[unlikely]] {
      for (std::size_t i = 0; i < n; ++i) {
        bad |=
            convert_any<To, From>(in + i * sizeof(From), out + static_cast<std::ptrdiff_t>(i) * stride, fill);
      }
    }
    in += n * sizeof(From);
    out += static_cast<std::ptrdiff_t>(n) * stride;
    count -= n;
  }
  return bad;
}

template <class To, class From>
bool convert_strided(const std::byte* in, std::byte* out, std::ptrdiff_t stride, std::size_t count,
                     const std::byte* fill) {
  return convert_elements<To, From>(in, out, stride, count, fill);
}

template <class To, class From>
bool convert_contiguous(const std::byte* in, std::byte* out, std::size_t count, const std::byte* fill) {
  return convert_elements<To, From>(in, out, sizeof(To), count, fill);
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
bool convert_runs(std::span<const Run> runs, const std::byte* window, std::int64_t origin, std::byte* memory,
                  CutElements& cut, const std::byte* fill) {
  constexpr std::int64_t size = sizeof(From);
  const auto memory_of = [&](std::int64_t stream) {
    return memory + static_cast<std::size_t>(stream) / sizeof(From) * sizeof(To);
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
      plain &= convert_plain<To, From>(window + (run.file - origin), memory_of(run.stream));
  } else {
    for (const Run& run : runs) {
      const std::byte* from = window + (run.file - origin);
      if (((run.stream | run.length) & (size - 1)) != 0) {
        cut.take(run, from, [&](std::int64_t element, const std::byte* bytes, std::int64_t count) {
          bad |= convert_contiguous<To, From>(bytes, memory_of(element * size),
                                              static_cast<std::size_t>(count), fill);
        });
      } else if (run.length <= 4 * size) {
        plain &= convert_few<To, From>(from, memory_of(run.stream), run.length / size);
      } else {
        bad |= convert_contiguous<To, From>(from, memory_of(run.stream),
                                            static_cast<std::size_t>(run.length / size), fill);
      }
    }
  }
  if (!plain) [[unlikely]] {
    // All whole runs once more with care. Those that are cut were converted with care, and kept.
    for (const Run& run : runs) {
      if (((run.stream | run.length) & (size - 1)) != 0) continue;
      bad |= convert_contiguous<To, From>(window + (run.file - origin), memory_of(run.stream),
                                          static_cast<std::size_t>(run.length / size), fill);
    }
  }
  return bad;
}

template <class From, class To>
struct KernelOf {
  static constexpr GetConverter::Kernel kernel = {&convert_strided<To, From>, &convert_contiguous<To, From>,
                                                  &convert_runs<To, From>};
};

constexpr auto kernels = kernel_table<GetConverter::Kernel, KernelOf>();

}  // namespace

std::array<std::byte, 8> default_fill(MemoryType type, bool is_long) {
  if (is_long && type == MemoryType::i64) {
    std::array<std::byte, 8> fill{};
    store(fill.data(), std::int64_t{-2147483647});
    return fill;
  }
  return default_fill(static_cast<ExternalType>(type));  // numbered alike
}

GetConverter::GetConverter(ExternalType external, MemoryType memory, const void* fill, ConvertOptions options)
    : external_size_(element_size(external)), memory_size_(element_size(memory)) {
  assert(convertible(external, memory));
  assert(options.big_endian);
  if (options.classic_bytes && external == ExternalType::i8 && memory == MemoryType::u8)
    external = ExternalType::u8;
  kernel_ = kernels[static_cast<std::size_t>(external)][static_cast<std::size_t>(memory)];
  std::memcpy(fill_.data(), fill, static_cast<std::size_t>(memory_size_));
}

bool GetConverter::convert(const std::byte* in, std::byte* out, std::size_t count) const {
  return kernel_->contiguous(in, out, count, fill_.data());
}

bool GetConverter::convert_strided(const std::byte* in, std::byte* out, std::ptrdiff_t stride,
                                   std::size_t count) const {
  return kernel_->strided(in, out, stride, count, fill_.data());
}

bool GetConverter::convert_runs(std::span<const Run> runs, const std::byte* window, std::int64_t origin,
                                std::byte* memory, CutElements& cut) const {
  return kernel_->runs(runs, window, origin, memory, cut, fill_.data());
}

}  // namespace forebay
