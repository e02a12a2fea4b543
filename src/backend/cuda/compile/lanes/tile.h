/// The tiles that rows are worth.
#pragma once

#include <optional>

#include "backend/cuda/kernels/lanes/tile.h"

namespace kiln::cuda {

/// The tile for rows that are as here at their optimum and `most_cols` long at most; none where they exceed registers.
std::optional<RowTile> row_tile(int64_t rows, int64_t cols, int64_t most_cols, int element_bytes, int num_sms);
/// The tile for many rows of exactly `cols` halves, an odd number; none where that is not what they are.
std::optional<RowTile> odd_row_tile(int64_t rows, int64_t cols, int num_sms);

/// The tile for very many rows of exactly `cols` elements, which are few; none where that is not what they are.
std::optional<RowTile> short_row_tile(int64_t rows, int64_t cols, int element_bytes, int num_sms);
/// A tile with `team` threads a row, however many rows there are; none where their registers do not hold a row, or some
/// of them would have nothing of it.
std::optional<RowTile> team_row_tile(int64_t cols, int element_bytes, int team);

}  // namespace kiln::cuda
