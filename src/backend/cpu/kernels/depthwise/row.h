/// One row of output pixels of a depthwise convolution.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/kernels/gemm/epilogue.h"
#include "backend/cpu/kernels/window.h"

namespace kiln::cpu {

/// The input rows that an output row reads: `num_lines` of them with the kernel row (kw x channels) that goes with
/// each.
inline constexpr int64_t kMostLines = 64;
struct DepthwiseRow {
  const Window& window;
  int64_t channels;
  const float* lines[kMostLines];    // first pixel of an input row
  const float* weights[kMostLines];  // [kw][channels], the columns `weights_ld` apart
  ptrdiff_t weights_ld;
  int64_t num_lines;
  ptrdiff_t in_ld;
  float* out;  // first pixel of the output row
  ptrdiff_t out_ld;
  const float* residual;  // of that pixel, or null
  bool add_to_out;        // the sums so far stand in out; bias and residual are in them
  bool last;              // clamp
  const Epilogue& epilogue;
};
void run_depthwise_row(const DepthwiseRow& row);

}  // namespace kiln::cpu
