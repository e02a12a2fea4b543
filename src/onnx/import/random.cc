#include <bit>

#include "onnx/dtypes.h"
#include "onnx/import/arg_max.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/fill.h"

namespace kiln::onnx::importers {
namespace {

struct Distribution {
  FillOperation operation;
  std::string_view alpha, beta;  ///< attributes
  float alpha_default, beta_default;
};
constexpr Distribution kUniform{FillOperation::kRandomUniform, "low", "high", 0, 1};
constexpr Distribution kNormal{FillOperation::kRandomNormal, "mean", "scale", 0, 1};

/// Random numbers of `type`. The generator starts at the node's seed. Without a seed it starts differently in each
/// context and for each node.
Result<ValueId> draw(ImportContext& cx, ops::Fill fill, DType type, const Shape& shape) {
  TRY(require(is_float(type), "dtype is ", type, "; a floating type is needed"));
  fill.to = type;
  fill.fixed_start = cx.node().find("seed") != nullptr;
  fill.seed = fill.fixed_start ? std::bit_cast<int32_t>(TRY(cx.node().get_float("seed", 0))) : cx.graph().num_nodes();
  if (const auto dims = all_constant(shape)) {
    fill.dims = *dims;
    return cx.add(std::move(fill), {});
  }
  return cx.add(std::move(fill), {TRY(dims_value(cx, shape))});
}

Result<DType> dtype_attribute(ImportContext& cx, DType otherwise) {
  if (!cx.node().find("dtype")) return otherwise;
  return need_dtype(static_cast<ElementType>(TRY(cx.node().get_int("dtype", 1))));
}

Result<ops::Fill> fill_of(ImportContext& cx, const Distribution& distribution) {
  ops::Fill fill;
  fill.operation = distribution.operation;
  fill.alpha = TRY(cx.node().get_float(distribution.alpha, distribution.alpha_default));
  fill.beta = TRY(cx.node().get_float(distribution.beta, distribution.beta_default));
  return fill;
}

/// A tensor of attribute `shape`.
Status random(ImportContext& cx, const Distribution& distribution) {
  Shape shape;
  for (const int64_t extent : TRY(cx.node().need_ints("shape"))) shape.emplace_back(extent);
  const DType type = TRY(dtype_attribute(cx, DType::kF32));
  return cx.output(TRY(draw(cx, TRY(fill_of(cx, distribution)), type, shape)));
}

/// A tensor of the input's shape, and its type unless `dtype` says another.
Status random_like(ImportContext& cx, const Distribution& distribution) {
  const TensorType& x = cx.type(TRY(cx.input(0)));
  const DType type = TRY(dtype_attribute(cx, x.dtype));
  return cx.output(TRY(draw(cx, TRY(fill_of(cx, distribution)), type, Shape(x.shape))));
}

}  // namespace

Status random_uniform(ImportContext& cx) { return random(cx, kUniform); }
Status random_normal(ImportContext& cx) { return random(cx, kNormal); }
Status random_uniform_like(ImportContext& cx) { return random_like(cx, kUniform); }
Status random_normal_like(ImportContext& cx) { return random_like(cx, kNormal); }

/// 1 with the probability that the input has, else 0.
Status bernoulli(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const TensorType& type = cx.type(x);
  const DType to = TRY(dtype_attribute(cx, type.dtype));
  const ops::Fill fill{.operation = FillOperation::kRandomUniform};
  const ValueId draws = TRY(draw(cx, fill, type.dtype, Shape(type.shape)));
  return cx.output(TRY(cast(cx, TRY(binary(cx, ElementWiseKind::kLess, draws, x)), to)));
}

/// Classes drawn by the logarithms of their weights, [batch, classes]: each draw takes the largest of these, to which
/// noise of Gumbel's distribution is added.
Status multinomial(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int64_t count = TRY(cx.node().get_int("sample_size", 1));
  const DType to = TRY(dtype_attribute(cx, DType::kI32));
  TRY(require(cx.rank(x) == 2 && is_float(cx.dtype(x)), "x is ", cx.type(x), "; floats [batch, classes] are needed"));
  TRY(require(count > 0, "sample_size is ", count, "; a positive number is needed"));
  TRY(require(is_index(to), "dtype is ", to, "; i32 or i64 is needed"));
  const sym::Expr batch = cx.extent(x, 0);
  const ops::Fill uniform{.operation = FillOperation::kRandomUniform};
  const ValueId draws = TRY(draw(cx, uniform, DType::kF32, {batch, count, cx.extent(x, 1)}));
  const auto minus_log = [&](ValueId of) -> Result<ValueId> {
    return unary(cx, UnaryKind::kNeg, TRY(unary(cx, UnaryKind::kLog, of)));
  };
  const ValueId noise = TRY(minus_log(TRY(minus_log(draws))));
  const ValueId weights = TRY(unsqueeze(cx, TRY(cast(cx, x, DType::kF32)), {1}));
  const ValueId scores = TRY(binary(cx, ElementWiseKind::kSum, weights, noise));
  const ValueId drawn = TRY(arg_extreme(cx, scores, 2, Extreme::kMax, Tie::kFirst));
  return cx.output(TRY(cast(cx, TRY(reshape(cx, drawn, {batch, count})), to)));
}

}  // namespace kiln::onnx::importers
