/// A depthwise convolution of what a convolution of single pixels makes, row by row: the result between the two, which
/// is the largest tensor of its network in many, stays in cache.
#pragma once

#include "backend/cpu/kernels/depthwise/depthwise.h"

namespace kiln::cpu {

/// Two convolutions in FP32, channels last. `shape` is the depthwise one's; in has the pixels of its x.
struct ConvolutionPair {
  const ConvShape& shape;
  const PackedConv& pointwise;  ///< a tap, one group
  const Epilogue& inner;        ///< the pointwise one's, without a residual; rows are pixels of what lies between
  const PackedDepthwise& depthwise;
  const Epilogue& outer;
};
/// Whether `pointwise_depthwise` takes a depthwise convolution by such a window: of two axes, its kernel
/// of few rows.
bool takes_rows_of(const Window& window);

void pointwise_depthwise(Team& team, const ConvolutionPair& convolutions, const float* in, float* out, void* workspace);

/// Bytes of workspace, aligned to kCacheLine.
int64_t pointwise_depthwise_workspace_bytes(const ConvShape& shape, int team_size);

}  // namespace kiln::cpu
