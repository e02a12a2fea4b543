#include "onnx/import/compose.h"

#include <algorithm>
#include <numeric>

#include "ops/assertion.h"
#include "ops/cast.h"
#include "ops/constant.h"
#include "ops/dequantize.h"
#include "ops/dim_values.h"
#include "ops/expand.h"
#include "ops/fill.h"
#include "ops/fold.h"
#include "ops/read_values.h"
#include "ops/reshape.h"
#include "ops/select.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"

namespace kiln::onnx {

Result<SymbolicValues> read_values(ImportContext& cx, ValueId integers) {
  const ValueId read = TRY(cx.add(ops::ReadValues{}, {integers}));
  return *cx.type(read).values;
}

std::optional<Ints> all_constant(const SymbolicValues& values) {
  Ints result;
  for (const sym::Expr& e : values) {
    if (!e.is_const()) return std::nullopt;
    result.push_back(e.value());
  }
  return result;
}

Result<ValueId> dims_value(ImportContext& cx, const SymbolicValues& dims) {
  const auto count = static_cast<int64_t>(dims.size());
  if (const auto numbers = all_constant(dims))
    return cx.add_constant(HostTensor::of_ints(DType::kI64, {count}, *numbers));
  return cx.add(ops::DimValues{dims, DType::kI64, {count}}, {});
}

Result<ValueId> scalar_value(ImportContext& cx, sym::Expr value, DType dtype) {
  if (value.is_const()) return cx.add_constant(HostTensor::of_ints(dtype, {}, Ints{value.value()}));
  return cx.add(ops::DimValues{{value}, dtype, {}}, {});
}

ValueId scalar_of(ImportContext& cx, double number, DType dtype, int rank) {
  const Extents ones(static_cast<size_t>(rank), 1);
  return cx.add_constant(HostTensor::of(dtype, ones, std::span(&number, 1)));
}

ValueId scalar_like(ImportContext& cx, double number, ValueId x) {
  return scalar_of(cx, number, cx.dtype(x), cx.rank(x));
}

namespace {
/// A dequantized constant of higher rank: its bytes get the axes, so that what reads it still sees a Dequantize.
Result<ValueId> dequantized_with_rank(ImportContext& cx, ValueId x, int rank) {
  const ir::Node node = cx.graph().node(cx.graph().value(x).producer);
  ops::Dequantize op = *node.op.as<ops::Dequantize>();
  const int before = cx.rank(x), missing = rank - before;
  Values inputs{TRY(with_rank(cx, node.inputs[0], rank))};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const bool has_axes = before > 1 && cx.rank(node.inputs[i]) == before;
    inputs.push_back(has_axes ? TRY(with_rank(cx, node.inputs[i], rank)) : node.inputs[i]);
  }
  if (op.axis >= 0) op.axis += missing;
  if (!op.block.empty()) op.block.insert(op.block.begin(), static_cast<size_t>(missing), 1);
  return cx.add(std::move(op), inputs);
}
}  // namespace

Result<ValueId> with_rank(ImportContext& cx, ValueId x, int rank) {
  const int missing = rank - cx.rank(x);
  if (missing <= 0) return x;
  if (const ir::NodeId producer = cx.graph().value(x).producer;
      cx.rank(x) > 1 && cx.graph().producer_as<ops::Dequantize>(x) &&
      cx.graph().producer_as<ops::Constant>(cx.graph().node(producer).inputs[0]))
    return dequantized_with_rank(cx, x, rank);
  if (const auto* constant = cx.graph().producer_as<ops::Constant>(x)) {
    Extents extents = constant->value.extents();
    extents.insert(extents.begin(), static_cast<size_t>(missing), 1);
    return cx.add_constant(reshaped(*constant, extents));
  }
  return unsqueeze(cx, x, axes_between(0, missing));
}

Result<Values> with_one_rank(ImportContext& cx, Values values) {
  int rank = 0;
  for (const ValueId value : values) rank = std::max(rank, cx.rank(value));
  for (ValueId& value : values) value = TRY(with_rank(cx, value, rank));
  return values;
}

