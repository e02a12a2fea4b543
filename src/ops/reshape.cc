#include "ops/reshape.h"

#include <algorithm>
#include <cstring>

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::Reshape>();

namespace {
/// Dims with placeholders replaced, and where the -1 is. `copied[i]`: axis i is x's own.
struct Dims {
  Shape shape;
  std::vector<bool> copied;
  int wildcard = -1;
};
Result<Dims> resolve_placeholders(const TensorType& x, const SymbolicValues& dims, bool zero_is_placeholder) {
  Dims result{dims, std::vector<bool>(dims.size(), false), -1};
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].is_const()) continue;
    const int64_t dim = dims[i].value();
    TRY(require(dim >= -1, "extent ", dim, " of axis ", i, " in ", dims, " is negative; only -1 has a meaning"));
    if (dim == -1) {
      TRY(require(result.wildcard < 0, "dims ", dims, " has more than one -1"));
      result.wildcard = static_cast<int>(i);
    } else if (dim == 0 && zero_is_placeholder) {
      TRY(require(static_cast<int>(i) < x.rank(), "dims ", dims, " copies axis ", i, " of x, which is ", x));
      result.shape[i] = x.shape[i];
      result.copied[i] = true;
    }
  }
  return result;
}

/// Whether an extent may turn out to be a placeholder at run time. It compares expressions, so that an assumption which
/// the answer relies on is recorded.
bool may_be_placeholder(sym::Expr dim) { return !dim.is_const() && sym::max(dim, 0) != dim; }

/// Resolves 0 and -1 in dims that are known at run time only: arithmetic in each extent decides between a 0, a -1 and a
/// number. It uses maxima instead of sums, because products of sums would grow without bounds, and a maximum is a
/// single factor.
Result<Shape> resolved_at_run_time(InferContext& cx, const TensorType& x, const SymbolicValues& dims,
                                   bool zero_is_placeholder) {
  Shape shape;
  sym::Expr others = 1, num_wildcards = 0;
  const std::string why = str("reshape of ", x, " to ", dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    TRY(sym::assume(cx.assumptions(),
                    {sym::Relation::kLessEqual, -1, dims[i],
                     str("axis ", i, " of the ", why, "; of negative extents only -1 has a meaning")}));
    const sym::Expr own = zero_is_placeholder && i < x.shape.size() ? x.shape[i] : sym::Expr(0);
    shape.push_back(sym::max(dims[i], sym::equal(dims[i], 0) * own));  // at least 0, and of a -1 just that
    num_wildcards += sym::equal(dims[i], -1);
    others *= sym::max(shape[i], 1);
  }
  TRY(sym::assume(cx.assumptions(),
                  {sym::Relation::kLessEqual, num_wildcards, 1, str("the ", why, " has one -1 at most")}));
  const sym::Expr rest = sym::floor_div(x.volume(), others);
  for (size_t i = 0; i < dims.size(); ++i) shape[i] = sym::max(shape[i], sym::equal(dims[i], -1) * rest);
  TRY(cx.assume_equal(x.volume(), sym::product(shape), str("element counts of ", why)));
  return shape;
}
}  // namespace

Result<Shape> reshaped(InferContext& cx, const TensorType& x, const SymbolicValues& dims, bool zero_is_placeholder) {
  if (std::ranges::any_of(dims, may_be_placeholder)) return resolved_at_run_time(cx, x, dims, zero_is_placeholder);
  Dims to = TRY(resolve_placeholders(x, dims, zero_is_placeholder));
  // Axes that are copied cancel, so that a wildcard beside an empty batch still has a value.
  sym::Expr have = 1, want = 1;
  for (size_t i = 0; i < x.shape.size(); ++i)
    if (i >= to.copied.size() || !to.copied[i]) have *= x.shape[i];
  for (size_t i = 0; i < to.shape.size(); ++i)
    if (!to.copied[i] && static_cast<int>(i) != to.wildcard) want *= to.shape[i];
  const auto why = [&] { return str("reshape of ", x, " to ", dims); };
  if (to.wildcard < 0) {
    if (have != want) TRY(cx.assume_equal(x.volume(), sym::product(to.shape), str("element counts of ", why())));
    return to.shape;
  }
  TRY(cx.require(want != sym::Expr(0), why(), ": -1 beside an extent of 0 could be any number"));
  const sym::Expr rest = sym::floor_div(have, want);
  to.shape[static_cast<size_t>(to.wildcard)] = rest;
  if (rest * want == have) return to.shape;
  if (have.is_const() && want.is_const())
    return error(Code::kInvalidArgument, why(), ": ", want, " does not divide ", have);
  TRY(sym::assume(cx.assumptions(), {sym::Relation::kDivides, want, have, why()}));
  return to.shape;
}

std::vector<int> reshape_axes(const Shape& from, const Shape& to) {
  std::vector<int> map(from.size(), -1);
  sym::Expr before_from = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    sym::Expr before_to = 1;
    for (size_t j = 0; j < to.size(); ++j) {
      // An extent of 1 fits in several places. It gets the first place that no other axis took.
      const bool taken = i > 0 && map[i - 1] >= static_cast<int>(j);
      if (!taken && before_from == before_to && from[i] == to[j]) {
        map[i] = static_cast<int>(j);
        break;
      }
      before_to *= to[j];
    }
    before_from *= from[i];
  }
  return map;
}

namespace ops {

Status Reshape::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const SymbolicValues to = TRY(dims_of(cx, 1, dims, "shape"));
  Shape shape = TRY(reshaped(cx, x, to, zero_is_placeholder));
  return set_view_output(cx, 0, TensorType(x.dtype, std::move(shape)));
}

Status Reshape::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  TRY(require(x.volume() == y.volume(), "x has ", x.volume(), " elements and y ", y.volume()));
  if (x.volume()) std::memcpy(y.data(), x.data(), static_cast<size_t>(size_bytes(x.dtype(), x.volume())));
  return {};
}

}  // namespace ops
}  // namespace kiln
