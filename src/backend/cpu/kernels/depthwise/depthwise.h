/// Depthwise convolution in FP32, channels last: each channel has a kernel of its own (channel multiplier 1).
#pragma once

#include "backend/cpu/kernels/conv/conv.h"

namespace kiln::cpu {

/// Weights [c, 1, kd, kh, kw] as [kd, kh, kw, c].
struct PackedDepthwise {
  int64_t channels = 0;
  int64_t kernel[3] = {1, 1, 1};
  AlignedFloats data;

  int64_t num_floats() const { return data.size(); }
};
Result<PackedDepthwise> pack_depthwise(const ConvWeights& of, const float* weights);

/// A convolution like `conv`, but for channels last. Needs no workspace.
void depthwise(Team& team, const ConvShape& shape, const float* in, const PackedDepthwise& packed, float* out,
               const Epilogue& epilogue, void* workspace = nullptr);

}  // namespace kiln::cpu
