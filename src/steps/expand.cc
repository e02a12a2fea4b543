#include "steps/expand.h"

#include <algorithm>

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Expand>();

namespace kiln::steps {

Status Expand::check(const StepTypes& types) const {
  TRY(element_bytes(types.inputs[0].dtype));
  TRY(require_linear(types, 0));
  return require(types.outputs[0].dtype == types.inputs[0].dtype && types.outputs[0].format.is_linear(),
                 "an expansion cannot make ", types.outputs[0].dtype, " of ", types.inputs[0].dtype,
                 ", or write format ", types.outputs[0].format);
}

Status Expand::check(const StepTypes&, const StepShapes& shapes) const {
  const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
  const auto fits = [](int64_t from, int64_t to) { return from == 1 || from == to; };
  return require(x.size() <= y.size() && std::equal(x.rbegin(), x.rend(), y.rbegin(), fits), x, " does not expand to ",
                 y);
}

}  // namespace kiln::steps