Result<ValueId> along_channels(ImportContext& cx, ValueId vector, int rank) {
  TRY(require(cx.rank(vector) == 1, "'", cx.graph().value(vector).name, "' is ", cx.type(vector),
              "; a vector of one element a channel is needed"));
  if (rank <= 2) return with_rank(cx, vector, rank);
  if (const auto* constant = cx.graph().producer_as<ops::Constant>(vector)) {
    Extents extents(static_cast<size_t>(rank), 1);
    extents[1] = constant->value.volume();
    return cx.add_constant(reshaped(*constant, extents));
  }
  Ints axes = axes_between(2, rank);
  axes.insert(axes.begin(), 0);
  return unsqueeze(cx, vector, std::move(axes));
}

Result<ValueId> binary(ImportContext& cx, ElementWiseKind kind, ValueId a, ValueId b) {
  return cx.add(ops::ElementWise{kind}, TRY(with_one_rank(cx, {a, b})));
}
Result<ValueId> binary(ImportContext& cx, ElementWiseKind kind, ValueId a, double b) {
  return binary(cx, kind, a, scalar_like(cx, b, a));
}
Result<ValueId> unary(ImportContext& cx, UnaryKind kind, ValueId x) { return cx.add(ops::Unary{kind}, {x}); }
Result<ValueId> activation(ImportContext& cx, ActivationKind kind, ValueId x, double alpha, double beta) {
  return cx.add(ops::Activation{kind, alpha, beta}, {x});
}
Result<ValueId> swish(ImportContext& cx, ValueId x, double alpha) {
  const ValueId inner = alpha == 1 ? x : TRY(binary(cx, ElementWiseKind::kProd, x, alpha));
  return binary(cx, ElementWiseKind::kProd, x, TRY(activation(cx, ActivationKind::kSigmoid, inner)));
}
Result<ValueId> select(ImportContext& cx, ValueId condition, ValueId then, ValueId otherwise) {
  return cx.add(ops::Select{}, TRY(with_one_rank(cx, {condition, then, otherwise})));
}
Result<ValueId> cast(ImportContext& cx, ValueId x, DType to) {
  if (cx.dtype(x) == to) return x;
  return cx.add(ops::Cast{to}, {x});
}

Result<ValueId> reshape(ImportContext& cx, ValueId x, Shape to) {
  if (cx.type(x).shape == to) return x;
  if (const auto dims = all_constant(to)) return cx.add(ops::Reshape{*dims, false}, {x});
  return cx.add(ops::Reshape{{}, false}, {x, TRY(dims_value(cx, to))});
}

Result<ValueId> transpose(ImportContext& cx, ValueId x, Ints perm) {
  if (perm == axes_between(0, cx.rank(x))) return x;
  return cx.add(ops::Transpose{std::move(perm)}, {x});
}

Result<ValueId> unsqueeze(ImportContext& cx, ValueId x, Ints axes) {
  return cx.add(ops::Unsqueeze{std::move(axes)}, {x});
}

Result<ValueId> expand(ImportContext& cx, ValueId x, Shape to) {
  if (const auto dims = all_constant(to)) return cx.add(ops::Expand{*dims}, {x});
  return cx.add(ops::Expand{}, {x, TRY(dims_value(cx, to))});
}

Result<ValueId> slice(ImportContext& cx, ValueId x, const SliceAlong& along) {
  ops::Slice op;
  op.axes = along.axes;
  op.mode = along.mode;
  Values inputs{x};
  const auto give = [&](const SymbolicValues& values, Ints& attribute) -> Status {
    const auto numbers = all_constant(values);
    if (numbers) attribute = *numbers;
    inputs.push_back(numbers ? ValueId::kNone : TRY(dims_value(cx, values)));
    return {};
  };
  TRY(give(along.starts, op.starts));
  TRY(give(along.sizes, op.sizes));
  TRY(give(along.strides, op.strides));
  inputs.push_back(along.fill);
  while (inputs.back() == ValueId::kNone) inputs.pop_back();
  return cx.add(std::move(op), inputs);
}

Result<ValueId> reduce(ImportContext& cx, ReduceKind kind, ValueId x, Ints axes, bool keep) {
  return cx.add(ops::Reduce{kind, std::move(axes), keep}, {x});
}

