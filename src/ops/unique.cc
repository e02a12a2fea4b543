#include "ops/unique.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/define.h"

namespace kiln {
template const OpInfo& op_info<ops::Unique>();

namespace {

/// x as `count` slices along an axis: `outer` pieces of `inner` elements each.
struct Slices {
  const View& x;
  int64_t outer = 1, count = 1, inner = 1;

  int64_t size() const { return outer * inner; }
  int64_t index(int64_t slice, int64_t element) const {
    return (element / inner * count + slice) * inner + element % inner;
  }
  /// Less than 0 where a comes first, 0 where they are equal.
  int compare(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < size(); ++i)
      if (const int order = compare_elements(index(a, i), index(b, i)); order != 0) return order;
    return 0;
  }
  int compare_elements(int64_t a, int64_t b) const {
    if (!is_float(x.dtype())) return (x.integer(a) > x.integer(b)) - (x.integer(a) < x.integer(b));
    if (std::isnan(x[a]) || std::isnan(x[b])) return int{std::isnan(x[a])} - int{std::isnan(x[b])};
    return (x[a] > x[b]) - (x[a] < x[b]);
  }
};

Slices slices_of(const View& x, std::optional<int> axis) {
  if (!axis) return {x, 1, x.volume(), 1};
  const std::span<const int64_t> extents = x.extents();
  const auto at = static_cast<size_t>(*axis);
  return {x, volume(extents.first(at)), extents[at], volume(extents.subspan(at + 1))};
}

/// The slices in groups of equal ones, each ascending: the first of a group is its first in x.
std::vector<std::vector<int64_t>> groups_of(const Slices& slices, bool sorted) {
  std::vector<int64_t> order(static_cast<size_t>(slices.count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return slices.compare(a, b) < 0; });
  std::vector<std::vector<int64_t>> groups;
  for (const int64_t slice : order) {
    if (groups.empty() || slices.compare(groups.back()[0], slice) != 0) groups.emplace_back();
    groups.back().push_back(slice);
  }
  if (!sorted) std::ranges::sort(groups, {}, [](const std::vector<int64_t>& group) { return group[0]; });
  return groups;
}

Result<std::optional<int>> axis_of(std::optional<int> axis, int rank) {
  if (!axis) return std::nullopt;
  return TRY(normalize_axis(*axis, rank));
}

}  // namespace

namespace ops {

Status Unique::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const std::optional<int> along = TRY(axis_of(axis, x.rank()));
  const sym::Expr count = along ? x.shape[static_cast<size_t>(*along)] : sym::product(x.shape);
  const sym::Expr n = cx.decided_size("unique", count);
  kiln::Shape y{n};
  if (along) y = x.shape, y[static_cast<size_t>(*along)] = n;
  TRY(cx.set_output(0, {x.dtype, std::move(y)}));
  TRY(cx.set_output(1, {DType::kI64, {n}}));
  TRY(cx.set_output(2, {DType::kI64, {count}}));
  return cx.set_output(3, {DType::kI64, {n}});
}

Status Unique::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const std::optional<int> along = TRY(axis_of(axis, x.rank()));
  const Slices from = slices_of(x, along);
  const auto groups = groups_of(from, sorted);
  const int64_t n = std::ssize(groups);
  cx.set_size(0, n);
  Extents extents{n};
  if (along) extents = x.extents(), extents[static_cast<size_t>(*along)] = n;
  const MutableView y = TRY(cx.output(0, extents)), first = TRY(cx.output(1, Extents{n})), inverse = TRY(cx.output(2)),
                    counts = TRY(cx.output(3, Extents{n}));
  const Slices to{x, from.outer, n, from.inner};
  for (int64_t g = 0; g < n; ++g) {
    const std::vector<int64_t>& group = groups[static_cast<size_t>(g)];
    for (int64_t i = 0; i < from.size(); ++i) y.copy_element(to.index(g, i), x, from.index(group[0], i));
    first.set_integer(g, group[0]);
    counts.set_integer(g, std::ssize(group));
    for (const int64_t slice : group) inverse.set_integer(slice, g);
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
