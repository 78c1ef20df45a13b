// The command line of a benchmark's driver: rows, peers, sizes, ranks, launcher, where to put files and
// documents.
#pragma once

#include "subject.hpp"

namespace forebay::bench {

// Returns the exit status: 0 all files are as they have to be, 1 some differ, 2 a run failed.
int benchmark_main(Subject& subject, int argc, char** argv);

}  // namespace forebay::bench
