/** @file
 * What the C++ interfaces share: the exception, the flags to open a file with, and the order of bytes. */
#ifndef FOREBAY_STATUS_HPP
#define FOREBAY_STATUS_HPP

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "Forebay's C++ headers need C++20: -std=c++20, or target_compile_features(program PRIVATE cxx_std_20)"
#endif

#include <forebay/status.h>

#include <bit>
#include <cstdio>
#include <exception>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>

/** Forebay in C++. */
namespace forebay {

/** What every failure throws, on all ranks where the call was collective. */
class Error : public std::runtime_error {
 public:
  /** A failure of this code. */
  Error(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  /** One of FOREBAY_ERR_*. */
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/** How a file is opened: read, write or read_write, and any of the others. */
enum class Mode : int {
  read = FOREBAY_RDONLY,      ///< only read
  write = FOREBAY_WRONLY,     ///< only written
  read_write = FOREBAY_RDWR,  ///< read and written
  create = FOREBAY_CREATE,    ///< made if it does not exist
  exclusive = FOREBAY_EXCL,   ///< with create: an error if it exists
  truncate = FOREBAY_TRUNC    ///< emptied
};
/** Both. */
constexpr Mode operator|(Mode a, Mode b) {
  return static_cast<Mode>(static_cast<int>(a) | static_cast<int>(b));
}
/** Adds flags. */
constexpr Mode& operator|=(Mode& a, Mode b) {
  return a = a | b;
}

/** Order of an element's bytes in the file. */
enum class ByteOrder {
  native,  ///< of this machine
  big,     ///< the most significant first
  little   ///< the least significant first
};

/** Whether elements have to be turned round. */
inline constexpr bool swaps(ByteOrder order) {
  return (order == ByteOrder::big && std::endian::native == std::endian::little) ||
         (order == ByteOrder::little && std::endian::native == std::endian::big);
}

/** A contiguous range of elements that are their bytes: std::vector, std::array, std::span, std::string, … */
template <class R>
concept Elements = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                   std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;
/** The same, to be filled. */
template <class R>
concept FillableElements =
    Elements<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// @cond INTERNAL
namespace detail {

inline void check(int code) {
  if (code != FOREBAY_SUCCESS) throw Error(code, forebay_last_error());
}

/// What a destructor does. Where an exception passes by, which may be this rank's alone, the others might
/// never come to a close.
template <class Close>
void close_quietly(bool open, int exceptions, const std::string& path, Close&& close) noexcept {
  if (!open) return;
  if (std::uncaught_exceptions() > exceptions) {
    std::fprintf(stderr, "forebay: %s is not closed, since an exception passed by\n", path.c_str());
    return;
  }
  try {
    close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "forebay: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "forebay: %s: unknown exception\n", path.c_str());
  }
}

}  // namespace detail
/// @endcond

}  // namespace forebay

#endif  // FOREBAY_STATUS_HPP
