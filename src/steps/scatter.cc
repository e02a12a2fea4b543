#include "steps/scatter.h"

#include "steps/define.h"
#include "steps/inferred.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Scatter>();

namespace kiln::steps {

Status Scatter::check(const StepTypes& types) const {
  const DType data = types.inputs[0].dtype;
  TRY(element_bytes(data));
  return require(can_scatter(op.reduction, data), "a scatter of ", data, " by the reduction ",
                 enum_names(op.reduction)[static_cast<size_t>(op.reduction)], " has no kernel");
}

Status Scatter::check(const StepTypes& types, const StepShapes& shapes) const {
  return require_inferred(op, types, shapes);
}

}  // namespace kiln::steps
