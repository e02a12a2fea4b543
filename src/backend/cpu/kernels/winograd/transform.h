/// The transforms around Winograd's products: F(4,3) on tiles of 6x6 inputs and 4x4 outputs, and along one axis F(4,3)
/// and F(4,5) on tiles of 6 and 8 inputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/gemm/epilogue.h"
#include "backend/cpu/kernels/window.h"

namespace kiln::cpu {

inline constexpr int64_t kWinogradOut = 4, kMostWinogradPoints = 36;

/// Tiles are numbered along x, then y, then the batch. An axis whose kernel is 1 is not transformed: tiles have one
/// place on it.
struct WinogradTiles {
  const Window& window;
  int64_t out_rows, out_cols;  // of a tile
  int64_t across, down;
  explicit WinogradTiles(const Window& w)
      : window(w),
        out_rows(w.kernel[1] > 1 ? kWinogradOut : 1),
        out_cols(w.kernel[2] > 1 ? kWinogradOut : 1),
        across(ceil_div(w.out[2], out_cols)),
        down(ceil_div(w.out[1], out_rows)) {}
  int64_t in_rows() const { return out_rows + window.kernel[1] - 1; }
  int64_t in_cols() const { return out_cols + window.kernel[2] - 1; }
  int64_t points() const { return in_rows() * in_cols(); }
  int64_t of_image() const { return across * down; }
};

/// For each tile [tile0, tile0 + count): u[point][slot0 + i][channel] = (B^T d B)[point]. A row of u has `u_ld` floats,
/// at least ic rounded up to 16; points are `point_stride` apart.
struct WinogradInput {
  const WinogradTiles& tiles;
  const float* in;
  ptrdiff_t in_ld;
  int64_t ic;
  const float* zeros;  // ic of them
  float* u;
  ptrdiff_t u_ld, point_stride;
};
void transform_input(const WinogradInput& at, int64_t tile0, int64_t count, int64_t slot0);

/// out = clamp(A^T m A + bias + residual) for each tile [tile0, tile0 + count). m as u, with oc columns.
struct WinogradOutput {
  const WinogradTiles& tiles;
  const float* m;
  ptrdiff_t m_ld, point_stride;
  int64_t oc;
  float* out;
  ptrdiff_t out_ld;
  const Epilogue& epilogue;
};
void transform_output(const WinogradOutput& at, int64_t tile0, int64_t count, int64_t slot0);

}  // namespace kiln::cpu
