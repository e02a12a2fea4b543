#include "ops/loop_output.h"

#include "ops/define.h"
#include "ops/group.h"

namespace kiln {
template const OpInfo& op_info<ops::LoopOutput>();

namespace ops {

Status LoopOutput::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  if (kind == LoopOutputKind::kLastValue) {
    TRY(cx.require(!cx.has_input(1), "the last value has no length; input 1 is for concatenated outputs"));
    return cx.set_output(0, {x.dtype, x.shape});
  }
  TRY(cx.require(cx.has_input(1), "a concatenated output needs its length: setInput(1, length)"));
  const TensorType& length = TRY(cx.input(1));
  TRY(cx.require(is_index(length.dtype) && !sym::provably_different(length.volume(), 1), "the length is ", length,
                 "; one element of type i32 or i64 is needed"));
  const sym::Expr extent = TRY(cx.values(1))[0];
  TRY(cx.require(extent.max() >= 0, "the length is ", extent, "; 0 is the least"));
  const int rank = x.rank() + 1;
  TRY(cx.require(axis >= -rank && axis < rank, "axis ", axis, " is outside [", -rank, ", ", rank,
                 ") of the output of rank ", rank));
  kiln::Shape shape = x.shape;
  shape.insert(shape.begin() + (axis < 0 ? axis + rank : axis), extent);
  return cx.set_output(0, x, std::move(shape));
}

Status LoopOutput::reference(ReferenceContext&) const { return boundary_has_no_reference(name); }

}  // namespace ops
}  // namespace kiln
