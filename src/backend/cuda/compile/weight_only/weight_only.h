/// Sources of the kernels of kernels/weight_only, and which are worth timing.
#pragma once

#include <vector>

#include "backend/cuda/compile/gemm/gemm.h"
#include "backend/cuda/kernels/weight_only/weight_only.h"

namespace kiln::cuda {

KernelSource source_of(const WeightOnlyRows& kernel, const Epilogue& epilogue);
/// A product's kernel with one beside it that makes its b of weights: kExpandWeights.
KernelSource source_of(const GemmKernel& kernel, const WeightOnlyTypes& types, const Epilogue& epilogue);

/// A product's extents, and the elements that divide k and n.
struct WeightOnlyProblem {
  WeightOnlyTypes types;
  int64_t m, n, k, block;
  int64_t k_align = 1, n_align = 1;
  bool tf32 = false;
};
struct WeightOnlyCandidate {
  WeightOnlyRows kernel;
  double estimate_us;
};
/// Kernels for few rows, the likeliest first; none where rows.cu does not take the problem.
std::vector<WeightOnlyCandidate> rows_candidates(const WeightOnlyProblem& problem, const Machine& machine);
/// Kernels that multiply weights that were made floats, with the time of that.
std::vector<GemmCandidate> expanded_candidates(const WeightOnlyProblem& problem, const Machine& machine);

}  // namespace kiln::cuda
