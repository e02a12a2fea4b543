#include "backend/cpu/exec/checks.h"

#include <algorithm>

namespace kiln::cpu {
Status require_types(const StepSpec& spec, DType dtype, size_t inputs) {
  const auto check = [&](const StepTensor& tensor, std::string_view what, size_t i) {
    return require(!tensor.present || tensor.dtype == dtype, what, " ", i, " is ", tensor.dtype, "; its kernel takes ",
                   dtype);
  };
  for (size_t i = 0; i < std::min(inputs, spec.inputs.size()); ++i) TRY(check(spec.inputs[i], "input", i));
  for (size_t i = 0; i < spec.outputs.size(); ++i) TRY(check(spec.outputs[i], "output", i));
  return {};
}

Status require_count(const StepSpec& spec, const StepShapes& shapes, size_t input, int64_t count,
                     std::string_view what) {
  if (input >= spec.inputs.size() || !spec.inputs[input].present) return {};
  return kiln::require_count(shapes.inputs[input], count, what);
}

Status require_epilogue(const StepSpec& spec, const StepShapes& shapes, int64_t columns, const LoadedHook* hook) {
  TRY(require_count(spec, shapes, 2, columns, "a bias"));
  if (spec.inputs[3].present) {
    TRY(require_alike(spec.inputs[3], spec.outputs[0], "a residual"));
    TRY(require_extents(shapes.inputs[3], shapes.outputs[0], "a residual"));
  }
  for (size_t i = 0; hook && i < hook->num_operands(); ++i) {
    const steps::HookOperand reach = hook->operand(i);
    const int64_t count = reach == steps::HookOperand::kScalar    ? 1
                          : reach == steps::HookOperand::kChannel ? columns
                                                                  : volume(shapes.outputs[0]);
    TRY(require_count(spec, shapes, hook->input_of(i), count, "an operand of a hook"));
  }
  return {};
}

}  // namespace kiln::cpu
