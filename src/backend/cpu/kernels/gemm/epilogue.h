/// The epilogue of a contraction: its work on the sums before it lets them go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace kiln::cpu {

/// The rest of an epilogue, whatever it is: called on a block of finished results still in cache, in place.
///   tile   [rows, cols] floats, a row every `ld`; its corner is element (row0, col0) of the result
/// A contraction's rows count all batches' rows: row0 / m is the batch of a product with m rows, and for a convolution
/// a row is an output pixel (n, d, h, w), a column an output channel. Called from any thread of the team.
struct TileHook {
  void (*apply)(const void* self, float* tile, int64_t rows, int64_t cols, ptrdiff_t ld, int64_t row0, int64_t col0);
  const void* self;
};

/// result = hook(min(max(sum + bias + residual, lo), hi)); NaN passes through the clamp.
struct Epilogue {
  const float* bias = nullptr;      ///< one a column, or null
  const float* residual = nullptr;  ///< laid out as the result but for `ldr`, or null; may be the result itself
  ptrdiff_t ldr = 0;                ///< elements between rows of the residual
  float lo = -std::numeric_limits<float>::infinity();
  float hi = std::numeric_limits<float>::infinity();
  const TileHook* hook = nullptr;
};

}  // namespace kiln::cpu
