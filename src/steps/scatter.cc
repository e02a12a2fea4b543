#include "steps/scatter.h"

#include "steps/define.h"
#include "steps/inferred.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Scatter>();

namespace kiln::steps {

Status Scatter::check(const StepTypes& types) const {
  TRY(element_bytes(types.inputs[0].dtype));
  return {};
}

Status Scatter::check(const StepTypes& types, const StepShapes& shapes) const {
  return require_inferred(op, types, shapes);
}

}  // namespace kiln::steps
