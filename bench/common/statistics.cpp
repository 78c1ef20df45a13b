// Order statistics.
#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace forebay::bench {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

LowerBound lower_bound_of_median(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  // The k-th smallest lies above the median where fewer than k of n fair coins fall below.
  const auto n = static_cast<double>(values.size());
  double term = std::pow(0.5, n), above = term;
  LowerBound bound{values[0], 1 - above};
  for (std::size_t k = 1; k < values.size(); ++k) {
    term *= (n - static_cast<double>(k) + 1) / static_cast<double>(k);
    above += term;
    if (1 - above < 0.95) break;
    bound = {values[k], 1 - above};
  }
  return bound;
}

}  // namespace forebay::bench
