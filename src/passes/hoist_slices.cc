#include "passes/hoist_slices.h"

#include <algorithm>
#include <set>

#include "ops/concatenation.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/transpose.h"
#include "passes/reshape_to.h"
#include "passes/rewrite.h"
#include "passes/settle.h"
#include "tensor/refinement.h"

namespace kiln::passes {
namespace {

/// Starts, sizes and steps of a slice along each of `axes`, all constant, and nothing outside x.
struct Cut {
  std::vector<int64_t> axes, starts, sizes, strides;
};

std::optional<Cut> cut_of(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const auto* op = node.op.as<ops::Slice>();
  if (!op || op->mode != SliceMode::kStrictBounds) return std::nullopt;
  if (std::any_of(node.inputs.begin() + 1, node.inputs.end(), [](ir::ValueId v) { return v != ir::ValueId::kNone; }))
    return std::nullopt;
  const int rank = graph.input_type(id, 0).rank();
  Cut cut{op->axes, op->starts, op->sizes, op->strides};
  for (int axis = 0; op->axes.empty() && axis < rank; ++axis) cut.axes.push_back(axis);
  for (int64_t& axis : cut.axes)
    if (axis < 0) axis += rank;
  cut.strides.resize(cut.axes.size(), 1);
  return cut;
}

ops::Slice slice_of(const Cut& cut) {
  return {.starts = cut.starts, .sizes = cut.sizes, .strides = cut.strides, .axes = cut.axes};
}

/// Values that only Slices read. The set is made once, because a value may have thousands of Slices.
using OnlySliced = std::set<ir::ValueId>;

/// Whether Slices alone read the value, and together no more elements than it has.
bool is_only_sliced(const ir::Graph& graph, ir::ValueId value, OnlySliced& known) {
  if (known.contains(value)) return true;
  if (graph.is_output(value)) return false;
  double read = 0;  // extents may be huge where nothing is known of them
  for (const ir::NodeId user : graph.value(value).users) {
    if (!cut_of(graph, user)) return false;
    read += static_cast<double>(graph.output_type(user).volume().opt());
  }
  const bool fits = read <= static_cast<double>(graph.type(value).volume().opt());
  if (fits) known.insert(value);
  return fits;
}

Status above_transposes(ir::Graph& graph, PassContext&) {
  const ir::Pattern sliced = ir::op<ops::Slice>("y", ir::op<ops::Transpose>("t", ir::any("x")));
  OnlySliced known;
  return rewrite(graph, sliced, [&](const ir::Capture& found, ir::Patch& patch) -> Status {
    auto cut = cut_of(found.graph(), found.node_id("y"));
    if (!cut || !is_only_sliced(found.graph(), found.value("t"), known)) return {};
    const auto& perm = found.op<ops::Transpose>("t").perm;
    for (int64_t& axis : cut->axes) axis = perm[static_cast<size_t>(axis)];
    const ir::ValueId part = TRY(patch.add(slice_of(*cut), {found.value("x")}));
    return patch.replace(found.value("y"), TRY(patch.add(ops::Transpose{perm}, {part})));
  });
}

/// The part of a Concatenation along `axis` that holds [start, last], which becomes relative to it; -1 if none does.
int part_with(const ir::Graph& graph, const ir::Node& concatenation, size_t axis, int64_t& start, int64_t last) {
  int64_t begin = 0;
  for (size_t i = 0; i < concatenation.inputs.size(); ++i) {
    const auto extent = graph.type(concatenation.inputs[i]).shape[axis].constant();
    if (!extent) return -1;
    if (start >= begin && last < begin + *extent) return start -= begin, static_cast<int>(i);
    begin += *extent;
  }
  return -1;
}

Status into_concatenations(ir::Graph& graph, PassContext&) {
  const ir::Pattern sliced = ir::op<ops::Slice>("y", ir::op<ops::Concatenation>("joined"));
  return rewrite(graph, sliced, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    auto cut = cut_of(found.graph(), found.node_id("y"));
    if (!cut) return {};
    const ir::Node& joined = found.node("joined");
    const int axis = TRY(normalize_axis(found.op<ops::Concatenation>("joined").axis, found.type("joined").rank()));
    const auto at = static_cast<size_t>(std::ranges::find(cut->axes, axis) - cut->axes.begin());
    if (at == cut->axes.size() || cut->sizes[at] <= 0 || cut->strides[at] <= 0) return {};
    const int64_t last = cut->starts[at] + (cut->sizes[at] - 1) * cut->strides[at];
    const int part = part_with(found.graph(), joined, static_cast<size_t>(axis), cut->starts[at], last);
    if (part < 0) return {};
    const ir::ValueId x = joined.inputs[static_cast<size_t>(part)];
    const bool whole = found.graph().type(x).same_type(found.type("y")) &&
                       std::ranges::all_of(cut->starts, [](int64_t start) { return start == 0; }) &&
                       std::ranges::all_of(cut->strides, [](int64_t stride) { return stride == 1; });
    return patch.replace(found.value("y"), whole ? x : TRY(patch.add(slice_of(*cut), {x})));
  });
}

Status together(ir::Graph& graph, PassContext&) {
  const ir::Pattern two = ir::op<ops::Slice>("outer", ir::op<ops::Slice>("inner", ir::any("x")));
  return rewrite(graph, two, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    auto cut = cut_of(found.graph(), found.node_id("inner"));
    const auto outer = cut_of(found.graph(), found.node_id("outer"));
    if (!cut || !outer) return {};
    for (size_t i = 0; i < outer->axes.size(); ++i) {
      if (std::ranges::find(cut->axes, outer->axes[i]) != cut->axes.end()) return {};
      cut->axes.push_back(outer->axes[i]);
      cut->starts.push_back(outer->starts[i]);
      cut->sizes.push_back(outer->sizes[i]);
      cut->strides.push_back(outer->strides[i]);
    }
    return patch.replace(found.value("outer"), TRY(patch.add(slice_of(*cut), {found.value("x")})));
  });
}

