/// Transposed convolution in FP32, channels last: outputs of one phase of the stride are a convolution of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/gemm/epilogue.h"
#include "backend/cpu/kernels/gemm/pack.h"
#include "backend/cpu/kernels/window.h"

namespace kiln::cpu {

/// [ic, oc / groups, kd, kh, kw], with the stride and dilation that decide which outputs a weight reaches: input
/// position i of an axis adds weight k to output i * stride - pad + k * dilation.
struct DeconvWeights {
  int64_t ic = 1, oc = 1, groups = 1;
  int64_t kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1};
};

/// Outputs with (o + pad) mod stride = phase, per axis, read the taps k with (k * dilation) mod stride = phase: a
/// product of its own, packed for itself. There are stride[0] * stride[1] * stride[2] of them.
struct PackedDeconv {
  struct Phase {
    std::vector<int64_t> taps[3];  ///< of each axis
    PackedB b;                     ///< a batch a group
    int64_t num_taps() const { return static_cast<int64_t>(taps[0].size() * taps[1].size() * taps[2].size()); }
  };
  DeconvWeights weights;
  std::vector<Phase> phases;  ///< [stride d][stride h][stride w]
  AlignedFloats zeros;
};

/// Fails with kOutOfMemory, or if groups do not divide the channels.
Result<PackedDeconv> pack_deconv(const DeconvWeights& weights, const float* data);

struct DeconvShape {
  int64_t n = 1;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  int64_t pad[3] = {0, 0, 0};       ///< cut off before the first output; what `out` lacks is cut off after the last
  ptrdiff_t in_ld = 0, out_ld = 0;  ///< from pixel to pixel; 0: the channels
};

/// out = epilogue(deconv(in)). Rows of the epilogue are output pixels, columns output channels.
void deconv(Team& team, const DeconvShape& shape, const float* in, const PackedDeconv& packed, float* out,
            const Epilogue& epilogue, void* workspace);

/// Bytes of workspace, aligned to kCacheLine, of `deconv` with a team of that size.
int64_t deconv_workspace_bytes(const DeconvWeights& weights, int team_size);

}  // namespace kiln::cpu
