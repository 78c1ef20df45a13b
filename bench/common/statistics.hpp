// Medians, and how sure a ratio is.
#pragma once

#include <vector>

namespace forebay::bench {

double median_of(std::vector<double> values);  // 0 where there are none

// A lower bound of the median of what `values` are samples of, by order statistics: the largest k-th smallest
// value that lies below that median with a probability of at least 0.95, whatever the distribution. With
// fewer than 5 values none does; then it is the smallest, and `confidence` says how much that is worth.
struct LowerBound {
  double value = 0, confidence = 0;
};
LowerBound lower_bound_of_median(std::vector<double> values);

}  // namespace forebay::bench
