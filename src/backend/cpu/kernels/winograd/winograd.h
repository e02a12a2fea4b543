/// Convolutions by Winograd's algorithm: of 3x3 by F(4,3) a quarter of the multiplications, of 3 or 5 along one axis by
/// F(4,3) or F(4,5) a half or 2/5 of them; and a larger rounding error.
#pragma once

#include "backend/cpu/kernels/conv/conv.h"

namespace kiln::cpu {

/// Weights [oc, ic, kernel] transformed to a matrix ic x oc for each point.
/// Source of the transforms: A. Lavin and S. Gray, "Fast algorithms for convolutional neural networks", 2015.
struct PackedWinograd {
  int64_t ic = 0, oc = 0;
  PackedB b;
  AlignedFloats zeros;

  int64_t num_floats() const { return b.data.size(); }
};

/// Fails with kOutOfMemory only.
Result<PackedWinograd> pack_winograd(const ConvWeights& of, const float* weights);

/// A convolution like `conv`. `shape.window` may have any padding and any output extents.
void winograd(Team& team, const ConvShape& shape, const float* in, const PackedWinograd& packed, float* out,
              const Epilogue& epilogue, void* workspace);

/// Bytes of workspace, aligned to kCacheLine, of `winograd` with a team of that size.
int64_t winograd_workspace_bytes(const ConvShape& shape, const ConvWeights& weights, int team_size);

}  // namespace kiln::cpu
