/** @file
 * Kokkos views in a file: put and got as boxes of row-major arrays or as lists of pieces, whatever their
 * layout and memory. With this header forebay::File, Puts and Gets take views as they take ranges. Where a
 * view's memory is not the stream of the file, a kernel moves it by pieces into pinned staging memory, in the
 * program's own execution space, while the pieces before are written. Header only; works with Kokkos 4 and 5.
 */
#ifndef FOREBAY_KOKKOS_HPP
#define FOREBAY_KOKKOS_HPP

#include <forebay/detail/view_kernels.hpp>
#include <forebay/file.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace forebay::kokkos {

/** "In the file as in memory." */
struct Same {};

/** A view with what is said of it: made by as() and on(). */
template <class FileType, class Exec, class View>
struct Said {
  Exec exec;  ///< runs the kernels
  View view;  ///< refers to the memory, and keeps it
};

/** The view's numbers are of FileType in the file; static_cast converts, both ways. */
template <class FileType, class View>
  requires(Kokkos::is_view<View>::value)
auto as(const View& view) {
  return Said<FileType, typename View::execution_space, View>{{}, view};
}
/** The same, with kernels that run in `exec`. */
template <class FileType, class Exec, class View>
  requires(Kokkos::is_execution_space<Exec>::value && Kokkos::is_view<View>::value)
auto as(const Exec& exec, const View& view) {
  return Said<FileType, Exec, View>{exec, view};
}
/** Kernels run in `exec`, an instance of an execution space. They come after what was launched there; work of
 * other instances on the view must be waited for. */
template <class Exec, class View>
  requires(Kokkos::is_execution_space<Exec>::value && Kokkos::is_view<View>::value)
auto on(const Exec& exec, const View& view) {
  return Said<Same, Exec, View>{exec, view};
}

/// @cond INTERNAL
namespace detail {

using forebay::detail::MovePiece;
using forebay::detail::Strided;

template <class View>
using Value = typename View::non_const_value_type;
template <class View, class FileType>
using InFile = std::conditional_t<std::is_same_v<FileType, Same>, Value<View>, FileType>;

template <class Exec, class Memory>
inline constexpr bool reaches = Kokkos::SpaceAccessibility<Exec, Memory>::accessible;
/// Where threads are cores of the host.
template <class Exec>
inline constexpr bool on_host = reaches<Exec, Kokkos::HostSpace>;
template <class Exec>
using StagingSpace = std::conditional_t<on_host<Exec>, Kokkos::HostSpace, Kokkos::SharedHostPinnedSpace>;
/// Memory that the host may read at its place, and at no more cost than its own.
template <class Memory>
inline constexpr bool direct_for_host =
    std::is_same_v<Memory, Kokkos::HostSpace> || std::is_same_v<Memory, Kokkos::SharedHostPinnedSpace>;

template <class Exec, class View, class FileType>
constexpr void check_types() {
  using T = Value<View>;
  using F = InFile<View, FileType>;
  using Layout = typename View::array_layout;
  static_assert(Kokkos::is_view<View>::value, "a Kokkos::View is wanted");
  static_assert(View::rank() <= forebay::detail::kMostRank);
  static_assert(std::is_same_v<Layout, Kokkos::LayoutRight> || std::is_same_v<Layout, Kokkos::LayoutLeft> ||
                    std::is_same_v<Layout, Kokkos::LayoutStride>,
                "views of LayoutRight, LayoutLeft and LayoutStride");
  static_assert(std::is_trivially_copyable_v<T>, "elements that are their bytes");
  static_assert(std::is_same_v<T, F> || (std::is_arithmetic_v<T> && std::is_arithmetic_v<F>),
                "numbers are converted, other elements are in the file as in memory");
  static_assert(reaches<Exec, typename View::memory_space>, "this execution space does not reach the view");
  static_assert(reaches<Exec, typename StagingSpace<Exec>::memory_space>,
                "no memory is reached by the host and by this execution space");
}

template <class View>
std::vector<std::int64_t> extents_of(const View& view) {
  std::vector<std::int64_t> extents;
  for (std::size_t d = 0; d < View::rank(); ++d) extents.push_back(static_cast<std::int64_t>(view.extent(d)));
  return extents;
}

template <class View>
Strided strided(const View& view) {
  Strided shape;
  for (std::size_t d = View::rank(); d-- > 0;)
    shape.add_outer(static_cast<std::int64_t>(view.extent(d)), static_cast<std::int64_t>(view.stride(d)));
  return shape;
}

/// Runs the kernels of one view.
template <class Exec, class View, class F, bool Swap, bool Pack>
class ViewStager final : public Stager {
 public:
  ViewStager(const Exec& exec, const View& view) : exec_(exec), view_(view), shape_(strided(view)) {}

