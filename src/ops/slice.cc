#include "ops/slice.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::Slice>();

int64_t slice_coordinate(SliceMode mode, int64_t i, int64_t extent) {
  if (i >= 0 && i < extent) return i;
  if (extent == 0) return -1;
  switch (mode) {
    case SliceMode::kStrictBounds:
    case SliceMode::kFill: return -1;
    case SliceMode::kWrap: return (i % extent + extent) % extent;
    case SliceMode::kClamp: return i < 0 ? 0 : extent - 1;
    case SliceMode::kReflect: {
      if (extent == 1) return 0;
      const int64_t period = 2 * (extent - 1);
      const int64_t at = std::abs(i % period);
      return at < extent ? at : period - at;
    }
  }
  return -1;
}

SliceRange clamped_range(sym::Expr extent, sym::Expr start, sym::Expr end, int64_t step) {
  CHECK(step != 0);
  const auto from_front = [&](sym::Expr at) { return at + extent * sym::less(at, 0); };
  const auto clamp = [](sym::Expr at, sym::Expr low, sym::Expr high) { return sym::max(low, sym::min(at, high)); };
  if (step > 0) {
    const auto inside = [&](sym::Expr at) {
      // In this form the extent cancels in the size: x[-1:] has min(extent, 1) elements, which is 1 for every extent
      // above 0.
      if (at.is_const() && at.value() < 0 && at.value() > INT64_MIN) return extent - sym::min(extent, -at.value());
      return clamp(from_front(at), 0, extent);
    };
    const sym::Expr first = inside(start), last = inside(end);
    if (start.is_const() && end.is_const() && (start.value() < 0) == (end.value() < 0) && start.value() > INT32_MIN &&
        end.value() < INT32_MAX) {  // at most so many, however long the axis is
      const int64_t most = std::max<int64_t>(0, end.value() - start.value());
      if (most == 0) return {first, 0};  // also because INT64_MIN has no negative
      const int64_t missed = start.value() < 0 ? -end.value() : start.value();
      return {first, sym::ceil_div(sym::min(sym::max(extent - missed, 0), most), step)};
    }
    return {first, sym::max(0, sym::ceil_div(last - first, step))};
  }
  // The order matters: with an extent of 0 both `first` and `last` become -1.
  const sym::Expr first = sym::min(sym::max(0, from_front(start)), extent - 1);
  const sym::Expr last = clamp(from_front(end), -1, extent - 1);
  return {first, sym::max(0, sym::ceil_div(first - last, -step))};
}

Result<SliceSpec> slice_spec(const TensorType& x, const std::vector<sym::Expr>& starts,
                             const std::vector<sym::Expr>& sizes, const std::vector<sym::Expr>& strides,
                             std::span<const int> axes) {
  const size_t count = axes.size();
  TRY(require(starts.size() == count && sizes.size() == count && (strides.size() == count || strides.empty()),
              "slice of ", x, " along ", count, " axes has ", starts.size(), " starts, ", sizes.size(), " sizes and ",
              strides.size(), " strides"));
  const size_t rank = x.shape.size();
  SliceSpec spec{std::vector<sym::Expr>(rank, 0), x.shape, std::vector<sym::Expr>(rank, 1)};
  for (size_t i = 0; i < count; ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    spec.starts[axis] = starts[i];
    spec.sizes[axis] = sizes[i];
    if (!strides.empty()) spec.strides[axis] = strides[i];
  }
  return spec;
}

Sources slice_sources(std::span<const int64_t> from, std::span<const int64_t> to, std::span<const int64_t> starts,
                      std::span<const int64_t> strides, SliceMode mode) {
  const Extents steps = row_major_strides(from);
  Sources sources(static_cast<size_t>(volume(to)));
  for_each_index(to, [&](int64_t linear, std::span<const int64_t> index) {
    int64_t source = 0;
    for (size_t i = 0; i < from.size() && source >= 0; ++i) {
      const int64_t at = slice_coordinate(mode, starts[i] + index[i] * strides[i], from[i]);
      source = at < 0 ? -1 : source + at * steps[i];
    }
    sources[static_cast<size_t>(linear)] = source;
  });
  return sources;
}

