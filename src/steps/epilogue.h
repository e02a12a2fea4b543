/// The epilogue of a contraction: its work on the sums before it writes them.
#pragma once

#include <limits>
#include <optional>

#include "steps/hook.h"
#include "steps/step_types.h"
#include "tensor/field_types.h"

namespace kiln::steps {

/// A tensor that an epilogue reads; without a type there is none.
struct EpilogueRead {
  std::optional<DType> type;
  HookOperand reach;
};

/// result = hook(min(max(sum + bias + residual, lo), hi)); NaN passes through the clamp. A step with one has as inputs
/// its two operands, a bias or absent, a residual or absent, and what the hook reads.
struct Epilogue {
  static constexpr size_t kBias = 2, kResidual = 3, kHook = 4;  ///< inputs of the step; the hook's from kHook on

  std::optional<DType> bias;      ///< its type: one element a channel
  std::optional<DType> residual;  ///< its type: laid out as the result
  double lo = -std::numeric_limits<double>::infinity(), hi = std::numeric_limits<double>::infinity();
  std::optional<Hook> hook;

  static void reflect(auto& self, auto f) {
    f("bias", self.bias), f("residual", self.residual), f("lo", self.lo), f("hi", self.hi), f("hook", self.hook);
  }
  bool operator==(const Epilogue&) const = default;
  /// Fails unless the step's inputs from kBias on are those that it reads, and `behind` more. It makes values of the
  /// type of the step's output, or of `made`, which the step then converts.
  Status check(const StepTypes& types, size_t behind = 0, std::optional<DType> made = {}) const;
  /// Fails unless they have the extents that a result of `channels` channels implies.
  Status check(const StepShapes& shapes, int64_t channels) const;
  /// The inputs from kBias on, in order.
  std::vector<EpilogueRead> reads() const;
};

}  // namespace kiln::steps
