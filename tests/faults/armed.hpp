// The ranks' side of the injected faults: arming them, and saying what this rank does meanwhile.
#pragma once

#include <string>

#include "cell.hpp"
#include "control.h"

namespace faults {

class Faults {
 public:
  /// Maps the file that FAULTS_CONTROL names; false: there is none.
  bool begin(int rank);
  /// For whoever watches from outside.
  void doing(int cell, const std::string& what);
  /// One rank, between barriers.
  void arm(const Cell& cell, const std::string& path, const std::string& log, int ranks);
  void disarm();
  int struck() const { return shared_->control.struck; }
  bool struck_by(int rank) const { return shared_->control.struck_by[rank] != 0; }

 private:
  fault_shared* shared_ = nullptr;
  int rank_ = 0;
};

}  // namespace faults
