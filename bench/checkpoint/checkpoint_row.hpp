// A program that computes, and writes a checkpoint every so often.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "computation.hpp"
#include "row.hpp"

namespace forebay::bench {

struct CheckpointPlan {
  int checkpoints = 5;
  // Of each computation, by row. Where a row has none it does not compute, and measures what is needed to
  // choose some.
  std::map<std::string, std::int64_t> sweeps = {};
  std::string log;  // the folder of the copies
};

// A row whose steps (Setting::before_step) are checkpoints, as a whole program: its data are what it does
// from the first computation to the end of its last close. It measures of itself:
// - computing_s: the same computations without a checkpoint, just before;
// - copy_s: the same bytes, appended by each rank to a plain file in the folder of the log;
// - without sweeps sweep_s, of one of them, and plain_s, the plain writes of one checkpoint to where the file
//   is, the median of three.
// Throws std::runtime_error.
std::unique_ptr<Row> make_checkpoint_row(const std::string& name, const Setting& setting,
                                         const CheckpointPlan& plan,
                                         const std::function<std::unique_ptr<Row>(const Setting&)>& make);

// The rows that are no other benchmark's. `tcio`: by TCIO, else by independent MPI-IO; the first checkpoint
// is the file, the others lie beside it (row_files.hpp).
std::unique_ptr<Row> make_trees_row(const Setting& setting, bool tcio);
std::unique_ptr<Row> make_restart_row(const Setting& setting);

}  // namespace forebay::bench
