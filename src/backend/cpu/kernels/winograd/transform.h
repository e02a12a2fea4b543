/// The transforms around Winograd's products: F(4,3) on tiles of 6x6 inputs and 4x4 outputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/kernels/gemm/epilogue.h"
#include "backend/cpu/kernels/window.h"

namespace kiln::cpu {

inline constexpr int64_t kWinogradOut = 4, kWinogradIn = 6, kWinogradPoints = 36;

/// Tiles are numbered along x, then y, then the batch; tile t yields outputs from (4 y, 4 x) on.
struct WinogradTiles {
  const Window& window;
  int64_t across, down;
  explicit WinogradTiles(const Window& w)
      : window(w),
        across((w.out[2] + kWinogradOut - 1) / kWinogradOut),
        down((w.out[1] + kWinogradOut - 1) / kWinogradOut) {}
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
