// For work that ranks of other nodes wait for.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <new>

namespace forebay {

/// Runs what cannot be left out, since others would wait for ever: where memory lacks, an end that is said
/// beats that. Under MPI the job ends with this process.
template <class Work>
void indispensable(Work&& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    std::fputs("forebay: an aggregator has no memory for what it exchanges; the program ends\n", stderr);
    std::abort();
  }
}

}  // namespace forebay
