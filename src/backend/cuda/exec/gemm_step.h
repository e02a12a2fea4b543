/// A kernel of matrix products as part of a step: loaded from the step's code, bound to extents, run.
#pragma once

#include <memory>
#include <optional>

#include "backend/cuda/exec/operand_map.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/gemm/gemm.h"

namespace kiln::cuda {

/// Code and parameters, shared by all that is bound.
struct LoadedGemm {
  GemmKernel kernel;
  std::shared_ptr<const Module> module;
  Function main;
  std::optional<Function> reduce;

  /// Fails where the step's tensors are not of the kernel's types.
  static Result<LoadedGemm> load(const GemmKernel& kernel, const LoadArguments& arguments);
};

/// What a contraction reads: inputs, and numbers of its epilogue.
struct ContractionInputs : StepInputs {
  using StepInputs::StepInputs;
  float y_inverse = 1, y_zero = 0;  ///< EpilogueArguments
  int32_t x_zero = 0;               ///< ConvArguments
};

/// Sets what an epilogue reads, at run.
inline void set_operands(EpilogueArguments& epilogue, const ContractionInputs& inputs, const RunArguments& run) {
  epilogue.y_inverse = inputs.y_inverse;
  epilogue.y_zero = inputs.y_zero;
  for (size_t i = steps::Epilogue::kBias; i < inputs.size(); ++i)
    epilogue.operand[i - steps::Epilogue::kBias] = inputs.at(i, run);
}

/// Inputs 0 and 1 are A and B, whose extents `arguments` follow. `gemm` and `constants` outlive it.
Result<std::unique_ptr<BoundStep>> bind_gemm(const LoadedGemm& gemm, const ContractionInputs& inputs,
                                             const GemmArguments& arguments);

}  // namespace kiln::cuda
