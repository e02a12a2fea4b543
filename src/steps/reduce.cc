#include "steps/reduce.h"

#include "steps/define.h"
#include "steps/lane_extents.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Reduce>();

namespace kiln::steps {

Status Reduce::check(const StepTypes& types) const {
  TRY(element_bytes(types.inputs[0].dtype));
  TRY(require(kind != ops::ReduceKind::kNone, "a reduction by nothing"));
  return require(first >= 0 && first <= last && last < types.inputs[0].rank, "axes ", first, " to ", last,
                 " of a reduction of rank ", types.inputs[0].rank);
}

Status Reduce::check(const StepTypes& types, const StepShapes& shapes) const {
  const LaneExtents e = lane_extents(in_memory_order(types.inputs[0].format, shapes.inputs[0]),
                                     static_cast<size_t>(first), static_cast<size_t>(last));
  return require_count(shapes.outputs[0], e.outer * e.inner, "a reduction's result");
}

}  // namespace kiln::steps
