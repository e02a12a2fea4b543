/// DFT and STFT.
#include "onnx/import/fourier.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"
#include "ops/gather.h"

namespace kiln::onnx::importers {
namespace {

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

/// All numbers of the transform of a real signal from its first half: those behind it are their conjugates, backwards.
Result<ValueId> both_sides(ImportContext& cx, ValueId x, sym::Expr length) {
  const int last = cx.rank(x) - 1, axis = last - 1;
  const sym::Expr given = sym::floor_div(length, 2) + 1, mirrored = length - given;
  x = TRY(slice(cx, x, {{0}, {given}, {1}, {axis}, SliceMode::kFill}));
  const ValueId backwards = TRY(slice(cx, x, {{mirrored}, {mirrored}, {-1}, {axis}}));
  const ValueId signs = cx.add_constant(HostTensor::of(cx.dtype(x), {2}, std::vector<double>{1, -1}));
  return cx.add(ops::Concatenation{axis}, {x, TRY(binary(cx, ElementWiseKind::kProd, backwards, signs))});
}

/// A transform of [..., numbers, parts].
Result<ValueId> along_last(ImportContext& cx, ValueId x) {
  const bool onesided = TRY(cx.node().get_int("onesided", 0)) != 0;
  const bool inverse = TRY(cx.node().get_int("inverse", 0)) != 0, to_real = onesided && inverse;
  const int last = cx.rank(x) - 1, axis = last - 1;
  const sym::Expr extent = cx.extent(x, axis);
  const sym::Expr length = cx.has_input(1) ? TRY(whole(cx, 1, "dft_length")) : to_real ? 2 * (extent - 1) : extent;
  TRY(require(!length.is_const() || length.value() > 0, cx.has_input(1) ? "dft_length" : "the length of the transform",
              " is ", length, "; it must be positive"));
  Transform by{length, sym::min(length, extent), onesided ? sym::floor_div(length, 2) + 1 : length,
               TRY(parts_of(cx, x)), inverse};
  if (to_real) {
    TRY(require(by.parts == 2, "x is ", cx.type(x), "; an inverse transform with onesided takes complex numbers"));
    x = TRY(both_sides(cx, x, length));
    const ValueId y = TRY(transformed(cx, x, {length, length, length, 2, true}));
    return slice(cx, y, {{0}, {1}, {1}, {last}});
  }
  if (!sym::provably_equal(by.samples, extent)) x = TRY(slice(cx, x, {{0}, {by.samples}, {1}, {axis}}));
  return transformed(cx, x, by);
}

/// DFT along one axis.
Result<ValueId> along_axis(ImportContext& cx, ValueId x, int axis) {
  const int rank = cx.rank(x);
  Ints perm, back(static_cast<size_t>(rank));
  for (int i = 0; i < rank - 1; ++i)
    if (i != axis) perm.push_back(i);
  perm.push_back(axis);
  perm.push_back(rank - 1);
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return transpose(cx, TRY(along_last(cx, TRY(transpose(cx, x, perm)))), back);
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
