#include "onnx/import/axes.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

/// A reduction along constant axes: what any reduction becomes before its kind is looked at.
struct Reduction {
  ValueId x;
  Ints axes;
  bool keep;
  std::optional<Shape> reshaped;  ///< the result's shape where `x` was reshaped to make the axes constant
};

/// Makes axes constant that are known at run time only. Each axis of x becomes two, one to keep and one to reduce. One
/// of them has the elements, the other has extent 1; arithmetic with the axes decides which.
Result<Reduction> with_constant_axes(ImportContext& cx, ValueId x, const Axes& axes, bool keep) {
  const int rank = cx.rank(x), kept = rank - static_cast<int>(axes.given.size());
  TRY(require(2 * rank <= kMaxRank, "axes are known at run time only and x is ", cx.type(x), "; such an x has at most ",
              kMaxRank / 2, " axes"));
  TRY(require(kept >= 0, "there are ", axes.given.size(), " axes; x is ", cx.type(x)));
  Shape halves, all, rest(static_cast<size_t>(kept), 0);
  Ints second;
  sym::Expr place = 0;  // of the axis among those that stay
  for (int i = 0; i < rank; ++i) {
    const sym::Expr goes = axes.contains(i), stays = sym::equal(goes, 0), extent = cx.extent(x, i);
    all.push_back(sym::max(extent * stays, goes));  // maxima: products of sums would grow without bounds
    halves.push_back(all.back());
    halves.push_back(sym::max(extent * goes, stays));
    second.push_back(2 * i + 1);
    for (int k = 0; k < kept; ++k) {
      sym::Expr& at = rest[static_cast<size_t>(k)];
      at = sym::max(at, extent * stays * sym::equal(place, k));
    }
    place += stays;
  }
  return Reduction{TRY(reshape(cx, x, halves)), std::move(second), false, keep ? all : rest};
}

Result<Reduction> reduction_of(ImportContext& cx, int64_t axes_input_since) {
  const ValueId x = TRY(cx.input(0));
  const int rank = cx.rank(x);
  const bool keep = TRY(cx.node().get_int("keepdims", 1)) != 0;
  const bool noop = TRY(cx.node().get_int("noop_with_empty_axes", 0)) != 0;
  const std::optional<Axes> axes = TRY(axes_of(cx, 1, axes_input_since, rank));
  if (!axes || axes->given.empty()) return Reduction{x, noop ? Ints{} : axes_between(0, rank), keep, std::nullopt};
  if (axes->known) return Reduction{x, {axes->known->begin(), axes->known->end()}, keep, std::nullopt};
  return with_constant_axes(cx, x, *axes, keep);
}

Result<ValueId> apply(ImportContext& cx, ReduceKind kind, const Reduction& r, ValueId x) {
  const ValueId y = TRY(reduce(cx, kind, x, r.axes, r.keep));
  return r.reshaped ? reshape(cx, y, *r.reshaped) : y;
}

Status simple(ImportContext& cx, ReduceKind kind, int64_t axes_input_since) {
  const Reduction r = TRY(reduction_of(cx, axes_input_since));
  if (cx.dtype(r.x) != DType::kBool) return cx.output(TRY(apply(cx, kind, r, r.x)));
  const ValueId numbers = TRY(cast(cx, r.x, DType::kI32));
  // The greatest of no elements is the smallest integer there is, which is false.
  return cx.output(TRY(binary(cx, ElementWiseKind::kGreater, TRY(apply(cx, kind, r, numbers)), 0)));
}

Result<ValueId> squared(ImportContext& cx, ValueId x) { return binary(cx, ElementWiseKind::kProd, x, x); }

/// The square root of a sum of squares, of integers in f32.
Result<ValueId> root(ImportContext& cx, ValueId sum) {
  const DType type = cx.dtype(sum);
  if (is_float(type)) return unary(cx, UnaryKind::kSqrt, sum);
  return cast(cx, TRY(unary(cx, UnaryKind::kSqrt, TRY(cast(cx, sum, DType::kF64)))), type);
}

}  // namespace

Status reduce_sum(ImportContext& cx) { return simple(cx, ReduceKind::kSum, 13); }
Status reduce_mean(ImportContext& cx) { return simple(cx, ReduceKind::kAvg, 18); }
Status reduce_max(ImportContext& cx) { return simple(cx, ReduceKind::kMax, 18); }
Status reduce_min(ImportContext& cx) { return simple(cx, ReduceKind::kMin, 18); }
Status reduce_prod(ImportContext& cx) { return simple(cx, ReduceKind::kProd, 18); }

Status reduce_l1(ImportContext& cx) {
  const Reduction r = TRY(reduction_of(cx, 18));
  return cx.output(TRY(apply(cx, ReduceKind::kSum, r, TRY(unary(cx, UnaryKind::kAbs, r.x)))));
}
Status reduce_l2(ImportContext& cx) {
  const Reduction r = TRY(reduction_of(cx, 18));
  return cx.output(TRY(root(cx, TRY(apply(cx, ReduceKind::kSum, r, TRY(squared(cx, r.x)))))));
}
Status reduce_sum_square(ImportContext& cx) {
  const Reduction r = TRY(reduction_of(cx, 18));
  return cx.output(TRY(apply(cx, ReduceKind::kSum, r, TRY(squared(cx, r.x)))));
}
Status reduce_log_sum(ImportContext& cx) {
  const Reduction r = TRY(reduction_of(cx, 18));
  return cx.output(TRY(unary(cx, UnaryKind::kLog, TRY(apply(cx, ReduceKind::kSum, r, r.x)))));
}

/// log(sum(exp(x - m))) + m with m the maximum, or 0 where that is infinite, which would give NaN.
Status reduce_log_sum_exp(ImportContext& cx) {
  const Reduction r = TRY(reduction_of(cx, 18));
  const ValueId most = TRY(reduce(cx, ReduceKind::kMax, r.x, r.axes, true));
  const ValueId infinite = TRY(unary(cx, UnaryKind::kIsInf, most));
  const ValueId peak = TRY(select(cx, infinite, scalar_like(cx, 0, most), most));
  const ValueId powers = TRY(unary(cx, UnaryKind::kExp, TRY(binary(cx, ElementWiseKind::kSub, r.x, peak))));
  const ValueId sum = TRY(reduce(cx, ReduceKind::kSum, powers, r.axes, true));
  const ValueId y = TRY(binary(cx, ElementWiseKind::kSum, TRY(unary(cx, UnaryKind::kLog, sum)), peak));
  if (r.reshaped) return cx.output(TRY(reshape(cx, y, *r.reshaped)));
  // The axes have extent 1 by now: what is left is to remove them.
  return cx.output(r.keep ? y : TRY(reduce(cx, ReduceKind::kSum, y, r.axes, false)));
}

}  // namespace kiln::onnx::importers
