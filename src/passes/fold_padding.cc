#include "passes/fold_padding.h"

#include <algorithm>

#include "ops/convolution.h"
#include "ops/pooling.h"
#include "ops/slice.h"
#include "passes/rewrite.h"
#include "passes/slice_spec_of.h"

namespace kiln::passes {
namespace {

/// Constant zeros before and after each spatial axis.
struct Pads {
  std::vector<int64_t> pre, post;
};

bool fills_with_zeros(const ir::Graph& graph, const ir::Node& node, const PassContext& cx) {
  if (node.op.as<ops::Slice>()->mode != SliceMode::kFill) return false;
  if (node.inputs.size() <= 4 || node.inputs[4] == ir::ValueId::kNone) return true;
  if (cx.refittable && graph.origin(node.inputs[4])) return false;
  const auto fill = ir::uniform_constant(graph, node.inputs[4]);
  return fill && *fill == 0;
}

/// The padding that a Slice adds around x, where that is all it does and batch and channels stay.
std::optional<Pads> pads_of(const ir::Graph& graph, ir::NodeId slice, const PassContext& cx) {
  if (!fills_with_zeros(graph, graph.node(slice), cx)) return std::nullopt;
  const auto spec = slice_spec_of(graph, slice);
  if (!spec) return std::nullopt;
  const Shape& x = graph.input_type(slice, 0).shape;
  Pads pads;
  for (size_t axis = 0; axis < x.size(); ++axis) {
    const sym::Expr before = -spec->starts[axis], after = spec->sizes[axis] - x[axis] - before;
    if (!before.is_const() || !after.is_const() || spec->strides[axis] != sym::Expr(1)) return std::nullopt;
    if (before.value() < 0 || after.value() < 0) return std::nullopt;
    if (axis >= 2)
      pads.pre.push_back(before.value()), pads.post.push_back(after.value());
    else if (before.value() != 0 || after.value() != 0)
      return std::nullopt;
  }
  return pads;
}

void add(std::vector<int64_t>& pads, const std::vector<int64_t>& more) {
  pads.resize(more.size(), 0);
  for (size_t i = 0; i < more.size(); ++i) pads[i] += more[i];
}

bool is_zero(const std::vector<int64_t>& pads) {
  return std::ranges::all_of(pads, [](int64_t pad) { return pad == 0; });
}

bool is_explicit(ops::PaddingMode mode) {
  return mode == ops::PaddingMode::kExplicitRoundDown || mode == ops::PaddingMode::kExplicitRoundUp;
}

Status into_convolution(const ir::Capture& found, ir::Patch& patch, const PassContext& cx) {
  auto op = found.op<ops::Convolution>("y");
  const auto pads = pads_of(found.graph(), found.node_id("padded"), cx);
  if (!pads || !is_explicit(op.padding)) return {};
  add(op.pre_pads, pads->pre), add(op.post_pads, pads->post);
  std::vector<ir::ValueId> inputs = found.node("y").inputs;
  inputs[0] = found.value("x");
  return patch.replace(found.value("y"), TRY(patch.add(op, inputs)));
}

Status into_pooling(const ir::Capture& found, ir::Patch& patch, const PassContext& cx) {
  auto op = found.op<ops::Pooling>("y");
  const auto pads = pads_of(found.graph(), found.node_id("padded"), cx);
  if (!pads || !is_explicit(op.padding) || op.kind != ops::PoolingKind::kAverage) return {};
  // The zeros counted; the Pooling's own pads must then count too, or be none.
  if (op.average_excludes_padding && !(is_zero(op.pre_pads) && is_zero(op.post_pads))) return {};
  // Rounding up, a window may end behind the pads: there the two ways to count differ.
  if (op.average_excludes_padding && op.padding != ops::PaddingMode::kExplicitRoundDown) return {};
  op.average_excludes_padding = false;
  add(op.pre_pads, pads->pre), add(op.post_pads, pads->post);
  return patch.replace(found.value("y"), TRY(patch.add(op, {found.value("x")})));
}

}  // namespace

Status fold_padding(ir::Graph& graph, PassContext& cx) {
  const ir::Pattern padded = ir::op<ops::Slice>("padded", ir::any("x"));
  TRY(rewrite(graph, ir::op<ops::Convolution>("y", padded),
              [&](const ir::Capture& found, ir::Patch& patch) { return into_convolution(found, patch, cx); }));
  return rewrite(graph, ir::op<ops::Pooling>("y", padded),
                 [&](const ir::Capture& found, ir::Patch& patch) { return into_pooling(found, patch, cx); });
}

}  // namespace kiln::passes
