/// 3x3 convolution by Winograd's F(4,3): a quarter of the multiplications, and a larger rounding error.
#pragma once

#include <cstdint>

#include "backend/cpu/kernels/conv/conv.h"

namespace kiln::cpu {

/// Weights [oc, ic, 3, 3] transformed to 36 matrices ic x oc.
/// Source of the transforms: A. Lavin and S. Gray, "Fast algorithms for convolutional neural networks", 2015.
struct PackedWinograd {
  int64_t ic = 0, oc = 0;
  PackedB b;
  AlignedFloats zeros;
};

/// Whether the family serves a convolution: two spatial axes, 3x3, stride and dilation 1, one group, channels last.
/// Worth it from some 16 input and output channels on. The error is about 10 times the direct convolution's.
bool winograd_serves(const ConvShape& shape, const ConvWeights& weights);

/// Fails with kOutOfMemory only.
Result<PackedWinograd> pack_winograd(int64_t ic, int64_t oc, const float* weights);

/// A convolution like `conv`. `shape.window` may have any padding and any output extents.
void winograd(Team& team, const ConvShape& shape, const float* in, const PackedWinograd& packed, float* out,
              const Epilogue& epilogue, void* workspace);

/// Bytes of workspace, aligned to kCacheLine, of `winograd` with a team of that size.
int64_t winograd_workspace_bytes(const ConvShape& shape, int64_t ic, int64_t oc, int team_size);

}  // namespace kiln::cpu
