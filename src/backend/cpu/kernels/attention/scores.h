/// The softmax inside attention, on one row of scores in cache.
#pragma once

#include <cstdint>

namespace kiln::cpu {

/// Keys up to the last one that a row of a mask does not hide by -infinity.
int64_t count_visible(const float* mask, int64_t keys);

/// scores[0, visible) become exp(s - their maximum) with s = scores * scale + mask; scores[visible, keys) become 0.
/// Returns the sum. `mask` may be null.
float exponentiate(float* scores, int64_t visible, int64_t keys, float scale, const float* mask);

/// x[0, count) *= factor.
void multiply_row(float* x, int64_t count, float factor);

}  // namespace kiln::cpu
