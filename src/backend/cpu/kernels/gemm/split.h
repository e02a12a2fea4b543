/// How a contraction's result is cut into parts for a team: by its shape alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/gemm/block.h"

namespace kiln::cpu {

/// Blocks of a result of rows x cols: `row_blocks` of `rows` rows times `col_blocks` of `cols` columns, last ones less.
struct Split {
  int64_t row_blocks, rows;
  int64_t col_blocks, cols;
  bool rows_first;  ///< one part after the other: blocks of rows, then of columns
  int64_t parts() const { return row_blocks * col_blocks; }
  int64_t row_of(int64_t part) const { return (rows_first ? part % row_blocks : part / col_blocks) * rows; }
  int64_t col_of(int64_t part) const { return (rows_first ? part / row_blocks : part % col_blocks) * cols; }
};

/// `copies` is how many such results the same call computes (batches, groups); `depth` their taps * k.
inline Split split_result(int64_t rows, int64_t cols, int64_t depth, int64_t copies) {
  const Tiling tile = tiling();
  if (rows <= 0 || cols <= 0 || copies <= 0) return {};
  // A part of 256 Ki multiply-adds takes some microseconds, ten times a fork. With few rows reading B dominates.
  constexpr int64_t kWorkOfPart = 1 << 18, kMostParts = 64, kRowsThatHideB = 8;
  const double work = static_cast<double>(std::max(rows, kRowsThatHideB)) * static_cast<double>(cols) *
                      static_cast<double>(std::max<int64_t>(depth, 1)) * static_cast<double>(copies);
  const int64_t all = std::clamp<int64_t>(static_cast<int64_t>(std::min(work / kWorkOfPart, 1e6)), 1, kMostParts);
  const int64_t wanted = ceil_div(all, copies);
  // Two rows or fewer are computed two panels at a time.
  const int64_t width = rows <= 2 ? 2 * tile.panel : tile.panel;
  int64_t row_blocks = ceil_div(rows, kBlockRows);
  const int64_t col_blocks = std::min(ceil_div(cols, width), ceil_div(wanted, row_blocks));
  row_blocks = std::min(ceil_div(rows, tile.rows), std::max(row_blocks, ceil_div(wanted, col_blocks)));
  Split split{};
  split.rows = round_up(ceil_div(rows, row_blocks), tile.rows);
  split.cols = round_up(ceil_div(cols, col_blocks), width);
  split.row_blocks = ceil_div(rows, split.rows);
  split.col_blocks = ceil_div(cols, split.cols);
  split.rows_first = rows < cols;  // A is the smaller: B should come from memory once
  return split;
}

}  // namespace kiln::cpu
