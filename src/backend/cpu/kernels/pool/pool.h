/// Maximum and average pooling in FP32, over one to three spatial axes; global pooling is a window as large as the
/// input.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/window.h"

namespace kiln::cpu {

enum class PoolKind : uint8_t {
  kMax,           ///< NaN if any is; padding never wins; a window wholly in padding gives -inf
  kAverageValid,  ///< the sum of what is there over its count; a window wholly in padding gives NaN
  kAveragePadded  ///< padding counts as zeros; what lies beyond `pad_after` does not count
};

enum class PoolLayout : uint8_t {
  kChannelsLast,  ///< [n, d, h, w, c]
  kChannelsFirst  ///< [n, c, d, h, w]
};

struct PoolShape {
  int64_t n = 1, c = 1;
  Window window;
  int64_t pad_after[3] = {0, 0, 0};  ///< read by kAveragePadded only
  PoolKind kind = PoolKind::kMax;
  PoolLayout layout = PoolLayout::kChannelsLast;
  ptrdiff_t in_ld = 0, out_ld = 0;  ///< channels last: from pixel to pixel; 0: the channels
};

void pool(Team& team, const PoolShape& shape, const float* in, float* out);

}  // namespace kiln::cpu
