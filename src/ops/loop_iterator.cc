#include "ops/loop_iterator.h"

#include "ops/define.h"
#include "ops/group.h"
#include "ops/loop.h"

namespace kiln {
template const OpInfo& op_info<ops::LoopIterator>();

namespace ops {

Status LoopIterator::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const int along = TRY(cx.axis(axis, x));
  kiln::Shape slice = x.shape;
  slice.erase(slice.begin() + along);
  return cx.set_output(0, with_followed_elements(cx, {x.dtype, std::move(slice)}));
}

Status LoopIterator::reference(ReferenceContext&) const { return boundary_has_no_reference(name); }

}  // namespace ops
}  // namespace kiln
