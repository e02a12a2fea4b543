/// What a contraction's step reads beside its two operands: bias or absent, residual or absent, operands of its hook.
/// The step's code has their types and how far they reach; a plan's step says so, too, for its loader.
#pragma once

#include <vector>

#include "backend/cuda/exec/constants.h"
#include "backend/cuda/kernels/gemm/epilogue.h"

namespace kiln::cuda {

/// Inputs of a contraction's step before those of its epilogue.
constexpr size_t kFirstEpilogueInput = 2;

class EpilogueInputs {
 public:
  /// For a step's payload.
  static Record record(const Epilogue& epilogue);
  /// Fails where the step's tensors are not those of its payload. The last `behind` inputs are the kernel's own.
  static Result<EpilogueInputs> load(const StepSpec& spec, size_t behind = 0);
  /// Fails where they have other extents than a result of `columns` channels implies.
  Status check(const StepShapes& shapes, int64_t columns) const;

 private:
  std::vector<steps::EpilogueRead> reads_;
};

inline void set_operands(EpilogueArguments& epilogue, const Constants& constants, const RunArguments& run) {
  for (size_t i = kFirstEpilogueInput; i < constants.size(); ++i)
    epilogue.operand[i - kFirstEpilogueInput] = constants.at(i, run);
}

}  // namespace kiln::cuda
