#include "steps/gather.h"

#include "steps/define.h"
#include "steps/inferred.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Gather>();

namespace kiln::steps {

Status Gather::check(const StepTypes& types) const {
  TRY(element_bytes(types.inputs[0].dtype));
  return {};
}

Status Gather::check(const StepTypes& types, const StepShapes& shapes) const {
  return require_inferred(op, types, shapes);
}

}  // namespace kiln::steps
