/// Products of bytes with AVX2 alone, which has no instruction that adds products of bytes in 32 bits. Rows of A are
/// gathered first. What they hold decides between two tiles, both exact:
///   narrow  No byte of the rows exceeds 127, as behind a Relu. vpmaddubsw adds two products in 16 bits, which then
///   have
///           room for them, since 2 * 127 * 128 < 2^15. Another one adds pairs of those in 32 bits.
///   wide    Else both operands become 16-bit numbers, ahead of the loop. vpmaddwd adds two products in 32 bits.
#pragma once

#include "backend/cpu/kernels/gemm8/dot.h"
#include "backend/cpu/kernels/gemm8/finish.h"

namespace kiln::cpu {

inline constexpr int64_t kHalfRows = 6;      ///< of a tile
inline constexpr int64_t kHalfColumns = 16;  ///< of a tile: half a panel

/// Whether gathered rows are what this machine's kernels multiply: AVX2 is there, and no VNNI that the target allows.
bool uses_gathered_rows();

/// Bytes of a gathered row: each tap's k, rounded up to kDotGroup.
int64_t gathered_depth(int64_t taps, int64_t k);

/// Rows [0, rows) of A.
struct RowsOfA {
  const uint8_t* const* a;  ///< [rows / kDotRows][taps][kDotRows] pointers, as DotTile has them
  int64_t rows, taps, k;
};
enum class Magnitude : uint8_t { kTo127, kTo255 };  ///< of bytes without a sign
/// Copies rows to [rows][gathered_depth], and says what the greatest of their bytes may be.
Magnitude gather_rows(const RowsOfA& from, uint8_t* to);

/// Bytes, of either sign, become 16-bit numbers. `count` is a multiple of kDotGroup.
void widen_rows(const uint8_t* from, int64_t count, bool is_signed, int16_t* to);
/// Half a panel of B, DotTile::b, becomes [depth / 2][kHalfColumns][2] numbers.
void widen_half_panel(const int8_t* b, int64_t depth, int16_t* to);

/// A tile of `rows`, 1 to kHalfRows, times `columns`, 1 to kHalfColumns.
struct NarrowTile {
  const uint8_t* a;  ///< [rows][depth], none above 127
  const int8_t* b;   ///< half a panel: DotTile::b, or kHalfColumns * kDotGroup bytes behind it
  int64_t depth;
  int rows;
  int64_t columns;
};
struct WideTile {
  const int16_t* a;  ///< [rows][depth]
  const int16_t* b;  ///< a widened half panel
  int64_t depth;
  int rows;
  int64_t columns;
};
/// The sums of a tile, finished. `sums`, [kHalfRows][kDotPanel], is written where `how` has a residual.
void dot_and_finish(const NarrowTile& tile, const Finish& how, int32_t* sums);
void dot_and_finish(const WideTile& tile, const Finish& how, int32_t* sums);

/// The sums of a tile, [rows][ld].
void add_up(const WideTile& tile, int32_t* sums, ptrdiff_t ld);

/// `finish` of at most kHalfColumns columns, without a residual. Row r goes places[r] elements behind the result's
/// beginning; a negative place is that of a row that nobody wants.
void finish_half(const int32_t* sums, int64_t rows, const int64_t* places, int64_t columns, const Finish& how);

}  // namespace kiln::cpu
