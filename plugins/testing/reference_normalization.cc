#include "testing/reference_normalization.h"

#include <cmath>
#include <cstddef>

namespace kiln::plugins::testing {

std::vector<double> normalized_row(std::vector<double> row, const std::vector<float>& gamma,
                                   const std::vector<float>& beta) {
  const auto count = static_cast<double>(row.size());
  double mean = 0, variance = 0;
  for (const double value : row) mean += value / count;
  for (const double value : row) variance += (value - mean) * (value - mean) / count;
  constexpr double kEpsilon = 0x1p-23;
  for (size_t i = 0; i < row.size(); ++i)
    row[i] = (row[i] - mean) / std::sqrt(variance + kEpsilon) * gamma[i] + beta[i];
  return row;
}

}  // namespace kiln::plugins::testing
