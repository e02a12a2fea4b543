#include "steps/transpose.h"

#include "ops/transpose.h"
#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Transpose>();

namespace kiln::steps {

Status Transpose::check(const StepTypes& types) const {
  const StepTensor& x = types.inputs[0];
  TRY(element_bytes(x.dtype));
  TRY(require_linear(types, 0));
  TRY(require_alike(types.outputs[0], x, "a transpose's output"));
  return require_permutation(perm, x.rank);
}

Status Transpose::check(const StepTypes&, const StepShapes& shapes) const {
  Extents moved;
  for (const int64_t axis : perm) moved.push_back(shapes.inputs[0][static_cast<size_t>(axis)]);
  return require_extents(shapes.outputs[0], moved, "a transpose's output");
}

}  // namespace kiln::steps