/// For each axis of `to` the same axis of `from`, or -1 for an extent of 1. Nothing if the shapes differ in other
/// extents.
std::optional<std::vector<int>> axes_without_ones(const Shape& from, const Shape& to) {
  std::vector<int> map(to.size(), -1);
  size_t i = 0;
  const auto skip_ones = [&] {
    while (i < from.size() && from[i] == sym::Expr(1)) ++i;
  };
  for (size_t j = 0; j < to.size(); ++j) {
    if (to[j] == sym::Expr(1)) continue;
    skip_ones();
    if (i == from.size() || from[i] != to[j]) return std::nullopt;
    map[j] = static_cast<int>(i++);
  }
  skip_ones();
  return i == from.size() ? std::optional(map) : std::nullopt;
}

/// Slice(Reshape(Transpose(x))) where the Reshape only adds and drops axes of extent 1: it goes below.
Status above_reshapes(ir::Graph& graph, PassContext&) {
  const ir::Pattern sliced =
      ir::op<ops::Slice>("y", ir::op<ops::Reshape>("r", ir::op<ops::Transpose>("t", ir::any("x"))));
  OnlySliced known;
  return rewrite(graph, sliced, [&](const ir::Capture& found, ir::Patch& patch) -> Status {
    auto cut = cut_of(found.graph(), found.node_id("y"));
    const auto axes = axes_without_ones(found.type("t").shape, found.type("r").shape);
    if (!cut || !axes || !is_only_sliced(found.graph(), found.value("r"), known)) return {};
    for (int64_t& axis : cut->axes) {
      axis = (*axes)[static_cast<size_t>(axis)];
      if (axis < 0) return {};
    }
    const ir::ValueId part = TRY(patch.add(slice_of(*cut), {found.value("t")}));
    return patch.replace(found.value("y"), TRY(reshape_to(patch, part, found.type("y").shape)));
  });
}

/// Translates a cut behind a Reshape into a cut of `from`. The cut axis must be an axis of `from`, or the first of
/// those that such an axis is split into; the others of these must have constant extents. Nothing in all other cases.
std::optional<Cut> cut_before(const Cut& cut, const Shape& from, const Shape& to) {
  const auto refined = refine(from, to);
  if (!refined) return std::nullopt;
  Cut before;
  for (size_t i = 0; i < cut.axes.size(); ++i) {
    const auto& mine = refined->to[static_cast<size_t>(cut.axes[i])];
    if (mine.empty()) return std::nullopt;
    const auto owner = std::ranges::find_if(
        refined->from, [&](const auto& pieces) { return !pieces.empty() && pieces.front() == mine.front(); });
    if (owner == refined->from.end() || mine.back() > owner->back()) return std::nullopt;
    int64_t inner = 1;
    for (int64_t piece = mine.back() + 1; piece <= owner->back(); ++piece) {
      const auto extent = refined->pieces[static_cast<size_t>(piece)].constant();
      if (!extent) return std::nullopt;
      inner *= *extent;
    }
    if (inner != 1 && cut.strides[i] != 1) return std::nullopt;
    before.axes.push_back(owner - refined->from.begin());
    before.starts.push_back(cut.starts[i] * inner);
    before.sizes.push_back(cut.sizes[i] * inner);
    before.strides.push_back(cut.strides[i]);
  }
  return before;
}

/// Slice(Reshape(x)) whose elements are a Slice of x: the Reshape goes below, to meet what follows.
Status above_splits(ir::Graph& graph, PassContext&) {
  const ir::Pattern sliced = ir::op<ops::Slice>("y", ir::op<ops::Reshape>("r", ir::any("x")));
  return rewrite(graph, sliced, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const auto cut = cut_of(found.graph(), found.node_id("y"));
    const auto before = cut ? cut_before(*cut, found.type("x").shape, found.type("r").shape) : std::nullopt;
    if (!before) return {};
    const ir::ValueId part = TRY(patch.add(slice_of(*before), {found.value("x")}));
    return patch.replace(found.value("y"), TRY(reshape_to(patch, part, found.type("y").shape)));
  });
}

}  // namespace

Status hoist_slices(ir::Graph& graph, PassContext& cx) {
  return settle(graph, cx, {above_reshapes, above_splits, above_transposes, into_concatenations, together});
}

}  // namespace kiln::passes