namespace {
std::vector<int> all_axes(int rank) {
  std::vector<int> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}
bool is_whole(const SliceSpec& spec, const TensorType& x, size_t axis) {
  return spec.starts[axis] == sym::Expr(0) && spec.sizes[axis] == x.shape[axis] && spec.strides[axis] == sym::Expr(1);
}
std::optional<Extents> constants(const std::vector<sym::Expr>& exprs) {
  Extents result;
  for (const sym::Expr& e : exprs) {
    if (!e.is_const()) return std::nullopt;
    result.push_back(e.value());
  }
  return result;
}

/// Every coordinate of an axis lies inside: proven, disproven or assumed.
Status require_in_bounds(InferContext& cx, const SliceSpec& spec, const TensorType& x, size_t axis) {
  const sym::Expr start = spec.starts[axis], size = spec.sizes[axis], stride = spec.strides[axis];
  const sym::Expr extent = x.shape[axis];
  if (is_whole(spec, x, axis) || sym::provably_equal(size, 0)) return {};
  const sym::Expr last = start + (size - 1) * stride;
  if (start.is_const() && last.is_const() && extent.is_const()) {
    const int64_t low = std::min(start.value(), last.value()), high = std::max(start.value(), last.value());
    return cx.require(low >= 0 && high < extent.value(), "slice of ", x, " reads axis ", axis, " from ", start, " to ",
                      last, ", outside [0, ", extent, "); strict bounds allow no coordinate outside");
  }
  const auto why = str("slice of ", x, " reads axis ", axis, " from ", start, " to ", last, " in strict bounds");
  const auto at_least_0 = [&](sym::Expr at) {
    return sym::assume(cx.assumptions(), {sym::Relation::kLessEqual, 0, at, why});
  };
  const auto inside = [&](sym::Expr at) {
    return sym::assume(cx.assumptions(), {sym::Relation::kLessEqual, at + 1, extent, why});
  };
  // An empty slice must pass with any start that clamping gives. So each end is checked only against the bound that the
  // direction could make it cross.
  const bool forward = sym::provably_less_equal(0, stride), backward = sym::provably_less_equal(stride, 0);
  if (!backward) TRY(at_least_0(start)), TRY(inside(last));
  if (!forward) TRY(at_least_0(last)), TRY(inside(start));
  if (forward && backward) TRY(at_least_0(start)), TRY(inside(start));
  return {};
}

/// Gives y its values where the starts or strides of a slice in strict bounds are known at run time only.
Status add_moving_values(InferContext& cx, const SliceSpec& spec, SliceMode mode, TensorType& y) {
  const TensorType& x = TRY(cx.input(0));
  if (mode != SliceMode::kStrictBounds || !carries_values(y) || !x.values) return {};
  const Extents from = TRY(x.extents()), to = TRY(y.extents()), steps = row_major_strides(from);
  if (volume(from) > kMaxSymbolicValues || volume(to) > kMaxSymbolicValues) return {};
  SymbolicValues values;
  for_each_index(to, [&](int64_t, std::span<const int64_t> index) {
    sym::Expr source = 0;
    for (size_t i = 0; i < from.size(); ++i)
      source += steps[i] * sym::within(spec.starts[i] + index[i] * spec.strides[i], from[i]);
    values.push_back(value_at(x.dtype, *x.values, source));
  });
  give_values(y, std::move(values));
  return {};
}

Status require_fill(InferContext& cx, const TensorType& x) {
  if (!cx.has_input(4)) return {};
  const TensorType& fill = TRY(cx.input(4));
  TRY(cx.require(fill.dtype == x.dtype, "fill is ", fill, " and x is ", x, "; they must have one element type"));
  return cx.assume_equal(fill.volume(), 1, str("fill is ", fill, "; it must have one element"));
}
}  // namespace

