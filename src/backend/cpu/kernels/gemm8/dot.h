/// Sums of products of bytes, exact in 32 bits: the register tile of quantized products and convolutions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::cpu {

struct Finish;

inline constexpr int64_t kDotRows = 12;   ///< of a tile; pointer tables come in groups of so many
inline constexpr int64_t kDotPanel = 32;  ///< columns of a panel of packed B
inline constexpr int64_t kDotGroup = 4;   ///< steps of k that lie together

/// A tile: rows [0, rows) of A times one panel of B, for all taps.
///   a     [taps][kDotRows] pointers, each to k bytes, of which a multiple of kDotGroup is read; rows beyond `rows` are
///         read, too
///   b     [taps][ceil(k / kDotGroup)][kDotPanel][kDotGroup], zeros beyond k and the last column
///   sums  [rows][kDotPanel]
struct DotTile {
  const uint8_t* const* a;
  int rows;
  int64_t taps, k;
  const int8_t* b;
  bool a_is_signed;
  int32_t* sums;
  int64_t columns = kDotPanel;  ///< that are wanted: of a panel that has no others, less is computed
};
/// sums = the products of a + dot_shift(a_is_signed) with b.
void dot(const DotTile& tile);

/// `dot`, then `finish`. Where registers hold the sums on the way, `tile.sums` is not written.
void dot_and_finish(const DotTile& tile, const Finish& how);

/// What kernels of this machine add to elements of A: 128 where they take signed ones as unsigned.
int32_t dot_shift(bool a_is_signed);

}  // namespace kiln::cpu
