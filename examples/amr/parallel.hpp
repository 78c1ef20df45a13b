// Loops in the chosen execution space. Their iterations depend on no other, so that the space does not show.
#pragma once

#include <Kokkos_Core.hpp>
#include <string>

namespace amr {

// serial: Kokkos's Serial, or a plain loop where Kokkos was built without it; host: Kokkos's default of the
// host, such as OpenMP.
enum class Space { serial, host };

template <class Body>
void for_each(Space space, const char* name, int count, const Body& body) {
  if (space == Space::host) {
    Kokkos::parallel_for(name, Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, count), body);
    Kokkos::fence(name);
    return;
  }
#ifdef KOKKOS_ENABLE_SERIAL
  Kokkos::parallel_for(name, Kokkos::RangePolicy<Kokkos::Serial>(0, count), body);
#else
  for (int i = 0; i < count; ++i) body(i);
#endif
}

// `begin(i)` becomes the sum of `amount(j)` of all j < i, for i = 0 … count.
template <class Amount, class View>
void sum_before(Space space, const char* name, int count, const Amount& amount, const View& begin) {
  if (space == Space::host) {
    Kokkos::parallel_scan(
        name, Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, count + 1),
        KOKKOS_LAMBDA(int i, int& sum, bool last) {
          if (last) begin(i) = sum;
          if (i < count) sum += amount(i);
        });
    Kokkos::fence(name);
    return;
  }
  int sum = 0;
  for (int i = 0; i <= count; ++i) {
    begin(i) = sum;
    if (i < count) sum += amount(i);
  }
}

}  // namespace amr
