/// Fused attention on the GPU: the sources of kernels, and which are worth timing.
#pragma once

#include <vector>

#include "backend/cuda/compile/gemm/tile.h"
#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/attention/attention.h"

namespace kiln::cuda {

KernelSource source_of(const AttentionKernel& kernel);

struct AttentionTraits {
  DType element = DType::kF16;
  int64_t depth = 64;  ///< the larger of q's and v's channels
  int64_t align = 8;   ///< elements that divide both channels and all strides; of bytes up to 16
  bool has_mask = false, nan_rows_are_zero = false, causal = false;
  bool least_hides = false;                  ///< the mask's least half stands for a number beyond halves
  std::optional<DType> result = {};          ///< bytes that the result is quantized to
  std::optional<DType> operand = {};         ///< bytes that q, k and v are
  bool rounds_weights = false;               ///< to such bytes
  bool joined = false;                       ///< keys and values are those of two tensors each
  bool tf32 = false;                         ///< FP32 may be rounded to TF32
  int64_t queries = 1, keys = 1, heads = 1;  ///< at the optimum; heads of all batches
};
struct AttentionCandidate {
  AttentionKernel kernel;
  double estimate_us;
};
/// Kernels worth timing, the likeliest first; none for other types, or heads of more than 128 channels.
std::vector<AttentionCandidate> attention_candidates(const AttentionTraits& traits, const Machine& machine);

}  // namespace kiln::cuda
