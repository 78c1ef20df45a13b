// Runs a program on the stock driver and on Forebay, and compares all that can be seen.
#pragma once

#include <cstdint>
#include <string>

namespace test {

struct ProgramOptions {
  std::uint64_t seed = 1;
  int steps = 20;
  std::string hints;    ///< besides those that the seed chooses
  bool commit = false;  ///< writes are kept, as many as the seed chooses
  bool bytes = false;   ///< also run it twice on the stock driver, and compare bytes where those agree
  bool aloud = false;   ///< rank 0 says what it does
  bool keep = false;    ///< files stay
};

enum class Outcome {
  same,
  /// The stock driver lost data: there is nothing to compare with. It does not meet after the fill values of
  /// chunks, and where a read reaches past the file's end it zeroes memory beside the selection.
  stock_wrong,
  different,
};

/// Collective; the same on all ranks. Says on stderr what differs.
Outcome same_on_both(const ProgramOptions& options);

}  // namespace test
