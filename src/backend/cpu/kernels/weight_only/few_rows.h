/// The inner loops of products by quantized weights, for the chosen target.
#pragma once

#include "backend/cpu/kernels/gemm/epilogue.h"
#include "backend/cpu/kernels/weight_only/pack.h"

namespace kiln::cpu {

/// What of the target its callers have to know.
struct WeightTarget {
  int64_t panel;  ///< columns of a panel
  bool biased;    ///< PackedWeights::biased
  int64_t rows;   ///< most rows that share one pass over a panel
};
WeightTarget weight_target();

/// A few rows by one panel.
struct PanelTask {
  const PackedWeights* weights;
  int64_t panel;
  const float* a;  ///< rows of padded_k() floats; those of i4 as `scale_row` left them where the target is biased
  ptrdiff_t lda;
  const float* sums;  ///< of A's rows over each block, a row every `lds`; read where there are zero points
  ptrdiff_t lds;
  int rows;  ///< at most WeightTarget::rows
  float* c;  ///< element (0, first column of the panel)
  ptrdiff_t ldc;
  const float* bias;      ///< of the panel's first column, or null
  const float* residual;  ///< of the corner, or null
  ptrdiff_t ldr;
  float lo, hi;
};
void multiply_panel(const PanelTask& task);

/// Copies a row of A for `multiply_panel`, with zeros beyond k.
void scale_row(const PackedWeights& weights, const float* from, float* to);

/// Rows [k0, k1) of a panel as floats, [k][panel]. k0 is a multiple of kBlockStep.
void expand_panel(const PackedWeights& weights, int64_t panel, int64_t k0, int64_t k1, float* to);

}  // namespace kiln::cpu
