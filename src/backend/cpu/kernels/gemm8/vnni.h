/// The register tile of AVX-512's VNNI, which adds four products of bytes to a sum of 32 bits, without saturation on
/// the way.
#pragma once

#include "backend/cpu/kernels/gemm8/dot.h"
#include "backend/cpu/kernels/gemm8/finish.h"

namespace kiln::cpu {

/// Whether this machine multiplies bytes by VNNI, and may by the target in use.
bool has_vnni();

/// `dot` by VNNI; call it only if has_vnni().
void vnni_dot(const DotTile& tile);

/// vnni_dot, and `finish` of its sums, which stay in registers: `tile.sums` is not written. `how` has no residual.
void vnni_dot_and_finish(const DotTile& tile, const Finish& how);

inline constexpr int kLineRows = 20;  ///< of a tile of a line, at most

/// The most rows of a tile of a line that registers hold.
constexpr int line_rows(int64_t columns) { return columns <= 16 ? kLineRows : 12; }

/// A tile whose rows lie `pitch` bytes apart, as windows of output pixels that follow each other in a line do: no
/// pointers to rows are read.
///   a      unsigned bytes of row 0; up to kLineRows rows are read
///   steps  [taps] where each tap's k bytes begin, from a on
///   b, k, columns, and what is read of k bytes: as DotTile has them
struct LineTile {
  const uint8_t* a;
  ptrdiff_t pitch;
  int rows;  ///< at most line_rows(columns)
  const ptrdiff_t* steps;
  int64_t taps, k;
  const int8_t* b;
  int64_t columns;
  int32_t* sums;  ///< [rows][kDotPanel]
};

/// The products' sums, then `finish`; `sums` is written where `how` has a residual.
void vnni_line_and_finish(const LineTile& tile, const Finish& how);

}  // namespace kiln::cpu
