#include "steps/values.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Values>();

namespace kiln::steps {

Status Values::check(const StepTypes&, const StepShapes& shapes) const {
  const auto count = static_cast<int64_t>(shapes.params.size());
  return require(count == volume(shapes.outputs[0]), "a step has ", count, " values for ", shapes.outputs[0]);
}

}  // namespace kiln::steps
