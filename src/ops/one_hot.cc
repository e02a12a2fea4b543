#include "ops/one_hot.h"

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::OneHot>();

namespace ops {

Status OneHot::infer(InferContext& cx) const {
  const TensorType& indices = TRY(cx.input(0));
  const TensorType& values = TRY(cx.input(1));
  const TensorType& depth = TRY(cx.input(2));
  TRY(cx.require(is_index(indices.dtype), "indices are ", indices, "; i32 or i64 needed"));
  TRY(cx.require(values.rank() == 1 && sym::provably_equal(values.shape[0], 2), "values are ", values,
                 "; two are needed, off and on"));
  TRY(cx.require(is_index(depth.dtype) && sym::provably_equal(depth.volume(), 1), "depth is ", depth,
                 "; one i32 or i64 is needed"));
  const sym::Expr classes = TRY(cx.values(2))[0];
  TRY(cx.require(classes.max() >= 0, "depth is ", classes, "; a count is needed"));
  const int rank = indices.rank() + 1, at = TRY(in_context(normalize_axis(axis, rank), [] { return "axis of y"; }));
  TRY(sym::assume(cx.assumptions(), {sym::Relation::kLessEqual, 0, classes, str("depth ", classes, " is a count")}));
  kiln::Shape shape = indices.shape;
  shape.insert(shape.begin() + at, classes);
  return cx.set_output(0, TensorType(values.dtype, std::move(shape)));
}

Status OneHot::reference(ReferenceContext& cx) const {
  const View indices = TRY(cx.input(0)), values = TRY(cx.input(1));
  const MutableView y = TRY(cx.output(0));
  const auto at = static_cast<size_t>(TRY(cx.axis(axis, y.rank())));
  const int64_t depth = y.extents()[at], inner = volume(std::span(y.extents()).subspan(at + 1));
  for (int64_t i = 0; i < y.volume(); ++i) {
    const int64_t index = indices.integer(i / inner / depth * inner + i % inner);
    y.copy_element(i, values, (index < 0 ? index + depth : index) == i / inner % depth);
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
