// One random case of a view's type: ranks put their boxes of an array, the file is compared with what a host
// loop makes of it, and what is read back with what was put.
#pragma once

#include <forebay/kokkos.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "../dice.hpp"

namespace test {

inline int rank = 0, ranks = 1;
inline unsigned seed = 0;  // of the case at hand

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "rank %d: %s (--seed %u --count 1 plays it again)\n", rank, what.c_str(), seed);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

using Index = std::array<std::int64_t, 8>;

struct Pair {  // without padding, which copies of it may lose
  std::int64_t number;
  double value;
  friend bool operator==(const Pair&, const Pair&) = default;
};

/// The n-th element of an array; every type of number holds it.
template <class T>
T value_of(std::int64_t n) {
  if constexpr (std::is_same_v<T, Pair>) {
    return {n, 0.5 * static_cast<double>(n)};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>((n * 7 + 3) % 113);
  } else {
    return T(static_cast<double>((n * 7 + 3) % 113) / 7);  // no byte of it is like another
  }
}
template <class T>
T sentinel() {
  return value_of<T>(1 << 20);
}

template <std::size_t R, class F>
void for_each_index(const Index& extents, F&& f) {
  Index i{};
  for (std::size_t d = 0; d < R; ++d) {
    if (extents[d] == 0) return;
  }
  for (;;) {
    f(i);
    std::size_t d = R;
    while (d > 0 && ++i[d - 1] == extents[d - 1]) i[--d] = 0;
    if (d == 0) return;
  }
}

template <class View>
auto& element(const View& view, const Index& i) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) -> auto& {
    return view(i[I]...);
  }(std::make_index_sequence<View::rank()>());
}

template <class View>
View make_view(const Index& extents) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return View("view", static_cast<std::size_t>(extents[I])...);
  }(std::make_index_sequence<View::rank()>());
}

/// From `low` on, `extents` elements of each dimension.
template <class View>
auto part_of(const View& view, const Index& low, const Index& extents) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Kokkos::subview(view, std::make_pair(low[I], low[I] + extents[I])...);
  }(std::make_index_sequence<View::rank()>());
}

/// What all ranks agree on.
template <std::size_t R>
struct Plan {
  explicit Plan(Dice& dice) {
    offset = dice.one_in(3) ? 0 : dice.below(5000);
    const std::int64_t most = R <= 1 ? 3000 : R == 2 ? 60 : R == 3 ? 14 : R == 4 ? 7 : 3;
    for (std::size_t d = 0; d < R; ++d) {
      extents[d] = dice.one_in(6) ? 1 : dice.between(dice.one_in(20) ? 0 : 1, most);
      stride[d] = dice.one_in(3) ? dice.between(2, 3) : 1;
      start[d] = dice.one_in(2) ? dice.below(4) : 0;
      const std::int64_t all = extents[d] * (d == 0 ? ranks : 1);
      shape[d] = start[d] + all * stride[d] + dice.below(3);
      low[d] = dice.below(3);
      high[d] = dice.below(3);
    }
    apart = R > 0 && dice.one_in(2);
    strict = dice.one_in(2);
    together = !dice.one_in(4);
    one_exec = dice.one_in(2);
    later = dice.one_in(3);
  }
  /// Ranks follow each other, or take turns, in the slowest dimension.
  Index start_of(int r) const {
    Index s = start;
    if (R > 0) s[0] += apart ? r * extents[0] * stride[0] : r * stride[0];
    return s;
  }
  Index stride_of() const {
    Index s = stride;
    if (R > 0 && !apart) s[0] *= ranks;
    return s;
  }
  std::int64_t place(const Index& i, int r) const {
    const Index s = start_of(r), step = stride_of();
    std::int64_t n = 0;
    for (std::size_t d = 0; d < R; ++d) n = n * shape[d] + s[d] + i[d] * step[d];
    return R == 0 ? r : n;
  }
  std::int64_t elements() const {
    std::int64_t n = R == 0 ? ranks : 1;
    for (std::size_t d = 0; d < R; ++d) n *= shape[d];
    return n;
  }
  forebay::Box box(std::int64_t at, std::int64_t element_bytes) const {
    forebay::Box box;
    box.offset = at + (R == 0 ? rank * element_bytes : 0);
    const Index s = start_of(rank), step = stride_of();
    for (std::size_t d = 0; d < R; ++d) {
      box.shape.push_back(shape[d]);
      box.start.push_back(s[d]);
      box.count.push_back(extents[d]);
      box.stride.push_back(step[d]);
    }
    return box;
  }

