/// Depthwise convolutions of bytes: sums over the taps of a window, channel by channel, exact in 32 bits.
#pragma once

#include "backend/cpu/kernels/gemm8/dot.h"

namespace kiln::cpu {

/// A tile of output pixels times one panel of channels.
///   a         [taps][kDotRows] pointers, each to the pixels' channels; those from `channel` on are read, `columns` of
///             them and no byte beyond
///   b         [ceil(taps / kDotGroup)][kDotPanel][kDotGroup], zeros beyond the last tap and the last channel
///   sums      [rows][kDotPanel]
struct DepthwiseTile {
  const uint8_t* const* a;
  ptrdiff_t channel;
  int rows;
  int64_t taps;
  const int8_t* b;
  bool a_is_signed;
  int32_t* sums;
  int64_t columns;  ///< 1 to kDotPanel
};
/// sums = the products of a + dot_shift(a_is_signed) with b, added up over taps.
void depthwise_dot(const DepthwiseTile& tile);

}  // namespace kiln::cpu
