#include "passes/simplify_movement.h"

#include "passes/hoist_slices.h"
#include "passes/merge_around_reshapes.h"
#include "passes/merge_reshapes.h"
#include "passes/merge_transposes.h"
#include "passes/move_transposes.h"
#include "passes/settle.h"
#include "passes/sink_reshapes.h"
#include "passes/slice_rows.h"

namespace kiln::passes {

Status simplify_movement(ir::Graph& graph, PassContext& cx) {
  return settle(graph, cx,
                {hoist_slices, slice_rows, merge_transposes, sink_reshapes, move_transposes, merge_reshapes,
                 merge_around_reshapes});
}

}  // namespace kiln::passes
