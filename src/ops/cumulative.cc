#include "ops/cumulative.h"

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::Cumulative>();

namespace {

/// Rows of running sums or products: `at(i)` and `put(i, sum)` go by linear indices.
template <class T, class At, class Put>
void combine_rows(const ops::Cumulative& op, std::span<const int64_t> extents, size_t along, At at, Put put) {
  const int64_t length = extents[along], inner = volume(extents.subspan(along + 1));
  if (length == 0) return;
  for (int64_t row = 0; row < volume(extents.first(along)) * inner; ++row) {
    T y = op.operation == CumulativeOperation::kSum ? 0 : 1;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t place = (row / inner * length + (op.reverse ? length - 1 - i : i)) * inner + row % inner;
      const T before = y;
      y = op.operation == CumulativeOperation::kSum ? y + at(place) : y * at(place);
      put(place, op.exclusive ? before : y);
    }
  }
}

Result<int64_t> axis_of(InferContext& cx, int64_t attribute) {
  if (!cx.has_input(1)) return attribute;
  const TensorType& axis = TRY(cx.input(1));
  TRY(cx.require(is_index(axis.dtype) && sym::provably_equal(axis.volume(), 1), "axis is ", axis,
                 "; one i32 or i64 is needed"));
  const sym::Expr value = TRY(cx.values(1))[0];
  TRY(cx.require(value.is_const(), "axis is ", value, "; a constant is needed"));
  return value.value();
}

}  // namespace

namespace ops {

Status Cumulative::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(cx.require(x.dtype != DType::kBool, "x is ", x, "; Cumulative takes numbers, so cast it"));
  const auto along = static_cast<size_t>(TRY(cx.axis(TRY(axis_of(cx, axis)), x)));
  TensorType y(x.dtype, x.shape);
  if (const auto values = small_values(cx, 0); values && is_index(x.dtype) && carries_values(y)) {
    SymbolicValues results = *values;
    combine_rows<sym::Expr>(
        *this, TRY(x.extents()), along, [&](int64_t i) { return (*values)[static_cast<size_t>(i)]; },
        [&](int64_t i, const sym::Expr& result) { results[static_cast<size_t>(i)] = result; });
    y.values = std::make_shared<const SymbolicValues>(std::move(results));
  }
  return cx.set_output(0, std::move(y));
}

Status Cumulative::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  const int64_t given = cx.has_input(1) ? TRY(cx.input(1)).integer(0) : axis;
  const auto along = static_cast<size_t>(TRY(cx.axis(given, x.rank())));
  if (is_float(x.dtype()))
    combine_rows<double>(
        *this, x.extents(), along, [&](int64_t i) { return x[i]; },
        [&](int64_t i, double result) { y.set(i, result); });
  else
    combine_rows<uint64_t>(
        *this, x.extents(), along, [&](int64_t i) { return static_cast<uint64_t>(x.integer(i)); },
        [&](int64_t i, uint64_t result) { y.set_integer(i, static_cast<int64_t>(result)); });
  return {};
}

}  // namespace ops
}  // namespace kiln
