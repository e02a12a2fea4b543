/// 3x3 convolutions of bytes by Winograd's F(2x2, 3x3), for machines with AVX2 alone: 16 products in place of 36. Both
/// operands are whole numbers of 16 bits. Weights are taken four times, which makes them whole; so are the sums, which
/// are divided by four without a rest. All of it is exact in 32 bits.
#pragma once

#include "backend/cpu/kernels/gemm8/avx2.h"
#include "backend/cpu/kernels/gemm8/pack.h"
#include "backend/cpu/kernels/window.h"

namespace kiln::cpu {

inline constexpr int64_t kPositions = 16;     ///< of a transformed tile of 4x4
inline constexpr int64_t kPositionOfAll = 5;  ///< whose sums are added once to each of a tile's pixels
inline constexpr int64_t kMostDepth = 128;    ///< channels: tiles of more leave the cache

/// Whether such a convolution may go this way: 3x3 without steps, of some channels.
bool suits_winograd(const Window& window, int64_t channels, int64_t columns);

/// Numbers of a transformed pixel: channels, and zeros.
int64_t winograd_depth(int64_t channels);

/// Writes PackedBytes::transformed, [half panels][kPositions][depth / 2][kHalfColumns][2], from packed weights of 3x3.
Status transform_weights(PackedBytes& w, int64_t channels);

/// Transforms the 4x4 pixels of x at `from`, rows `row_step` bytes apart, to kPositions runs of `depth` numbers, `step`
/// numbers apart. Bytes are read up to a multiple of 16 of a pixel's channels.
struct TransformTile {
  const uint8_t* from;
  ptrdiff_t row_step;
  int64_t channels, depth;
  bool is_signed;
  ptrdiff_t step;
};
void transform_tile(const TransformTile& tile, int16_t* to);

/// The sums of 2x2 pixels from those of kPositions, `step` apart: to[pixel][kHalfColumns].
void transform_sums(const int32_t* from, ptrdiff_t step, int32_t* to);

}  // namespace kiln::cpu