Result<ValueId> log_softmax_along(ImportContext& cx, ValueId x, int axis) {
  const ValueId most = TRY(reduce(cx, ReduceKind::kMax, x, {axis}, true));
  const ValueId difference = TRY(binary(cx, ElementWiseKind::kSub, x, most));
  const ValueId sum = TRY(reduce(cx, ReduceKind::kSum, TRY(unary(cx, UnaryKind::kExp, difference)), {axis}, true));
  return binary(cx, ElementWiseKind::kSub, difference, TRY(unary(cx, UnaryKind::kLog, sum)));
}

Result<ValueId> matrix_multiply(ImportContext& cx, ValueId a, ValueId b) {
  using ops::MatrixOp;
  const int rank_a = cx.rank(a), rank_b = cx.rank(b);
  TRY(require(rank_a > 0 && rank_b > 0, "operands are ", cx.type(a), " and ", cx.type(b), "; neither may be a scalar"));
  const MatrixOp op_a = rank_a == 1 ? MatrixOp::kVector : MatrixOp::kNone;
  const MatrixOp op_b = rank_b == 1 ? MatrixOp::kVector : MatrixOp::kNone;
  // Axes that count batches; a vector has none of its own.
  const int batch_a = rank_a == 1 ? 0 : rank_a - 2, batch_b = rank_b == 1 ? 0 : rank_b - 2;
  const int batch = std::max(batch_a, batch_b);
  a = TRY(with_rank(cx, a, rank_a + batch - batch_a));
  b = TRY(with_rank(cx, b, rank_b + batch - batch_b));
  return cx.add(ops::MatrixMultiply{op_a, op_b}, {a, b});
}

Result<ValueId> indices_along(ImportContext& cx, sym::Expr extent, int axis, int rank, DType dtype) {
  constexpr int64_t kLargestConstant = 1 << 16;
  if (const auto count = extent.constant(); count && *count <= kLargestConstant) {
    Ints numbers(static_cast<size_t>(*count));
    std::iota(numbers.begin(), numbers.end(), int64_t{0});
    Extents extents(static_cast<size_t>(rank), 1);
    if (rank > 0) extents[static_cast<size_t>(axis)] = *count;
    return cx.add_constant(HostTensor::of_ints(dtype, std::move(extents), numbers));
  }
  ops::Fill fill;
  fill.to = dtype;
  const ValueId line = TRY(cx.add(std::move(fill), {TRY(dims_value(cx, {extent}))}));
  Ints ones = axes_between(0, axis);
  for (const int64_t after : axes_between(axis + 1, rank)) ones.push_back(after);
  return ones.empty() ? line : unsqueeze(cx, line, std::move(ones));
}

Result<ValueId> refuse_negative(ImportContext& cx, ValueId indices, sym::Expr extent) {
  const DType dtype = cx.dtype(indices);
  const ValueId is_negative = TRY(binary(cx, ElementWiseKind::kLess, indices, 0));
  const ValueId length = TRY(with_rank(cx, TRY(scalar_value(cx, extent, dtype)), cx.rank(indices)));
  const ValueId beyond = TRY(binary(cx, ElementWiseKind::kSub, indices, length));
  return select(cx, is_negative, beyond, indices);
}

Status assert_true(ImportContext& cx, sym::Expr condition, std::string_view what) {
  if (condition.is_const() && condition.value() != 0) return {};
  const ValueId holds = TRY(scalar_value(cx, condition, DType::kBool));
  TRY(cx.graph().add(ops::Assertion{str(cx.def(), ": ", what)}, Values{holds}, std::string(label_of(cx.def()))));
  return {};
}

Status require_equal(ImportContext& cx, sym::Expr a, sym::Expr b, std::string_view what) {
  if (sym::provably_equal(a, b)) return {};
  TRY(require(!sym::provably_different(a, b), what, " are ", a, " and ", b, "; they must be equal"));
  const ValueId left = TRY(scalar_value(cx, a)), right = TRY(scalar_value(cx, b));
  const ValueId holds = TRY(binary(cx, ElementWiseKind::kEqual, left, right));
  TRY(cx.graph().add(ops::Assertion{str(what, " are equal")}, Values{holds}, std::string(label_of(cx.def()))));
  return {};
}

Ints axes_between(int from, int to) {
  Ints axes;
  for (int axis = from; axis < to; ++axis) axes.push_back(axis);
  return axes;
}

}  // namespace kiln::onnx
