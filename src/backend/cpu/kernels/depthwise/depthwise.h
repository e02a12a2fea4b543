/// Depthwise convolution in FP32, channels last: each channel has a kernel of its own (channel multiplier 1).
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/gemm/epilogue.h"
#include "backend/cpu/kernels/window.h"

namespace kiln::cpu {

/// Weights [c, 1, kd, kh, kw] as [kd, kh, kw, c].
struct PackedDepthwise {
  int64_t channels = 0;
  int64_t kernel[3] = {1, 1, 1};
  AlignedFloats data;
};
Result<PackedDepthwise> pack_depthwise(int64_t channels, const int64_t (&kernel)[3], const float* weights);

/// in [n, d, h, w, c], out likewise; from pixel to pixel `in_ld` and `out_ld` elements (0: the channels).
struct DepthwiseShape {
  int64_t n = 1;
  Window window;
  ptrdiff_t in_ld = 0, out_ld = 0;
};

/// Rows of the epilogue are output pixels, columns channels. Needs no workspace.
void depthwise(Team& team, const DepthwiseShape& shape, const float* in, const PackedDepthwise& packed, float* out,
               const Epilogue& epilogue);

}  // namespace kiln::cpu
