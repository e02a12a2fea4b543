/// The two loops that linear and cubic resampling consist of.
#pragma once

#include <cstdint>

namespace kiln::cpu {

/// Rows that are summed in one call: four outer axes of cubic taps, or an axis that antialiasing makes 128 times
/// smaller. Where an output has more, the sum so far becomes the first row of the next call.
inline constexpr int64_t kRowsAtOnce = 256;

/// to[i] = sum over t < count of weights[t] * rows[t][i], for i < n; taken in the order of t. `to` may be rows[0].
void blend_rows(const float* const* rows, const float* weights, int count, int64_t n, float* to);

/// to[i * inner + k] = sum over t < taps of weight[t * out + i] * row[index[t * out + i] * inner + k]. The row has `in`
/// elements; indices rise with t, and if `rising` with i.
struct RowTaps {
  const int32_t* index;
  const float* weight;
  int taps;
  int64_t in, out, inner;
  bool rising = true;
};
void resample_row(const RowTaps& taps, const float* row, float* to);

}  // namespace kiln::cpu
