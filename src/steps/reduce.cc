#include "steps/reduce.h"

#include <algorithm>

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Reduce>();

namespace kiln::steps {

Status Reduce::check(const StepTypes& types) const {
  TRY(element_bytes(types.inputs[0].dtype));
  TRY(require(kind != ops::ReduceKind::kNone, "a reduction has no operation"));
  const bool increase = std::ranges::adjacent_find(axes, std::greater_equal()) == axes.end();
  return require(increase && (axes.empty() || (axes.front() >= 0 && axes.back() < types.inputs[0].rank)), "axes ", axes,
                 " are not ascending axes of a reduction of rank ", types.inputs[0].rank);
}

Status Reduce::check(const StepTypes& types, const StepShapes& shapes) const {
  Extents kept = in_memory_order(types.inputs[0].format, shapes.inputs[0]);
  for (const int axis : axes) kept[static_cast<size_t>(axis)] = 1;
  return require_count(shapes.outputs[0], volume(kept), "a reduction's result");
}

}  // namespace kiln::steps
