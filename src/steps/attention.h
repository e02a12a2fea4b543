#pragma once

#include "steps/step.h"

namespace kiln::steps {

/// softmax(q k^T * scale + mask) v of row-major tensors, or of parts of them. Inputs: what holds q, k and v, and the
/// mask or absent; where keys and values are joined of two tensors, also what holds those that follow k's and v's; of a
/// result of bytes, those of quantized_result.h behind them, which excludes joined keys. Parameters: those of
/// AttentionLayout.
struct Attention {
  static constexpr std::string_view name = "attention";
  static constexpr int version = 2;
  static constexpr StepTensors tensors{.present = 3, .least_inputs = 4, .most_inputs = 6, .outputs = 1};
  static constexpr size_t kInputs = 4;  ///< of one that neither joins nor quantizes

  double scale = 1;
  bool nan_rows_are_zero = false;
  bool causal = false;  ///< the last query sees all keys, and each one before it one fewer

  static void reflect(auto& self, auto f) {
    f("scale", self.scale), f("nan_rows_are_zero", self.nan_rows_are_zero), f("causal", self.causal);
  }
  /// Whether keys and values are those of two tensors each.
  static bool is_joined(const StepTypes& types);
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps
