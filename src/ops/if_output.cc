#include "ops/if_output.h"

#include "ops/define.h"
#include "ops/group.h"

namespace kiln {
template const OpInfo& op_info<ops::IfOutput>();

namespace ops {

Status IfOutput::infer(InferContext& cx) const {
  const TensorType &then = TRY(cx.input(0)), &other = TRY(cx.input(1));
  TRY(cx.require(then.dtype == other.dtype && then.rank() == other.rank(), "the branch for true gives ", then,
                 " and the branch for false ", other, "; their types and ranks must agree"));
  kiln::Shape shape = then.shape;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != other.shape[axis])
      shape[axis] = cx.decided_size("extent", sym::max(shape[axis], other.shape[axis]));
  return cx.set_output(0, then, std::move(shape));
}

Status IfOutput::reference(ReferenceContext&) const { return boundary_has_no_reference(name); }

}  // namespace ops
}  // namespace kiln
