/// Quantized convolutions, channels last, and matrix products: bytes times bytes, exact sums, and what follows.
#pragma once

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/conv/pointers.h"
#include "backend/cpu/kernels/gemm/epilogue.h"
#include "backend/cpu/kernels/gemm8/pack.h"
#include "backend/cpu/kernels/window.h"

namespace kiln::cpu {

/// x is [n, pixels in, channels] bytes, the result [n, pixels out, columns]. A product of m rows is a window of m
/// pixels with one tap.
struct ByteShape {
  int64_t n = 1;
  Window window;
  Taps taps = Taps::kPixels;  ///< as the weights are packed: of the channels, or of a kernel row of them
  bool is_depthwise = false;  ///< each column is of the channel in its place; weights are packed with the taps as k
};

/// The taps to pack for: of few channels, rows make longer sums.
Taps byte_taps(const Window& window, int64_t channels);

/// How numbers are made of bytes, and bytes of numbers. Scales and zero points are read when the kernel runs.
struct ByteScales {
  float x_scale;
  int32_t x_zero;
  bool x_is_signed;
  const float* w_scale;  ///< one, or one a column
  bool w_scale_is_one;
};

/// What becomes of a sum: value = hook(clamp(sum * x_scale * w_scale + bias + residual)), as floats, or as bytes
/// saturate(round(value / y_scale) + y_zero).
struct ByteResult {
  float* floats = nullptr;  ///< or null:
  uint8_t* bytes = nullptr;
  float y_scale = 1;
  int32_t y_zero = 0;
  bool y_is_signed = false;
};

/// Rows of the epilogue are pixels, columns those of w. `workspace` has contract_workspace_bytes, aligned to
/// kCacheLine.
void contract(Team& team, const ByteShape& shape, const uint8_t* x, const PackedBytes& w, const ByteScales& scales,
              const ByteResult& y, const Epilogue& epilogue, void* workspace);
int64_t contract_workspace_bytes(const ByteShape& shape, int64_t k, int64_t columns, int team_size);

}  // namespace kiln::cpu
