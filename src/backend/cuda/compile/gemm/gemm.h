/// Matrix products on the GPU: the sources of kernels, and which are worth timing.
#pragma once

#include <vector>

#include "backend/cuda/compile/gemm/epilogue.h"
#include "backend/cuda/compile/gemm/tile.h"
#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/gemm/gemm.h"

namespace kiln::cuda {

/// Products of bytes have `scales`.
KernelSource source_of(const GemmKernel& kernel, const Epilogue& epilogue,
                       const std::optional<ByteScales>& scales = {});
/// The source of a gated product (steps::GatedProduct), whose columns stand in pairs; `kernel` may_gate.
KernelSource source_of(const GemmKernel& kernel, const Epilogue& epilogue, const NestProgram& gate);

/// Facts about a product that a kernel may assume.
struct GemmTraits {
  ContractionTypes types;
  bool a_k_major = true, b_k_major = false;
  int64_t a_align = 1, b_align = 1, c_align = 1;  ///< elements that divide the contiguous extents and all strides
  bool tf32 = false;
  bool b_constant = false;      ///< as it is where its type is not A's
  bool normalized = false;      ///< kernels normalize rows of A
  bool one_batch_axis = false;  ///< all batches are one stride apart, or B is the same for all
  int64_t lane_columns = 1;     ///< a divisor of n, where B is the same for all batches; a power of two
  int64_t read_bytes = 0;       ///< that the epilogue reads for a result, beside what channels share
};
/// Kernels worth timing for m x n x k in batches, the likeliest first; where rows are not normalized, the last resort
/// (kGemmSimt) always among them.
struct GemmCandidate {
  GemmKernel kernel;
  double estimate_us;
};
std::vector<GemmCandidate> gemm_candidates(const GemmTraits& traits, int64_t m, int64_t n, int64_t k, int64_t batches,
                                           const Machine& machine);

/// The largest power of two, at most `most`, that divides `n`; most for 0.
int64_t power_of_two_in(int64_t n, int64_t most);

}  // namespace kiln::cuda