namespace ops {

Status Slice::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const bool given = !axes.empty() || cx.has_input(5);
  const std::vector<int> along = given ? TRY(axes_of(cx, 5, axes, x.rank())) : all_axes(x.rank());
  const SymbolicValues from = TRY(dims_of(cx, 1, starts, "starts")), to = TRY(dims_of(cx, 2, sizes, "sizes"));
  const SliceSpec spec = TRY(slice_spec(x, from, to, TRY(dims_of(cx, 3, strides, "strides")), along));
  TRY(require_fill(cx, x));
  for (size_t i = 0; i < x.shape.size(); ++i) {
    TRY(cx.require(spec.sizes[i].max() >= 0, "size ", spec.sizes[i], " of axis ", i, " is negative; x is ", x));
    const sym::Expr last = spec.starts[i] + (spec.sizes[i] - 1) * spec.strides[i];
    TRY(cx.require(last.is_valid() || sym::provably_equal(spec.sizes[i], 0), "slice of ", x, " reads axis ", i,
                   " from ", spec.starts[i], " in ", spec.sizes[i], " steps of ", spec.strides[i], ": ",
                   last.why_invalid()));
    if (mode == SliceMode::kStrictBounds) TRY(require_in_bounds(cx, spec, x, i));
    if (mode != SliceMode::kStrictBounds && mode != SliceMode::kFill)
      TRY(cx.require(x.shape[i] != sym::Expr(0) || spec.sizes[i] == sym::Expr(0), "axis ", i, " of ", x,
                     " is empty; mode ", mode, " has nothing to read there"));
  }
  TensorType y(x.dtype, spec.sizes);
  const auto at = constants(spec.starts), by = constants(spec.strides);
  if (!at || !by) {
    TRY(add_moving_values(cx, spec, mode, y));
    return cx.set_output(0, std::move(y));
  }
  return set_moved_output(cx, 0, std::move(y), [&](const Extents& source, const Extents& target) {
    return slice_sources(source, target, *at, *by, mode);
  });
}

Status Slice::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  const auto numbers = [&](int i, const std::vector<int64_t>& attribute) -> Result<std::vector<int64_t>> {
    if (!cx.has_input(i)) return attribute;
    return TRY(cx.input(i)).integers();
  };
  const std::vector<int64_t> along = TRY(numbers(5, axes)), from = TRY(numbers(1, starts)),
                             by = TRY(numbers(3, strides));
  const std::vector<int> order = along.empty() ? all_axes(x.rank()) : TRY(distinct_axes(along, x.rank()));
  Extents at(x.extents().size(), 0), step(x.extents().size(), 1);
  for (size_t i = 0; i < order.size(); ++i) {
    at[static_cast<size_t>(order[i])] = from[i];
    if (!by.empty()) step[static_cast<size_t>(order[i])] = by[i];
  }
  const Sources sources = slice_sources(x.extents(), y.extents(), at, step, mode);
  move_elements(x, y, sources);
  const bool filled = std::ranges::any_of(sources, [](int64_t source) { return source < 0; });
  TRY(require(!filled || mode == SliceMode::kFill, "a coordinate lies outside x, in mode ", mode));
  if (!filled || !cx.has_input(4)) {
    for (size_t k = 0; k < sources.size(); ++k)
      if (sources[k] < 0) y.set_integer(static_cast<int64_t>(k), 0);
    return {};
  }
  const View fill = TRY(cx.input(4));
  for (size_t k = 0; k < sources.size(); ++k)
    if (sources[k] < 0) y.copy_element(static_cast<int64_t>(k), fill, 0);
  return {};
}

}  // namespace ops
}  // namespace kiln