  void* reserve(std::int64_t bytes) override {
    staging_ = Staging(Kokkos::view_alloc(Kokkos::WithoutInitializing, "forebay staging"),
                       static_cast<std::size_t>(bytes));
    return staging_.data();
  }
  void release() noexcept override { staging_ = Staging(); }

  void begin(int, std::int64_t first, std::int64_t bytes, void* memory) override {
    constexpr int kRank = View::rank() == 0 ? 1 : static_cast<int>(View::rank());
    using Kernel = MovePiece<typename View::value_type, F, Swap, Pack, kRank>;
    constexpr auto kElement = static_cast<std::int64_t>(sizeof(F));
    // Rows of a few pages for a thread of the host.
    constexpr std::int64_t kPart = on_host<Exec> ? 4096 : 1;
    const Kernel kernel(view_.data(), shape_, first / kElement, bytes / kElement,
                        static_cast<typename Kernel::Staged*>(memory), kPart);
    using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for(Pack ? "forebay: pack" : "forebay: unpack", Policy(exec_, 0, kernel.parts()),
                         kernel);
  }
  // All kernels of the instance: the one that is waited for is the last one begun.
  void finish(int) override { exec_.fence("forebay: a piece"); }

 private:
  using Staging = Kokkos::View<std::byte*, StagingSpace<Exec>>;

  Exec exec_;
  View view_;
  Strided shape_;
  Staging staging_;
};

template <bool Pack, class FileType, class Exec, class List, class View>
void add(const Exec& exec, List& list, Place place, const View& view, ByteOrder order) {
  check_types<Exec, View, FileType>();
  using T = Value<View>;
  using F = InFile<View, FileType>;
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(F));
  std::vector<std::int64_t> extents = extents_of(view);
  if constexpr (std::is_same_v<T, F> && direct_for_host<typename View::memory_space> &&
                (sizeof(T) <= 8 || !std::is_arithmetic_v<T>)) {
    if (view.size() == 0 || (strided(view).contiguous() && (std::is_arithmetic_v<T> || !swaps(order)))) {
      exec.fence("forebay: before the host moves a view");
      list.add(std::move(place), kBytes, extents, view.data(), order, std::make_shared<View>(view));
      return;
    }
  }
  if (swaps(order)) {
    if constexpr (std::is_arithmetic_v<F> && sizeof(F) <= 8) {
      list.add(std::move(place), kBytes, extents,
               std::make_unique<ViewStager<Exec, View, F, true, Pack>>(exec, view));
    } else {
      list.refuse("only numbers of at most 8 bytes have another byte order");
    }
    return;
  }
  list.add(std::move(place), kBytes, extents,
           std::make_unique<ViewStager<Exec, View, F, false, Pack>>(exec, view));
}

}  // namespace detail
/// @endcond

}  // namespace forebay::kokkos

namespace forebay {

/** Views of LayoutRight, LayoutLeft and LayoutStride, of rank 8 at most, subviews included. A list or a
 * pending request keeps the view. */
template <class View>
  requires(Kokkos::is_view<View>::value)
struct Memory<View> {
  /** A view is a handle. */
  static constexpr bool is_handle = true;
  /** Adds all elements. */
  static void add(Puts& puts, Place place, const View& view, ByteOrder order) {
    kokkos::detail::add<true, kokkos::Same>(typename View::execution_space(), puts, std::move(place), view,
                                            order);
  }
  /** Adds all elements, to be filled. */
  static void add(Gets& gets, Place place, const View& view, ByteOrder order)
    requires(!std::is_const_v<typename View::value_type>)
  {
    kokkos::detail::add<false, kokkos::Same>(typename View::execution_space(), gets, std::move(place), view,
                                             order);
  }
};

/** Views of which something was said. */
template <class FileType, class Exec, class View>
struct Memory<kokkos::Said<FileType, Exec, View>> {
  /** A view is a handle. */
  static constexpr bool is_handle = true;
  /** Adds all elements. */
  static void add(Puts& puts, Place place, const kokkos::Said<FileType, Exec, View>& said, ByteOrder order) {
    kokkos::detail::add<true, FileType>(said.exec, puts, std::move(place), said.view, order);
  }
  /** Adds all elements, to be filled. */
  static void add(Gets& gets, Place place, const kokkos::Said<FileType, Exec, View>& said, ByteOrder order)
    requires(!std::is_const_v<typename View::value_type>)
  {
    kokkos::detail::add<false, FileType>(said.exec, gets, std::move(place), said.view, order);
  }
};

}  // namespace forebay

#endif  // FOREBAY_KOKKOS_HPP
