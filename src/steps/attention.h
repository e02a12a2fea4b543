#pragma once

#include "steps/step.h"

namespace kiln::steps {

/// softmax(q k^T * scale + mask) v of row-major tensors, or of parts of them. Inputs: what holds q, k and v, and the
/// mask or absent; where keys and values are joined of two tensors, also what holds those that follow k's and v's; of a
/// result of bytes, those of quantized_result.h behind them, which excludes joined keys. Parameters: those of
/// AttentionLayout. q, k and v may all be bytes, i8 or FP8, whose numbers are the bytes times scales that the fields
/// have; the mask, the softmax and a result that is not quantized are floats then, and keys are not joined.
struct Attention {
  static constexpr std::string_view name = "attention";
  static constexpr int version = 3;
  static constexpr StepTensors tensors{.present = 3, .least_inputs = 4, .most_inputs = 6, .outputs = 1};
  static constexpr size_t kInputs = 4;  ///< of one that neither joins nor quantizes

  double scale = 1;  ///< of q k^T; of bytes it includes the scales of q and k
  bool nan_rows_are_zero = false;
  bool causal = false;      ///< the last query sees all keys, and each one before it one fewer
  double value_scale = 1;   ///< of v, where it is bytes
  double weight_scale = 0;  ///< where operands are bytes and it is not 0: the softmax's result is rounded to such bytes
                            ///< by it, saturated, and multiplied by it again

  static void reflect(auto& self, auto f) {
    f("scale", self.scale), f("nan_rows_are_zero", self.nan_rows_are_zero), f("causal", self.causal);
    f("value_scale", self.value_scale), f("weight_scale", self.weight_scale);
  }
  /// Whether q, k and v are bytes.
  static bool reads_bytes(const StepTypes& types);
  /// Whether keys and values are those of two tensors each.
  static bool is_joined(const StepTypes& types);
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;

 private:
  Status check_bytes(const StepTypes& types) const;
};

}  // namespace kiln::steps
