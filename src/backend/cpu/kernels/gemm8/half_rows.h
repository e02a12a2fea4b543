/// Rows of A for the tiles of avx2.h. Output pixels that follow each other read windows that lie close together, mostly
/// in the same lines of x. Such rows are read where x lies, or from a part of it as 16-bit numbers; else they are
/// gathered.
#pragma once

#include <cstddef>

#include "backend/cpu/kernels/gemm8/avx2.h"
#include "backend/cpu/kernels/gemm8/contract.h"

namespace kiln::cpu {

/// How a contraction reads its rows.
struct RowPlan {
  bool in_place;  ///< else gathered
  int64_t rows;   ///< the most of a part: what it reads stays in L2
  int64_t bytes;  ///< the most that a part reads: all from its first window to its last one, or gathered rows
};
RowPlan plan_rows(const ByteShape& shape, int64_t k);

/// Rows [row0, row0 + rows) of A.
struct RowSource {
  const ByteShape& shape;
  const Window& window;  ///< over x as it lies there
  const uint8_t* x;      ///< with its padding where rows are read in place
  int64_t k;             ///< of a tap
  bool is_signed;
  bool has_slack;  ///< kDotGroup bytes behind x may be read
};

/// What tiles read. Of the two kinds of pointers one is given.
struct PlacedRows {
  const uint8_t* const* narrow = nullptr;
  const int16_t* const* wide = nullptr;
};

/// Memory of a worker for `plan`.
int64_t row_memory_bytes(const RowPlan& plan);
/// Rows in place. `memory` has row_memory_bytes.
PlacedRows place_rows(const RowSource& from, const RowPlan& plan, int64_t row0, int64_t rows, std::byte* memory);
/// Rows that are gathered from a table of pointers.
PlacedRows place_rows(const RowsOfA& from, bool is_signed, const RowPlan& plan, std::byte* memory);

/// Where the steps of a sum find what they read (HalfTile::places).
struct Steps {
  int32_t *narrow, *wide;
  int64_t num_narrow, num_wide;
};
int64_t step_bytes(int64_t taps, int64_t k);
/// Fills arrays in `memory`, which has step_bytes. `window` is that of RowSource.
Steps fill_steps(const ByteShape& shape, const Window& window, int64_t k, bool in_place, std::byte* memory);

}  // namespace kiln::cpu
