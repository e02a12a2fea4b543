/// Convolution in FP32, channels last, without a copy of its input: matrix products through tables of pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/gemm/epilogue.h"
#include "backend/cpu/kernels/gemm/pack.h"
#include "backend/cpu/kernels/window.h"

namespace kiln::cpu {

/// Extents that the weights fix: [oc, ic / groups, kd, kh, kw]; group g maps its slice of channels to its slice.
struct ConvWeights {
  int64_t ic = 1, oc = 1, groups = 1;
  int64_t kernel[3] = {1, 1, 1};

  /// Reads the extents of weights, [oc, ic / groups] and 1 to 3 of the kernel, with so many groups.
  static ConvWeights of(std::span<const int64_t> w, int64_t groups);
  bool is_depthwise() const { return groups == ic && groups == oc; }
};

enum class ConvInput : uint8_t {
  kChannelsLast,   ///< [n, d, h, w, ic]
  kChannelsFirst,  ///< [n, ic, d, h, w]; copied to the workspace, so meant for the few channels of a picture
};

/// Extents that may change from run to run. The result is [n, d, h, w, oc].
struct ConvShape {
  int64_t n = 1;
  Window window;         ///< its kernel is the weights'
  ptrdiff_t in_ld = 0;   ///< elements from one input pixel to the next; 0: ic. Channels last only
  ptrdiff_t out_ld = 0;  ///< from one output pixel to the next; 0: oc
  ConvInput input = ConvInput::kChannelsLast;
};

struct PackedConv {
  ConvWeights weights;
  PackedB b;            ///< a batch a group, a tap a kernel position
  AlignedFloats zeros;  ///< what padding reads: a row of the kernel

  int64_t num_floats() const { return b.data.size(); }
  void unpack(float* to) const;  ///< the inverse of `pack_conv`
};

/// Packs weights in the order above. Fails with kOutOfMemory, or if groups do not divide the channels.
Result<PackedConv> pack_conv(const ConvWeights& weights, const float* data);

/// out = epilogue(conv(in)). Rows of the epilogue are output pixels, columns output channels.
void conv(Team& team, const ConvShape& shape, const float* in, const PackedConv& packed, float* out,
          const Epilogue& epilogue, void* workspace);

/// Bytes of workspace, aligned to kCacheLine, of `conv` with a team of that size.
int64_t conv_workspace_bytes(const ConvShape& shape, const ConvWeights& weights, int team_size);

}  // namespace kiln::cpu
