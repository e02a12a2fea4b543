/// Convolution in FP32 with few output channels, channels last: neighbouring pixels share a row of a matrix product.
#pragma once

#include "backend/cpu/kernels/conv/conv.h"

namespace kiln::cpu {

/// One pixel's sums would fill a few lanes of a vector. So a row of the product is `pixels` outputs next to each other:
/// its columns are their channels, its depth the stretch of input that they read together, and its weights a band
/// matrix, the kernel of each pixel a stride further down and zeros beside it. An infinity or NaN meets those zeros in
/// pixels that do not read it; results with a NaN are therefore computed once more, a pixel a row.
struct PackedBanded {
  ConvWeights weights;
  int64_t pixels = 1, stride = 1;
  PackedB band;         ///< a tap a kernel row: ((pixels - 1) * stride + kw) * ic deep, pixels * oc columns
  PackedB exact;        ///< a tap a kernel row: kw * ic deep, oc columns
  AlignedFloats zeros;  ///< what padding reads

  int64_t num_floats() const { return band.data.size() + exact.data.size(); }
};

/// How many pixels make a row of the product on this machine; 1 if that would not pay. `stride` is that of the width.
int64_t banded_pixels(const ConvWeights& weights, int64_t stride);

/// Weights [oc, ic, kd, kh, kw] of one group. Fails with kOutOfMemory only.
Result<PackedBanded> pack_banded(const ConvWeights& weights, int64_t stride, const float* data);

/// A convolution like `conv`, but for dense pixels, channels last, a width without dilation, and an epilogue without
/// residual.
void banded(Team& team, const ConvShape& shape, const float* in, const PackedBanded& packed, float* out,
            const Epilogue& epilogue, void* workspace);

int64_t banded_workspace_bytes(const ConvShape& shape, const ConvWeights& weights, int team_size);

}  // namespace kiln::cpu
