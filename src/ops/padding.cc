#include "ops/padding.h"

#include "ops/define.h"
#include "ops/movement.h"
#include "ops/slice.h"

namespace kiln {
template const OpInfo& op_info<ops::Padding>();

namespace ops {

Status Padding::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(cx.require(pre.size() == post.size() && static_cast<int>(pre.size()) <= x.rank(), "padding of ", x, " has ",
                 pre.size(), " numbers before and ", post.size(), " after; both must name the same last axes"));
  kiln::Shape shape = x.shape;
  const size_t first = shape.size() - pre.size();
  for (size_t i = 0; i < pre.size(); ++i) {
    shape[first + i] += sym::Expr(pre[i]) + sym::Expr(post[i]);
    TRY(cx.require(shape[first + i].max() >= 0, "padding ", pre[i], " and ", post[i], " leaves nothing of axis ",
                   first + i, " of ", x));
    TRY(sym::assume(cx.assumptions(),
                    {sym::Relation::kLessEqual, 0, shape[first + i],
                     str("padding ", pre[i], " and ", post[i], " leaves something of axis ", first + i)}));
  }
  return cx.set_output(0, TensorType(x.dtype, std::move(shape)));
}

Status Padding::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  Extents starts(x.extents().size(), 0);
  const Extents strides(x.extents().size(), 1);
  for (size_t i = 0; i < pre.size(); ++i) starts[starts.size() - pre.size() + i] = -pre[i];
  const Sources sources = slice_sources(x.extents(), y.extents(), starts, strides, SliceMode::kFill);
  for (size_t k = 0; k < sources.size(); ++k)
    if (sources[k] < 0) y.set_integer(static_cast<int64_t>(k), 0);
  move_elements(x, y, sources);
  return {};
}

}  // namespace ops
}  // namespace kiln
