/// DFT and STFT as products with matrices of cosines and sines.
#include <cmath>
#include <numbers>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"
#include "ops/gather.h"
#include "tensor/view.h"

namespace kiln::onnx::importers {
namespace {

/// A transform of `samples` complex or real numbers, those behind which, up to `length`, are 0.
struct Transform {
  sym::Expr length, samples, outputs;
  int64_t parts;  ///< 1: real numbers; 2: complex ones
  bool inverse;
};

constexpr int64_t kLargestMatrix = 1 << 25;  // elements

/// The matrix of a transform, [samples * parts, outputs * 2].
Result<ValueId> constant_matrix(ImportContext& cx, const Transform& by, DType type) {
  const int64_t length = by.length.value(), samples = by.samples.value(), outputs = by.outputs.value();
  TRY(require(length <= kLargestMatrix && samples * by.parts <= kLargestMatrix / (2 * outputs),
              "a transform of length ", length, " of ", samples, " numbers needs a matrix of more than ",
              kLargestMatrix, " elements; no larger ones are supported"));
  std::vector<double> cosines, sines;  // by the turns, modulo the length
  const double scale = by.inverse ? 1 / static_cast<double>(length) : 1;
  for (int64_t turns = 0; turns < length; ++turns) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(turns) / static_cast<double>(length);
    cosines.push_back(scale * std::cos(angle));
    sines.push_back(scale * (by.inverse ? std::sin(angle) : -std::sin(angle)));
  }
  HostTensor::Fresh fresh = TRY(HostTensor::make(type, {samples * by.parts, outputs * 2}));
  int64_t at = 0;
  for (int64_t sample = 0; sample < samples; ++sample)
    for (int64_t part = 0; part < by.parts; ++part)
      for (int64_t output = 0; output < outputs; ++output) {
        const auto turns = static_cast<size_t>(sample * output % length);
        store_number(type, fresh.data.data(), at++, part == 0 ? cosines[turns] : -sines[turns]);
        store_number(type, fresh.data.data(), at++, part == 0 ? sines[turns] : cosines[turns]);
      }
  return cx.add_constant(std::move(fresh.tensor));
}

Result<ValueId> float_of(ImportContext& cx, sym::Expr e, DType type, int rank) {
  return cast(cx, TRY(with_rank(cx, TRY(scalar_value(cx, e)), rank)), type);
}

struct Waves {
  ValueId cosine, sine;
};
/// Cosine and sine of `turns` in [0, 1). Half turns are taken off, and cosines are sines of what a quarter lacks, so
/// that zeros are exact.
Result<Waves> cosine_and_sine(ImportContext& cx, ValueId turns) {
  using enum ElementWiseKind;
  const ValueId halves = TRY(unary(cx, UnaryKind::kRound, TRY(binary(cx, kProd, turns, 2))));
  const ValueId rest = TRY(binary(cx, kSub, turns, TRY(binary(cx, kProd, halves, 0.5))));  // in [-1/4, 1/4]
  const ValueId is_odd = TRY(binary(cx, kEqual, halves, 1));
  const ValueId sign = TRY(select(cx, is_odd, scalar_like(cx, -1, turns), scalar_like(cx, 1, turns)));
  const auto signed_sine = [&](ValueId of) -> Result<ValueId> {
    const ValueId angle = TRY(binary(cx, kProd, of, 2 * std::numbers::pi));
    return binary(cx, kProd, TRY(unary(cx, UnaryKind::kSin, angle)), sign);
  };
  const ValueId size = TRY(unary(cx, UnaryKind::kAbs, rest));
  const ValueId lacking = TRY(binary(cx, kSub, scalar_like(cx, 0.25, size), size));
  return Waves{TRY(signed_sine(lacking)), TRY(signed_sine(rest))};
}

/// The matrix of a transform whose extents are not known yet.
Result<ValueId> computed_matrix(ImportContext& cx, const Transform& by, DType type) {
  using enum ElementWiseKind;
  const ValueId sample = TRY(indices_along(cx, by.samples, 0, 2)), output = TRY(indices_along(cx, by.outputs, 1, 2));
  const ValueId length = TRY(with_rank(cx, TRY(scalar_value(cx, by.length)), 2));
  const ValueId product = TRY(binary(cx, kProd, sample, output));
  const ValueId whole = TRY(binary(cx, kProd, TRY(binary(cx, kFloorDiv, product, length)), length));
  const ValueId scale = TRY(float_of(cx, by.length, DType::kF32, 2));
  const ValueId rest = TRY(cast(cx, TRY(binary(cx, kSub, product, whole)), DType::kF32));
  auto [cosine, sine] = TRY(cosine_and_sine(cx, TRY(binary(cx, kDiv, rest, scale))));
  if (by.inverse) {
    cosine = TRY(binary(cx, kDiv, cosine, scale));
    sine = TRY(binary(cx, kDiv, sine, scale));
  }
  const ValueId negative = TRY(unary(cx, UnaryKind::kNeg, sine));
  const auto pair = [&](ValueId a, ValueId b) -> Result<ValueId> {  // [samples, 1, outputs, 2]
    return cx.add(ops::Concatenation{3}, {TRY(unsqueeze(cx, a, {1, 3})), TRY(unsqueeze(cx, b, {1, 3}))});
  };
  ValueId parts = TRY(pair(cosine, by.inverse ? sine : negative));
  if (by.parts == 2)
    parts = TRY(cx.add(ops::Concatenation{1}, {parts, TRY(pair(by.inverse ? negative : sine, cosine))}));
  return reshape(cx, TRY(cast(cx, parts, type)), {by.samples * by.parts, by.outputs * 2});
}

/// Transforms [..., samples, parts] to [..., outputs, 2].
Result<ValueId> transformed(ImportContext& cx, ValueId x, const Transform& by) {
  Shape shape = cx.type(x).shape;
  const size_t axis = shape.size() - 2;
  const bool is_known = by.length.is_const() && by.samples.is_const() && by.outputs.is_const();
  const DType type = cx.dtype(x);
  const ValueId matrix = is_known ? TRY(constant_matrix(cx, by, type)) : TRY(computed_matrix(cx, by, type));
  Shape rows(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
  rows.push_back(by.samples * by.parts);
  const ValueId y = TRY(matrix_multiply(cx, TRY(reshape(cx, x, rows)), matrix));
  shape[axis] = by.outputs;
  shape[axis + 1] = 2;
  return reshape(cx, y, shape);
}

/// 1 for real numbers, 2 for complex ones.
Result<int64_t> parts_of(ImportContext& cx, ValueId x) {
  const int rank = cx.rank(x);
  const auto parts = rank >= 2 ? cx.extent(x, rank - 1).constant() : std::nullopt;
  TRY(require(is_float(cx.dtype(x)) && parts && (*parts == 1 || *parts == 2), "x is ", cx.type(x),
              "; floats with a last axis of 1, or of 2 for complex numbers, are needed"));
  return *parts;
}

Result<sym::Expr> whole(ImportContext& cx, size_t input, std::string_view what) {
  const SymbolicValues given = TRY(cx.values(TRY(cx.input(input)), what));
  TRY(require(given.size() == 1, what, " has ", given.size(), " elements; one is needed"));
  return given[0];
}

/// DFT along one axis.
Result<ValueId> along_axis(ImportContext& cx, ValueId x, int axis) {
  const int rank = cx.rank(x);
  const bool onesided = TRY(cx.node().get_int("onesided", 0)) != 0;
  const sym::Expr extent = cx.extent(x, axis);
  const sym::Expr length = cx.has_input(1) ? TRY(whole(cx, 1, "dft_length")) : extent;
  TRY(require(!length.is_const() || length.value() > 0, "dft_length is ", length, "; it must be positive"));
  Transform by{length, sym::min(length, extent), onesided ? sym::floor_div(length, 2) + 1 : length,
               TRY(parts_of(cx, x)), TRY(cx.node().get_int("inverse", 0)) != 0};
  TRY(require(!onesided || !by.inverse, "an inverse transform with onesided is not in Kiln"));
  if (!sym::provably_equal(by.samples, extent)) x = TRY(slice(cx, x, {{0}, {by.samples}, {1}, {axis}}));
  Ints perm, back(static_cast<size_t>(rank));
  for (int i = 0; i < rank - 1; ++i)
    if (i != axis) perm.push_back(i);
  perm.push_back(axis);
  perm.push_back(rank - 1);
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return transpose(cx, TRY(transformed(cx, TRY(transpose(cx, x, perm)), by)), back);
}

}  // namespace

Status dft(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int rank = cx.rank(x);
  TRY(parts_of(cx, x));
  sym::Expr axis = cx.opset() < 20 ? TRY(cx.node().get_int("axis", 1)) : -2;
  if (cx.opset() >= 20 && cx.has_input(2)) axis = TRY(whole(cx, 2, "axis"));
  if (axis.is_const()) {
    const int known = TRY(cx.axis(axis.value(), rank));
    TRY(require(known < rank - 1, "axis is ", axis, " of x ", cx.type(x), "; the last one holds parts of numbers"));
    return cx.output(TRY(along_axis(cx, x, known)));
  }
  // An axis that the run decides: transforms along all of them have one shape, and one of them is taken.
  TRY(require(TRY(cx.node().get_int("onesided", 0)) == 0 && !cx.has_input(1),
              "the axis must follow from constants where dft_length or onesided is given"));
  ValueId y = TRY(along_axis(cx, x, rank - 2));
  for (int i = 0; i < rank - 2; ++i) {
    const sym::Expr is_it = sym::max(sym::equal(axis, i), sym::equal(axis, i - rank));
    y = TRY(select(cx, TRY(scalar_value(cx, is_it, DType::kBool)), TRY(along_axis(cx, x, i)), y));
  }
  return cx.output(y);
}

/// Imports STFT: frames of the signal, times the window, each transformed.
Status stft(ImportContext& cx) {
  using enum ElementWiseKind;
  ValueId signal = TRY(cx.input(0));
  if (cx.rank(signal) == 2) signal = TRY(unsqueeze(cx, signal, {2}));
  TRY(require(cx.rank(signal) == 3, "signal is ", cx.type(signal), "; [batch, samples, 1 or 2] is needed"));
  const int64_t parts = TRY(parts_of(cx, signal));
  const sym::Expr step = TRY(whole(cx, 1, "frame_step"));
  TRY(require(!step.is_const() || step.value() > 0, "frame_step is ", step, "; it must be positive"));
  TRY(require(cx.has_input(2) || cx.has_input(3), "neither window nor frame_length is given"));
  const sym::Expr length = cx.has_input(3) ? TRY(whole(cx, 3, "frame_length")) : cx.extent(TRY(cx.input(2)), 0);
  TRY(require(!length.is_const() || length.value() > 0, "frame_length is ", length, "; it must be positive"));
  const sym::Expr count = sym::max(0, sym::floor_div(cx.extent(signal, 1) - length, step) + 1);
  const ValueId first =
      TRY(binary(cx, kProd, TRY(indices_along(cx, count, 0, 2)), TRY(with_rank(cx, TRY(scalar_value(cx, step)), 2))));
  const ValueId at = TRY(binary(cx, kSum, first, TRY(indices_along(cx, length, 1, 2))));
  ValueId frames = TRY(cx.add(ops::Gather{GatherMode::kDefault, 1, 0}, {signal, at}));
  if (cx.has_input(2)) {
    const ValueId window = TRY(cast(cx, TRY(cx.input(2)), cx.dtype(signal)));
    frames = TRY(binary(cx, kProd, frames, TRY(reshape(cx, window, {length, 1}))));
  }
  const bool onesided = TRY(cx.node().get_int("onesided", 1)) != 0;
  const Transform by{length, length, onesided ? sym::floor_div(length, 2) + 1 : length, parts, false};
  return cx.output(TRY(transformed(cx, frames, by)));
}

}  // namespace kiln::onnx::importers
