/// Products of floats by quantized weights: C = epilogue(A * dequantize(W)), without W in floats.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/gemm/epilogue.h"
#include "backend/cpu/kernels/weight_only/pack.h"

namespace kiln::cpu {

/// Columns of a panel of the chosen target, and how its kernels read i4.
int64_t weight_panel();
bool keeps_nibbles_biased();

/// A's rows and where they lie, and C, which overlaps neither A nor W. Rows of A are contiguous.
struct WeightProduct {
  int64_t rows;
  const float* a;
  ptrdiff_t lda;
  float* c;
  ptrdiff_t ldc;
};

/// Weights are (number - zero point) * scale, in FP32. Few rows read the weights at the rate of memory and sum a
/// block's products by the numbers before the scale; more of them multiply panels that were made floats.
void multiply_weights(Team& team, const WeightProduct& product, const PackedWeights& weights, const Epilogue& epilogue,
                      void* workspace);
/// Bytes of workspace, aligned to kCacheLine, that the call above needs.
int64_t weight_workspace_bytes(int64_t rows, int64_t k, int64_t n, int64_t block, int team_size);

}  // namespace kiln::cpu
