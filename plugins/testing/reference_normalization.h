/// Layer normalization of rows, in doubles.
#pragma once

#include <vector>

namespace kiln::plugins::testing {

/// The row brought to mean 0 and variance 1, then scaled by gamma and shifted by beta. The epsilon is 2^-23, as in the
/// plugins of BERT.
std::vector<double> normalized_row(std::vector<double> row, const std::vector<float>& gamma,
                                   const std::vector<float>& beta);

}  // namespace kiln::plugins::testing
