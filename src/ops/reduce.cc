#include "ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/define.h"
#include "ops/movement.h"
#include "sym/real.h"

namespace kiln {
template const OpInfo& op_info<ops::Reduce>();

namespace ops {
namespace {

/// For each axis of x whether it is reduced. Fails on an axis out of range or named twice.
Result<std::vector<bool>> reduced_axes(const Reduce& op, int rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank));
  for (const int64_t axis : op.axes) {
    const auto at = static_cast<size_t>(TRY(normalize_axis(axis, rank)));
    TRY(require(!reduced[at], "axis ", at, " is reduced twice: axes is ", op.axes));
    reduced[at] = true;
  }
  return reduced;
}

/// The output index of every element of x, in row-major order.
std::vector<int64_t> targets(std::span<const int64_t> extents, const std::vector<bool>& reduced) {
  if (std::ranges::count(extents, 0) > 0) return {};  // beside an empty axis others may be of any length
  std::vector<int64_t> result{0};
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    std::vector<int64_t> next;
    next.reserve(result.size() * static_cast<size_t>(extents[axis]));
    for (const int64_t outer : result)
      for (int64_t i = 0; i < extents[axis]; ++i) next.push_back(reduced[axis] ? outer : outer * extents[axis] + i);
    result = std::move(next);
  }
  return result;
}

double combine(ReduceKind kind, double a, double b) {
  switch (kind) {
    case ReduceKind::kProd: return a * b;
    case ReduceKind::kMax: return b > a || std::isnan(b) ? b : a;
    case ReduceKind::kMin: return b < a || std::isnan(b) ? b : a;
    default: return a + b;
  }
}
double start_number(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kProd: return 1;
    case ReduceKind::kMax: return -INFINITY;
    case ReduceKind::kMin: return INFINITY;
    default: return 0;
  }
}

/// Wraps modulo 2^64, so that truncation wraps in the narrower types.
int64_t combine(ReduceKind kind, int64_t a, int64_t b) {
  switch (kind) {
    case ReduceKind::kProd: return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    case ReduceKind::kMax: return std::max(a, b);
    case ReduceKind::kMin: return std::min(a, b);
    default: return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
}
int64_t start_integer(ReduceKind kind, DType dtype) {
  if (kind == ReduceKind::kProd) return 1;
  if (kind != ReduceKind::kMax && kind != ReduceKind::kMin) return 0;
  const int bits = bits_of(dtype);
  if (dtype == DType::kU8) return kind == ReduceKind::kMax ? 0 : 255;
  const int64_t greatest = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return kind == ReduceKind::kMax ? -greatest - 1 : greatest;
}

sym::Expr combine_reals(ReduceKind kind, sym::Expr a, sym::Expr b) {
  switch (kind) {
    case ReduceKind::kProd: return sym::real_prod(a, b);
    case ReduceKind::kMax: return sym::real_max(a, b);
    case ReduceKind::kMin: return sym::real_min(a, b);
    default: return sym::real_sum(a, b);
  }
}
sym::Expr combine(ReduceKind kind, DType dtype, sym::Expr a, sym::Expr b) {
  if (is_float(dtype)) return combine_reals(kind, a, b);
  switch (kind) {
    case ReduceKind::kProd: return a * b;
    case ReduceKind::kMax: return sym::max(a, b);
    case ReduceKind::kMin: return sym::min(a, b);
    default: return a + b;
  }
}

/// Combines neighbours in pairs, then the results in pairs, and so on. Adding one value after another to a growing sum
/// would walk over every term once for each value.
sym::Expr combine_all(ReduceKind kind, DType dtype, SymbolicValues values) {
  const auto each = std::ssize(values);
  for (size_t count = values.size(); count > 1; count = (count + 1) / 2)
    for (size_t i = 0; i < count; i += 2)
      values[i / 2] = i + 1 < count ? combine(kind, dtype, values[i], values[i + 1]) : values[i];
  if (kind != ReduceKind::kAvg) return values[0];
  return is_float(dtype) ? sym::real_div(values[0], sym::real(each)) : sym::truncated_div(values[0], each);
}

/// The symbolic values of y, or null where they are not known.
Result<std::shared_ptr<const SymbolicValues>> reduced_values(const Reduce& op, InferContext& cx, const TensorType& x,
                                                             const std::vector<bool>& reduced) {
  if (!carries_values(x) || !cx.has_values(0)) return nullptr;
  const Extents extents = TRY(x.extents());
  const SymbolicValues values = TRY(cx.values(0));
  if (values.empty()) return nullptr;
  std::vector<SymbolicValues> groups;  // the first element of each target comes in the order of the targets
  const std::vector<int64_t> to = targets(extents, reduced);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<size_t>(to[i]);
    if (at == groups.size()) groups.emplace_back();
    groups[at].push_back(values[i]);
  }
  SymbolicValues result;
  for (SymbolicValues& group : groups) result.push_back(combine_all(op.kind, x.dtype, std::move(group)));
  TensorType y = x;
  y.values = nullptr;
  give_values(y, std::move(result));
  return y.values;
}

}  // namespace

Status Reduce::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(cx.require(x.dtype != DType::kBool, "x is ", x, "; Reduce takes numbers, so cast it"));
  TRY(cx.require(kind != ReduceKind::kNone, "kind none is for collective operations; Reduce needs another"));
  for (const int64_t axis : axes) TRY(cx.axis(axis, x));
  const std::vector<bool> reduced = TRY(reduced_axes(*this, x.rank()));
  TensorType y(x.dtype, {});
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i])
      y.shape.push_back(x.shape[i]);
    else if (keep)
      y.shape.emplace_back(1);
  }
  y.values = TRY(reduced_values(*this, cx, x, reduced));
  return cx.set_output(0, std::move(y));
}

Status Reduce::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  const std::vector<int64_t> to = targets(x.extents(), TRY(reduced_axes(*this, x.rank())));
  const auto each = y.volume() == 0 ? 0 : x.volume() / y.volume();  // elements behind each result
  if (is_float(x.dtype())) {
    const std::vector<double> xs = x.numbers();
    std::vector<double> results(static_cast<size_t>(y.volume()), start_number(kind));
    for (size_t i = 0; i < to.size(); ++i) {
      double& result = results[static_cast<size_t>(to[i])];
      result = combine(kind, result, xs[i]);
    }
    for (int64_t i = 0; i < y.volume(); ++i) {
      const double result = results[static_cast<size_t>(i)];
      y.set(i, kind == ReduceKind::kAvg ? result / static_cast<double>(each) : result);
    }
    return {};
  }
  std::vector<int64_t> results(static_cast<size_t>(y.volume()), start_integer(kind, x.dtype()));
  for (size_t i = 0; i < to.size(); ++i) {
    int64_t& result = results[static_cast<size_t>(to[i])];
    result = combine(kind, result, x.integer(static_cast<int64_t>(i)));
  }
  for (int64_t i = 0; i < y.volume(); ++i) {
    const int64_t result = results[static_cast<size_t>(i)];
    y.set_integer(i, kind == ReduceKind::kAvg && each > 0 ? result / each : result);
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
