#include "ops/normalization.h"

#include <cmath>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "onnx/import/root_normalization.h"
#include "ops/cast.h"
#include "ops/fold.h"
#include "ops/scale.h"

namespace kiln::onnx {

Result<ValueId> inverse_root(ImportContext& cx, ValueId x, double epsilon) {
  return unary(cx, UnaryKind::kRecip,
               TRY(unary(cx, UnaryKind::kSqrt, TRY(binary(cx, ElementWiseKind::kSum, x, epsilon)))));
}

Result<Statistics> statistics(ImportContext& cx, ValueId x, const Ints& axes) {
  const ValueId mean = TRY(reduce(cx, ReduceKind::kAvg, x, axes, true));
  const ValueId off = TRY(binary(cx, ElementWiseKind::kSub, x, mean));
  const ValueId squares = TRY(binary(cx, ElementWiseKind::kProd, off, off));
  return Statistics{mean, TRY(reduce(cx, ReduceKind::kAvg, squares, axes, true))};
}

Result<ValueId> normalized_by_root(ImportContext& cx, ValueId x, const Ints& axes, double epsilon, ValueId scale,
                                   bool in_f32) {
  const auto normal_of = [&]() -> Result<ValueId> {
    const ops::Normalization op{.axes = axes, .epsilon = epsilon, .centered = false};
    if (in_f32 && cx.dtype(x) == cx.dtype(scale)) return cx.add(op, {x});  // computed in f32, rounded once
    if (in_f32) return cx.add(op, {TRY(cast(cx, x, DType::kF32))});
    const ValueId squares = TRY(binary(cx, ElementWiseKind::kProd, x, x));
    const ValueId mean = TRY(reduce(cx, ReduceKind::kAvg, squares, axes, true));
    return binary(cx, ElementWiseKind::kProd, x, TRY(inverse_root(cx, mean, epsilon)));
  };
  const ValueId normal = TRY(normal_of());
  const ValueId narrow = TRY(cast(cx, normal, cx.dtype(scale)));
  return cast(cx, TRY(binary(cx, ElementWiseKind::kProd, narrow, scale)), cx.dtype(x));
}

namespace importers {
namespace {

/// Inference's batch norm is x * scale + shift, of coefficients a channel.
struct Coefficients {
  ValueId scale, shift;
};

/// scale / sqrt(variance + epsilon) and bias - mean * that, in FP64 and rounded once.
Result<Coefficients> folded_coefficients(ImportContext& cx, DType type, double epsilon) {
  ops::Constant p[4];  // scale, bias, mean, variance
  for (size_t i = 0; i < 4; ++i) {
    const ops::Constant& given = *cx.graph().producer_as<ops::Constant>(TRY(cx.input(i + 1)));
    const ops::Constant vector = reshaped(given, {given.value.volume()});
    p[i] = TRY(fold_one(ops::Cast{DType::kF64}, {&vector}));
    TRY(require(p[i].value.volume() == p[0].value.volume(), "'", cx.input_name(i + 1), "' has ", p[i].value.volume(),
                " elements and '", cx.input_name(1), "' ", p[0].value.volume(), "; one a channel is needed"));
  }
  const auto folded = [](ElementWiseKind kind, const ops::Constant& a, const ops::Constant& b) {
    return fold_one(ops::ElementWise{kind}, {&a, &b});
  };
  const ops::Constant shift{HostTensor::of(DType::kF64, {1}, std::span(&epsilon, 1))};
  const ops::Constant moved = TRY(folded(ElementWiseKind::kSum, p[3], shift));
  const ops::Constant deviation = TRY(fold_one(ops::Unary{UnaryKind::kSqrt}, {&moved}));
  const ops::Constant scale = TRY(folded(ElementWiseKind::kDiv, p[0], deviation));
  const ops::Constant mean = TRY(folded(ElementWiseKind::kProd, p[2], scale));
  const ops::Constant bias = TRY(folded(ElementWiseKind::kSub, p[1], mean));
  return Coefficients{cx.add_constant(TRY(fold_one(ops::Cast{type}, {&scale}))),
                      cx.add_constant(TRY(fold_one(ops::Cast{type}, {&bias})))};
}

Result<Coefficients> computed_coefficients(ImportContext& cx, ValueId gamma, ValueId beta, ValueId mean,
                                           ValueId variance, double epsilon) {
  const DType type = cx.dtype(mean);
  const ValueId deviation = TRY(unary(cx, UnaryKind::kSqrt, TRY(binary(cx, ElementWiseKind::kSum, variance, epsilon))));
  const ValueId scale = TRY(binary(cx, ElementWiseKind::kDiv, TRY(cast(cx, gamma, type)), deviation));
  const ValueId moved = TRY(binary(cx, ElementWiseKind::kProd, mean, scale));
  return Coefficients{scale, TRY(binary(cx, ElementWiseKind::kSub, TRY(cast(cx, beta, type)), moved))};
}

/// The axes from `axis` on.
Result<Ints> trailing_axes(ImportContext& cx, ValueId x) {
  return axes_between(TRY(cx.axis(TRY(cx.node().get_int("axis", -1)), cx.rank(x))), cx.rank(x));
}

/// x * scale + shift of vectors along channels.
Result<ValueId> scaled_by_channel(ImportContext& cx, ValueId x, const Coefficients& c) {
  const auto coefficient = [&](ValueId value) -> Result<ValueId> {
    return along_channels(cx, TRY(cast(cx, value, cx.dtype(x))), cx.rank(x));
  };
  const ValueId scaled = TRY(binary(cx, ElementWiseKind::kProd, x, TRY(coefficient(c.scale))));
  return binary(cx, ElementWiseKind::kSum, scaled, TRY(coefficient(c.shift)));
}

/// BatchNormalization with training_mode 1: by x's own statistics, which also move the running ones.
Status normalize_by_batch(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  TRY(require(cx.rank(x) >= 2, "x is ", cx.type(x), "; [N, C, ...] is needed"));
  const double epsilon = TRY(cx.node().get_float("epsilon", 1e-5f));
  const double momentum = TRY(cx.node().get_float("momentum", 0.9f));
  Ints axes = axes_between(2, cx.rank(x));
  axes.insert(axes.begin(), 0);
  const Statistics s = TRY(statistics(cx, x, axes));
  const Shape channels{cx.extent(x, 1)};
  const ValueId mean = TRY(reshape(cx, s.mean, channels)), variance = TRY(reshape(cx, s.variance, channels));
  const auto moved = [&](ValueId running, ValueId now) -> Result<ValueId> {
    const ValueId old = TRY(binary(cx, ElementWiseKind::kProd, running, momentum));
    const ValueId seen = TRY(cast(cx, TRY(binary(cx, ElementWiseKind::kProd, now, 1 - momentum)), cx.dtype(old)));
    return binary(cx, ElementWiseKind::kSum, old, seen);
  };
  if (cx.wants(1)) TRY(cx.output(1, TRY(moved(TRY(cx.input(3)), mean))));
  if (cx.wants(2)) TRY(cx.output(2, TRY(moved(TRY(cx.input(4)), variance))));
  return cx.output(TRY(scaled_by_channel(
      cx, x, TRY(computed_coefficients(cx, TRY(cx.input(1)), TRY(cx.input(2)), mean, variance, epsilon)))));
}

}  // namespace

Status batch_normalization(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  if (TRY(cx.node().get_int("training_mode", 0)) != 0) return normalize_by_batch(cx);
  if (cx.opset() < 9)  // its old form 0 has coefficients for each element
    TRY(require(TRY(cx.node().get_int("spatial", 1)) != 0,
                "spatial is 0; statistics of each channel alone are supported"));
  cx.node().pass_over("momentum");  // of the running statistics, which inference does not move
  for (size_t i = 1; i < cx.num_outputs(); ++i) TRY(cx.refuse_output(i, "a statistic of training"));
  const double epsilon = TRY(cx.node().get_float("epsilon", 1e-5f));
  Values p;
  bool constant = cx.rank(x) >= 2;
  for (size_t i = 1; i <= 4; ++i) {
    p.push_back(TRY(cx.input(i)));
    constant = constant && cx.graph().constant(p.back());
  }
  if (!constant)
    return cx.output(TRY(scaled_by_channel(cx, x, TRY(computed_coefficients(cx, p[0], p[1], p[2], p[3], epsilon)))));
  const Coefficients c = TRY(folded_coefficients(cx, cx.dtype(x), epsilon));
  return cx.output(TRY(cx.add(ops::Scale{ops::ScaleMode::kChannel, 1}, {x, c.shift, c.scale})));
}

Status instance_normalization(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int rank = cx.rank(x);
  TRY(require(rank >= 3, "x is ", cx.type(x), "; [N, C, spatial...] is needed"));
  ops::Normalization op;
  op.axes = axes_between(2, rank);
  op.epsilon = TRY(cx.node().get_float("epsilon", 1e-5f));
  const ValueId scale = TRY(along_channels(cx, TRY(cx.input(1)), rank));
  return cx.output(TRY(cx.add(std::move(op), {x, scale, TRY(along_channels(cx, TRY(cx.input(2)), rank))})));
}

/// Repeats a coefficient with one element a group, so that it has one a channel; a coefficient with one element a
/// channel stays. The run may decide which of the two it is: repeating it up to the number of channels is right for
/// both.
Result<ValueId> a_channel_each(ImportContext& cx, ValueId coefficient, int64_t groups, sym::Expr channels) {
  const Shape& shape = cx.type(coefficient).shape;
  if (shape.size() != 1 || channels == shape[0]) return coefficient;
  const sym::Expr count = shape[0];
  const bool of_run = cx.opset() < 21 && !count.is_const();
  if (count.constant() != groups && !of_run) return coefficient;
  const sym::Expr each = sym::floor_div(channels, count);
  const ValueId repeated = TRY(expand(cx, TRY(unsqueeze(cx, coefficient, {1})), {count, each}));
  return reshape(cx, repeated, {channels});
}

/// Scale and bias have an element a channel; before version 21 one a group.
Status group_normalization(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int rank = cx.rank(x);
  TRY(require(rank >= 3, "x is ", cx.type(x), "; [N, C, spatial...] is needed"));
  const int64_t groups = TRY(cx.node().need_int("num_groups"));
  ops::Normalization op;
  op.axes = axes_between(groups == 1 ? 1 : 2, rank);
  op.epsilon = TRY(cx.node().get_float("epsilon", 1e-5f));
  op.groups = groups;
  const auto coefficient = [&](int index) -> Result<ValueId> {
    const sym::Expr channels = cx.type(x).shape[1];
    return along_channels(cx, TRY(a_channel_each(cx, TRY(cx.input(index)), groups, channels)), rank);
  };
  const ValueId scale = TRY(coefficient(1));
  return cx.output(TRY(cx.add(std::move(op), {x, scale, TRY(coefficient(2))})));
}

Status layer_normalization(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  ops::Normalization op;
  op.axes = TRY(trailing_axes(cx, x));
  op.epsilon = TRY(cx.node().get_float("epsilon", 1e-5f));
  if (cx.wants(1) || cx.wants(2)) {
    const ValueId wide = cx.dtype(x) == DType::kF64 ? x : TRY(cast(cx, x, DType::kF32));
    const Statistics s = TRY(statistics(cx, wide, op.axes));
    if (cx.wants(2)) TRY(cx.output(2, TRY(inverse_root(cx, s.variance, op.epsilon))));
    if (cx.wants(1)) TRY(cx.output(1, s.mean));
  }
  Values inputs{x, TRY(cx.input(1))};
  if (cx.has_input(2)) inputs.push_back(TRY(cx.input(2)));
  return cx.output(TRY(cx.add(std::move(op), inputs)));
}

Status rms_normalization(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const bool in_f32 = TRY(cx.node().get_int("stash_type", 1)) == 1 && cx.dtype(x) != DType::kF64;
  const double epsilon = TRY(cx.node().get_float("epsilon", 1e-5f));
  const Ints axes = TRY(trailing_axes(cx, x));
  if (cx.wants(1)) {  // of SimplifiedLayerNormalization, which ONNX Runtime's optimizer writes
    const ValueId wide = cx.dtype(x) == DType::kF64 ? x : TRY(cast(cx, x, DType::kF32));
    const ValueId squares = TRY(binary(cx, ElementWiseKind::kProd, wide, wide));
    TRY(cx.output(1, TRY(inverse_root(cx, TRY(reduce(cx, ReduceKind::kAvg, squares, axes, true)), epsilon))));
  }
  return cx.output(TRY(normalized_by_root(cx, x, axes, epsilon, TRY(cx.input(1)), in_f32)));
}

/// (x - mean) / (deviation + 1e-9)
Status mean_variance_normalization(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const Ints axes = TRY(cx.node().get_ints("axes", {0, 2, 3}));
  const Statistics s = TRY(statistics(cx, x, axes));
  const ValueId deviation = TRY(unary(cx, UnaryKind::kSqrt, s.variance));
  const ValueId divisor = TRY(binary(cx, ElementWiseKind::kSum, deviation, 1e-9));
  const ValueId off = TRY(binary(cx, ElementWiseKind::kSub, x, s.mean));
  return cx.output(TRY(binary(cx, ElementWiseKind::kDiv, off, divisor)));
}

/// x / (the p-norm along an axis), and 0 where that is 0.
Status lp_normalization(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int axis = TRY(cx.axis(TRY(cx.node().get_int("axis", -1)), cx.rank(x)));
  const int64_t p = TRY(cx.node().get_int("p", 2));
  TRY(require(p == 1 || p == 2, "p is ", p, "; 1 or 2 is needed"));
  const ValueId terms = p == 1 ? TRY(unary(cx, UnaryKind::kAbs, x)) : TRY(binary(cx, ElementWiseKind::kProd, x, x));
  ValueId norm = TRY(reduce(cx, ReduceKind::kSum, terms, {axis}, true));
  if (p == 2) norm = TRY(unary(cx, UnaryKind::kSqrt, norm));
  const ValueId is_zero = TRY(binary(cx, ElementWiseKind::kEqual, norm, 0));
  const ValueId divisor = TRY(select(cx, is_zero, scalar_like(cx, INFINITY, norm), norm));
  return cx.output(TRY(binary(cx, ElementWiseKind::kDiv, x, divisor)));
}

}  // namespace importers
}  // namespace kiln::onnx
