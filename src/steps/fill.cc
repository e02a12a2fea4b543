#include "steps/fill.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Fill>();

namespace kiln::steps {

Status Fill::check(const StepTypes& types) const {
  return require(op.to == types.outputs[0].dtype && types.outputs[0].format.is_linear(), "a fill of ", op.to,
                 " writes ", types.outputs[0].dtype, " in format ", types.outputs[0].format);
}

Status Fill::check(const StepTypes& types, const StepShapes& shapes) const {
  const Extents& y = shapes.outputs[0];
  if (types.inputs[0].present) TRY(require_count(shapes.inputs[0], 1, "where a fill begins"));
  return require(!types.inputs[1].present || volume(shapes.inputs[1]) == 1 ||
                     shapes.inputs[1] == Extents{static_cast<int64_t>(y.size())},
                 "a fill of ", y, " has steps ", shapes.inputs[1], "; one for all axes or one for each is needed");
}

}  // namespace kiln::steps
