#include "steps/recurrence.h"

#include "steps/define.h"
#include "steps/inferred.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Recurrence>();

namespace kiln::steps {

Status Recurrence::check(const StepTypes& types) const {
  const DType type = types.inputs[0].dtype;
  TRY(require(is_kernel_float(type), "a recurrence of ", type, "; f32, f16 and bf16 are possible"));
  TRY(require(types.inputs[ops::Recurrence::kR].present, "a recurrence without r"));
  for (size_t i = 0; i < types.inputs.size(); ++i) {
    if (!types.inputs[i].present) continue;
    TRY(require_linear(types, i));
    const DType needed = i == ops::Recurrence::kSequenceLens ? DType::kI32 : type;
    TRY(require(types.inputs[i].dtype == needed, "input ", i, " of a recurrence is ", types.inputs[i].dtype, "; ",
                needed, " is needed"));
  }
  const auto outputs = static_cast<size_t>(op.num_outputs());
  return require(types.outputs.size() == outputs, "a recurrence of ", op.cell, " has ", outputs, " outputs, not ",
                 types.outputs.size());
}

Status Recurrence::check(const StepTypes& types, const StepShapes& shapes) const {
  return require_inferred(op, types, shapes);
}

}  // namespace kiln::steps
