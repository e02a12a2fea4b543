#include "tactics/normalization.h"

#include <algorithm>

#include "ops/normalization.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {
namespace {

/// The axes [first, rank) are normalised?
bool is_innermost(const ops::Normalization& op, int rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (const int64_t axis : op.axes) reduced[static_cast<size_t>(*normalize_axis(axis, rank))] = true;
  const auto first = std::ranges::find(reduced, true);
  return first != reduced.end() && std::all_of(first, reduced.end(), [](bool r) { return r; });
}

/// Whether a coefficient has exactly the extents of x's axes [first, last] and 1 elsewhere.
bool spans(const TensorType& coefficient, const TensorType& x, int first, int last) {
  const int missing = x.rank() - coefficient.rank();
  for (int axis = 0; axis < x.rank(); ++axis) {
    const sym::Expr extent = axis < missing ? sym::Expr(1) : coefficient.shape[static_cast<size_t>(axis - missing)];
    const sym::Expr wanted = axis >= first && axis <= last ? x.shape[static_cast<size_t>(axis)] : sym::Expr(1);
    if (!sym::provably_equal(extent, wanted)) return false;
  }
  return true;
}

}  // namespace

Match NormalizationRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const ir::Graph& graph = cx.graph;
  if (graph.node(root).op.as<ops::Normalization>()) return match_norm(cx, root);
  const auto quantized = quantized_result(graph, root, reach(cx));
  if (!quantized) return std::unexpected(quantized.error());
  if (!graph.producer_as<ops::Normalization>(quantized->x)) return reject("no normalisation makes what is quantized");
  if (graph.is_output(quantized->x)) return reject("what is quantized is an output");
  Match region = match_norm(cx, graph.value(quantized->x).producer);
  if (!region) return region;
  if (!step_of(*region)->rows) return reject("kernels that normalise planes do not quantize");
  region->nodes.push_back(root);
  region->inputs.insert(region->inputs.end(), {quantized->scale, quantized->zero});
  if (graph.num_uses(quantized->x) == 1) region->outputs.clear();
  region->outputs.push_back(graph.node(root).outputs[0]);
  return region;
}

Match NormalizationRegions::match_norm(const TacticContext& cx, ir::NodeId root) const {
  const ir::Node& node = cx.graph.node(root);
  const auto& op = *node.op.as<ops::Normalization>();
  const TensorType& x = cx.graph.type(node.inputs[0]);
  if (const std::string_view why = why_not(x.dtype); !why.empty()) return reject("x is ", x, "; ", why);
  if (!is_innermost(op, x.rank())) return reject("axes ", op.axes, " are not the innermost of ", x);
  Region region = single_node_region(cx.graph, root);
  region.inputs.resize(3, ir::ValueId::kNone);
  const int first = x.rank() - static_cast<int>(op.axes.size());
  const auto coefficients_span = [&](int from, int to) {
    return std::all_of(region.inputs.begin() + 1, region.inputs.end(), [&](ir::ValueId value) {
      return value == ir::ValueId::kNone || spans(cx.graph.type(value), x, from, to);
    });
  };
  const bool rows = op.groups == 1 && coefficients_span(first, x.rank() - 1);
  if (!rows && !op.centered)
    return reject("it has no mean, and its coefficients do not span the normalised axes ", op.axes, " of ", x);
  const bool one_group = first == 1 && op.groups == 1;  // of all channels
  const bool planes = (first == 2 || one_group) && coefficients_span(1, 1);
  if (!rows && !planes)
    return reject("the coefficients span neither the normalised axes ", op.axes, " of ", x, " nor its channels");
  // Without groups, a plane of a channel is normalised by itself: as many groups as channels.
  const bool apart = !rows && !one_group && op.groups == 1;
  const auto channels = apart ? x.shape[1].constant() : std::nullopt;
  if (apart && !channels) return reject("the channels of ", x, " are dynamic");
  region.data = to_record(steps::Normalization{.rows = rows,
                                               .axes = static_cast<int>(op.axes.size()),
                                               .groups = apart ? *channels : op.groups,
                                               .epsilon = op.epsilon,
                                               .centered = op.centered});
  return region;
}

std::vector<Variant> NormalizationRegions::variants(const TacticContext& cx, const Region& region) const {
  std::vector<Variant> result{linear_variant(region, "row-major")};
  const Format last = Format::channels_last(cx.graph.type(region.inputs[0]).rank());
  if (!step_of(region)->rows && !last.is_linear()) result.push_back({"channels last", {last, {}, {}}, {last}, {}, 0});
  return result;
}

Result<StepDraft> NormalizationRegions::draft(const TacticContext&, const Region& region, const Variant&) {
  const bool writes_floats = !is_quantized(region) || region.outputs.size() > 1;
  return step_draft(TRY(step_of(region)), writes_floats ? 0 : -1);
}

}  // namespace kiln
