#include "ops/normalization.h"

#include <cmath>
#include <optional>

#include "ops/define.h"

namespace kiln {
template const OpInfo& op_info<ops::Normalization>();

namespace ops {
namespace {

Result<std::vector<bool>> reduced_axes(const Normalization& op, int rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank));
  for (const int64_t axis : op.axes) {
    const auto at = static_cast<size_t>(TRY(normalize_axis(axis, rank)));
    TRY(require(!reduced[at], "axis ", at, " is normalised twice: axes is ", op.axes));
    reduced[at] = true;
  }
  return reduced;
}

/// scale or bias: each extent is 1, x's, or along axis 1 the number of groups.
Status check_factor(const Normalization& op, InferContext& cx, int input, std::string_view what) {
  if (!cx.has_input(input)) return {};
  const TensorType& x = TRY(cx.input(0));
  const TensorType& factor = TRY(cx.input(input));
  TRY(cx.require(factor.dtype == x.dtype, what, " is ", factor, " and x is ", x, "; their types must agree"));
  TRY(cx.require(factor.rank() <= x.rank(), what, " is ", factor, ", of rank ", factor.rank(), "; x ", x,
                 " allows at most ", x.rank()));
  const size_t skip = x.shape.size() - factor.shape.size();
  for (size_t i = 0; i < factor.shape.size(); ++i) {
    const sym::Expr extent = factor.shape[i];
    if (extent == sym::Expr(1) || (skip + i == 1 && op.groups > 1 && extent == sym::Expr(op.groups))) continue;
    TRY(cx.assume_one_or(extent, x.shape[skip + i], str(what, " ", factor, " must broadcast to x ", x)));
  }
  return {};
}

/// A walk over x that keeps, for each element, an index into a smaller tensor.
struct Projection {
  std::vector<int64_t> strides;   // 0 along axes that the smaller tensor lacks
  std::vector<int64_t> divisors;  // elements of x along each axis that share an index
  int64_t volume = 1;
};
int64_t project(const Projection& to, std::span<const int64_t> index) {
  int64_t at = 0;
  for (size_t i = 0; i < index.size(); ++i) at += index[i] / to.divisors[i] * to.strides[i];
  return at;
}
/// Onto a tensor of `extents`, each 1, x's or a divisor of x's.
Projection projection(std::span<const int64_t> x, std::span<const int64_t> extents) {
  Projection result{Extents(x.size()), Extents(x.size(), 1)};
  const Extents strides = row_major_strides(extents);
  const size_t skip = x.size() - extents.size();
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 1) continue;
    result.strides[skip + i] = strides[i];
    result.divisors[skip + i] = x[skip + i] == 0 ? 1 : x[skip + i] / extents[i];
  }
  result.volume = volume(extents);
  return result;
}

/// Calls `visit(linear, index)` for every element.
template <class Visit>
void for_each_index(std::span<const int64_t> extents, Visit visit) {
  Extents index(extents.size());
  for (int64_t linear = 0; linear < volume(extents); ++linear) {
    visit(linear, index);
    for (size_t axis = extents.size(); axis-- > 0;) {
      if (++index[axis] < extents[axis]) break;
      index[axis] = 0;
    }
  }
}

struct Factor {
  std::vector<double> values;
  Projection to;
};
Result<std::optional<Factor>> factor_of(ReferenceContext& cx, int input, const View& x) {
  if (!cx.has_input(input)) return std::nullopt;
  const View view = TRY(cx.input(input));
  return Factor{view.numbers(), projection(x.extents(), view.extents())};
}

}  // namespace

bool Normalization::is_rms_of_rows(int rank) const {
  return !centered && groups == 1 && axes.size() == 1 && *normalize_axis(axes[0], rank) == rank - 1;
}

Status Normalization::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(cx.require(is_float(x.dtype), "x is ", x, "; Normalization takes a float type"));
  TRY(cx.require(!axes.empty(), "axes is empty; Normalization needs at least one axis to average over"));
  for (const int64_t axis : axes) TRY(cx.axis(axis, x));
  const std::vector<bool> reduced = TRY(reduced_axes(*this, x.rank()));
  TRY(cx.require(groups >= 1, "groups is ", groups, "; at least 1 is needed"));
  TRY(cx.require(epsilon >= 0, "epsilon is ", epsilon, "; it must not be negative"));
  if (groups > 1) {
    TRY(cx.require(x.rank() >= 2 && !reduced[1], "x ", x, " is normalised over axes ", axes, " in ", groups,
                   " groups of axis 1; axis 1 must exist and not be among the normalised axes"));
    const auto channels = x.shape[1].constant();
    TRY(cx.require(channels.has_value(), "x is ", x, "; with ", groups, " groups, axis 1 must be a constant"));
    TRY(cx.require(*channels % groups == 0, "x ", x, " has ", *channels, " channels, not a multiple of ", groups,
                   " groups"));
  }
  TRY(check_factor(*this, cx, 1, "scale"));
  TRY(check_factor(*this, cx, 2, "bias"));
  return cx.set_output(0, TensorType(x.dtype, x.shape));
}

Status Normalization::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  const std::vector<bool> reduced = TRY(reduced_axes(*this, x.rank()));
  Extents kept = x.extents();  // of the statistics
  for (size_t i = 0; i < kept.size(); ++i)
    if (reduced[i]) kept[i] = 1;
  if (groups > 1) kept[1] = groups;
  const Projection to = projection(x.extents(), kept);
  const std::vector<double> xs = x.numbers();
  const double count = static_cast<double>(x.volume()) / static_cast<double>(std::max<int64_t>(to.volume, 1));
  std::vector<double> means(static_cast<size_t>(to.volume)), variances(means);
  if (centered)
    for_each_index(x.extents(), [&](int64_t i, const Extents& index) {
      means[static_cast<size_t>(project(to, index))] += xs[static_cast<size_t>(i)] / count;
    });
  for_each_index(x.extents(), [&](int64_t i, const Extents& index) {
    const auto at = static_cast<size_t>(project(to, index));
    const double difference = xs[static_cast<size_t>(i)] - means[at];
    variances[at] += difference * difference / count;
  });
  const std::optional<Factor> scale = TRY(factor_of(cx, 1, x)), bias = TRY(factor_of(cx, 2, x));
  for_each_index(x.extents(), [&](int64_t i, const Extents& index) {
    const auto at = static_cast<size_t>(project(to, index));
    double value = (xs[static_cast<size_t>(i)] - means[at]) / std::sqrt(variances[at] + epsilon);
    if (scale) value *= scale->values[static_cast<size_t>(project(scale->to, index))];
    if (bias) value += bias->values[static_cast<size_t>(project(bias->to, index))];
    y.set(i, value);
  });
  return {};
}

}  // namespace ops
}  // namespace kiln
