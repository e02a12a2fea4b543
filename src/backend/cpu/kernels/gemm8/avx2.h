/// Products of bytes with AVX2 alone, which has no instruction that adds products of bytes in 32 bits. What the rows of
/// A hold decides between two tiles, both exact:
///   narrow  No byte of the rows exceeds 127, as behind a Relu. vpmaddubsw adds two products in 16 bits, which then
///           have room for them, since 2 * 127 * 128 < 2^15. Another instruction adds pairs of those in 32 bits.
///   wide    Else both operands become 16-bit numbers, ahead of the loop. vpmaddwd adds two products in 32 bits.
#pragma once

#include <array>

#include "backend/cpu/kernels/gemm8/dot.h"
#include "backend/cpu/kernels/gemm8/finish.h"
#include "backend/cpu/kernels/gemm8/joined.h"

namespace kiln::cpu {

inline constexpr int64_t kHalfRows = 6;      ///< of a tile
inline constexpr int64_t kHalfColumns = 16;  ///< of a tile: half a panel

/// Whether this machine's kernels multiply half panels: AVX2 is there, and no VNNI that the target allows.
bool uses_half_panels();

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
Magnitude magnitude_of(const uint8_t* bytes, int64_t count);

/// Bytes, of either sign, become 16-bit numbers.
void widen_bytes(const uint8_t* from, int64_t count, bool is_signed, int16_t* to);
/// Half a panel of B, DotTile::b, becomes [taps][ceil(k / 2)][kHalfColumns][2] numbers. `to` has room for
/// kHalfColumns * gathered_depth.
void widen_half_panel(const int8_t* b, int64_t taps, int64_t k, int16_t* to);

/// A tile of `rows`, 1 to kHalfRows, times `columns`, 1 to kHalfColumns. A step of the sum takes kDotGroup bytes, or a
/// pair of numbers, of a row and of each column.
template <class OfA, class OfB>
struct HalfTile {
  const OfA* const* a;    ///< a pointer for each row
  const int32_t* places;  ///< of each step, what it reads lies so many elements behind a row's pointer
  int64_t steps;
  const OfB* b;
  int rows;
  int64_t columns;
};
/// No byte of A exceeds 127. b is half a panel: DotTile::b, or kHalfColumns * kDotGroup bytes behind it.
using NarrowTile = HalfTile<uint8_t, int8_t>;
/// b is a widened half panel.
using WideTile = HalfTile<int16_t, int16_t>;

/// A NarrowTile whose steps are joined: those of a join are added up in 16 bits.
struct JoinedStep {
  int32_t a, b;  ///< elements behind a row's pointer, and behind HalfTile::b
};
struct JoinedTile {
  const uint8_t* const* a;
  const JoinedStep* steps;
  const std::array<int32_t, kMostJoined>& joins;  ///< JoinedSteps::joins
  const int8_t* b;
  int rows;
  int64_t columns;
};

/// The sums of a tile, finished. `sums`, [kHalfRows][kDotPanel], is scratch.
void dot_and_finish(const NarrowTile& tile, const Finish& how, int32_t* sums);
void dot_and_finish(const JoinedTile& tile, const Finish& how, int32_t* sums);
void dot_and_finish(const WideTile& tile, const Finish& how, int32_t* sums);

/// Products of kHalfRows rows by kHalfColumns columns, one at each of `positions`.
struct PositionTile {
  const int16_t* a;  ///< [positions], `step` apart, [kHalfRows][depth]
  ptrdiff_t step;
  const int16_t* b;  ///< [positions], each a widened half panel
  int64_t depth, positions;
  int64_t corrected;  ///< the position from whose sums a correction is taken off
};
/// sums[position][kHalfRows][kHalfColumns].
void multiply_positions(const PositionTile& tile, const int32_t* correction, int32_t* sums);

/// `finish` of at most kHalfColumns columns of [rows][kHalfColumns] sums that are corrected, without a residual. Rows
/// are even in number. Row r goes places[r] elements behind the result's beginning; a negative place is that of a row
/// that nobody wants.
void finish_half(const int32_t* sums, int64_t rows, const int64_t* places, int64_t columns, const Finish& how);

}  // namespace kiln::cpu