  std::int64_t offset = 0;
  Index extents{}, stride{}, start{}, shape{}, low{}, high{};
  bool apart = false, strict = false, together = true, one_exec = true, later = false;
};

inline forebay::File open_file(const char* path, forebay::Mode mode, Dice& dice, bool strict) {
  MPI_Info info;
  MPI_Info_create(&info);
  const std::array stripes{"4k", "12k", "64k", "1m"};
  MPI_Info_set(info, "forebay_stripe_bytes", dice.pick(stripes));
  if (strict) MPI_Info_set(info, "forebay_mode", "strict");
  if (dice.one_in(2)) MPI_Info_set(info, "forebay_ranks_per_node", dice.one_in(2) ? "1" : "2");
  if (dice.one_in(2)) MPI_Info_set(info, "forebay_memory_bytes", "64k");
  if (dice.one_in(3)) MPI_Info_set(info, "forebay_bypass_bytes", "512");
  if (dice.one_in(9)) MPI_Info_set(info, "forebay_enable", "off");
  forebay::File file(MPI_COMM_WORLD, path, mode, info);
  MPI_Info_free(&info);
  return file;
}

template <class F>
std::vector<unsigned char> in_file(F number, bool swapped) {
  std::vector<unsigned char> bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  if (swapped) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

template <class T, class F>
F converted(const T& value) {
  if constexpr (std::is_same_v<T, F>)
    return value;
  else
    return static_cast<F>(value);
}

template <class T, class F, std::size_t R>
void check_file(const char* path, const Plan<R>& plan, std::int64_t second) {
  const auto bytes = static_cast<std::size_t>(plan.elements()) * sizeof(F);
  std::vector<unsigned char> expected(static_cast<std::size_t>(second) + bytes);
  std::size_t end = 0;
  for (int r = 0; r < ranks; ++r) {
    for_each_index<R>(plan.extents, [&](const Index& i) {
      const std::int64_t n = plan.place(i, r);
      for (const bool swapped : {false, true}) {
        if (swapped && second == plan.offset) continue;
        const auto one = in_file(converted<T, F>(value_of<T>(n)), swapped);
        const auto at = static_cast<std::size_t>(swapped ? second : plan.offset) +
                        static_cast<std::size_t>(n) * sizeof(F);
        std::copy(one.begin(), one.end(), expected.begin() + static_cast<std::ptrdiff_t>(at));
        end = std::max(end, at + sizeof(F));
      }
    });
  }
  expected.resize(end);
  std::ifstream in(path, std::ios::binary);
  const std::vector<unsigned char> got((std::istreambuf_iterator<char>(in)), {});
  if (got.size() != expected.size())
    fail("the file has " + std::to_string(got.size()) + " bytes, not " + std::to_string(expected.size()));
  const auto differ = std::mismatch(got.begin(), got.end(), expected.begin()).first;
  if (differ != got.end()) fail("the file differs at " + std::to_string(differ - got.begin()));
}

/// T in memory, as `Put` and into `Got`, views of one rank; F in the file.
template <class F, class Exec, class Put, class Got>
void play_in(const Exec& exec, Dice& dice) {
  using T = typename Put::non_const_value_type;
  constexpr std::size_t R = Put::rank();
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(F));
  const Plan<R> plan(dice);
  // A second array in the other order of bytes, in the same call.
  const bool two = std::is_arithmetic_v<F> && dice.one_in(2);
  const std::int64_t second = plan.offset + (two ? plan.elements() * kBytes + dice.below(100) : 0);
  const std::array<std::int64_t, 5> sizes{2 * kBytes, 100, 3000, 64 << 10, 8 << 20};
  const std::int64_t staging = dice.pick(sizes);
  const bool whole = dice.one_in(3);
  const char* path = "views.dat";
  if (rank == 0) std::remove(path);
  MPI_Barrier(MPI_COMM_WORLD);

  Index around = plan.extents, low{};
  if (!whole) {
    low = plan.low;
    for (std::size_t d = 0; d < R; ++d) around[d] += plan.low[d] + plan.high[d];
  }
  const auto fill = [&](const auto& view) {
    for_each_index<R>(plan.extents,
                      [&](const Index& i) { element(view, i) = value_of<T>(plan.place(i, rank)); });
  };
  const auto with = [&](const auto& parent, auto&& f) {
    if constexpr (R > 0) {
      if (!whole) return f(part_of(parent, low, plan.extents));
    }
    f(parent);
  };

  {
    forebay::File file =
        open_file(path, forebay::Mode::read_write | forebay::Mode::create, dice, plan.strict);
    const Put parent = make_view<Put>(around);
    with(parent, [&](const auto& view) {
      fill(view);
      using Const = typename std::decay_t<decltype(view)>::const_type;
      forebay::Puts puts;
      puts.staging_bytes(staging);
      puts.add(plan.box(plan.offset, kBytes), forebay::kokkos::as<F>(exec, Const(view)));
      if (two)
        puts.add(plan.box(second, kBytes), forebay::kokkos::as<F>(exec, view), forebay::ByteOrder::big);
      if (plan.later) {
        file.iput(std::move(puts));
        plan.together ? file.wait_all() : file.wait();
      } else {
        plan.together ? file.put_all(puts) : file.put(puts);
      }
      Kokkos::deep_copy(parent, sentinel<T>());  // it may be used again
    });
    if (dice.one_in(2)) file.flush();
    file.close();
  }
  if (rank == 0) check_file<T, F, R>(path, plan, second);
  MPI_Barrier(MPI_COMM_WORLD);

  forebay::File file = open_file(path, forebay::Mode::read, dice, plan.strict);
  const Got parent = make_view<Got>(around);
  for (const bool swapped : {false, true}) {
    if (swapped && !two) continue;
    Kokkos::deep_copy(parent, sentinel<T>());
    with(parent, [&](const auto& view) {
      forebay::Gets gets;
      gets.staging_bytes(staging);
      gets.add(plan.box(swapped ? second : plan.offset, kBytes), forebay::kokkos::as<F>(exec, view),
               swapped ? forebay::ByteOrder::big : forebay::ByteOrder::native);
      if (plan.later) {
        file.iget(std::move(gets));
        plan.together ? file.wait_all() : file.wait();
      } else {
        plan.together ? file.get_all(gets) : file.get(gets);
      }
    });
    for_each_index<R>(around, [&](const Index& i) {
      Index inner{};
      bool inside = true;
      for (std::size_t d = 0; d < R; ++d) {
        inner[d] = i[d] - low[d];
        inside = inside && inner[d] >= 0 && inner[d] < plan.extents[d];
      }
      const T expected =
          inside ? converted<F, T>(converted<T, F>(value_of<T>(plan.place(inner, rank)))) : sentinel<T>();
      if (!(element(parent, i) == expected))
        fail(inside ? "a wrong element" : "an element outside was written");
    });
  }
}

template <class F, class Put, class Got>
void play(Dice& dice) {
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::DefaultExecutionSpace, Kokkos::HostSpace>::accessible)
    play_in<F, Kokkos::DefaultExecutionSpace, Put, Got>(Kokkos::DefaultExecutionSpace(), dice);
#ifdef KOKKOS_ENABLE_SERIAL
  play_in<F, Kokkos::Serial, Put, Got>(Kokkos::Serial(), dice);
#endif
}

using Play = void (*)(Dice&);
std::vector<Play> converted_views();
std::vector<Play> views_of_ranks();
void views_by_members();

using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;
template <class Data, class Layout>
using Host = Kokkos::View<Data, Layout, Kokkos::HostSpace>;

}  // namespace test
