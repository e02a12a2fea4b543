#include "ops/loop_recurrence.h"

#include "ops/define.h"
#include "ops/group.h"
#include "ops/loop.h"

namespace kiln {
template const OpInfo& op_info<ops::LoopRecurrence>();

namespace ops {

Status LoopRecurrence::infer(InferContext& cx) const {
  const TensorType& initial = TRY(cx.input(0));
  return cx.set_output(0, with_followed_elements(cx, {initial.dtype, initial.shape}));
}

Status LoopRecurrence::reference(ReferenceContext&) const { return boundary_has_no_reference(name); }

}  // namespace ops
}  // namespace kiln
