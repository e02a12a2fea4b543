#include "tactics/movement/concatenation.h"

#include <algorithm>

#include "ops/concatenation.h"
#include "ops/slice.h"
#include "ops/transpose.h"
#include "steps/concatenation.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"
#include "tactics/strided_view.h"

namespace kiln {

Match ConcatenationRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const TensorType& y = cx.graph.output_type(root);
  if (bits_of(y.dtype) < 8) return reject("y is ", y, "; elements of less than a byte are not moved");
  return single_node_region(cx.graph, root);
}

std::vector<Variant> ConcatenationRegions::variants(const TacticContext& cx, const Region& region) const {
  std::vector<Variant> result{linear_variant(region, "row-major")};
  const Format last = Format::channels_last(cx.graph.type(region.outputs[0]).rank());
  if (last.is_linear()) return result;
  Variant variant{"channels last", {}, {last}, {}, 0};
  for (const ir::ValueId input : region.inputs) {
    if (cx.graph.constant(input)) return result;  // constants are stored row-major
    variant.inputs.push_back(last);
  }
  result.push_back(std::move(variant));
  return result;
}

Result<int> ConcatenationRegions::position_of_axis(const TacticContext& cx, const Region& region,
                                                   const Variant& variant) {
  const int rank = cx.graph.type(region.outputs[0]).rank();
  const int axis = TRY(normalize_axis(cx.graph.node(region.nodes[0]).op.as<ops::Concatenation>()->axis, rank));
  int position = 0;
  while (variant.outputs[0].axis_at(position) != axis) ++position;
  return position;
}

Result<StepDraft> ConcatenationRegions::draft(const TacticContext& cx, const Region& region, const Variant& variant) {
  return step_draft(steps::Concatenation{.axis = TRY(position_of_axis(cx, region, variant))});
}

namespace {

/// The value in the memory of what nodes that only move it read; these are appended to `nodes`, consumers first.
StridedView view_behind(const ir::Graph& graph, ir::ValueId value, std::vector<ir::NodeId>& nodes) {
  std::vector<ir::NodeId> links;
  for (ir::ValueId at = value;;) {
    const ir::NodeId producer = graph.value(at).producer;
    if (producer == ir::NodeId::kNone || graph.is_output(at) || graph.num_uses(at) != 1 ||
        !keeps_rows_readable(graph, producer))
      break;
    links.push_back(producer);
    at = graph.node(producer).inputs[0];
  }
  for (;; links.pop_back()) {  // as far up as strides can tell
    std::optional<StridedView> view = whole_view(graph, links.empty() ? value : graph.node(links.back()).inputs[0]);
    for (size_t i = links.size(); view && i-- > 0;) view = moved_view(graph, links[i], *view);
    if (!view) continue;
    nodes.insert(nodes.end(), links.begin(), links.end());
    return *view;
  }
}

}  // namespace

Match ConcatenationOfViewsRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const ir::Node& node = cx.graph.node(root);
  const TensorType& y = cx.graph.output_type(root);
  if (bits_of(y.dtype) < 8) return reject("y is ", y, "; elements of less than a byte are not moved");
  const auto axis = normalize_axis(node.op.as<ops::Concatenation>()->axis, y.rank());
  Region region{{}, {}, node.outputs, to_record(steps::Concatenation{.axis = *axis, .of_views = true}), {}};
  for (const ir::ValueId input : node.inputs) {
    const StridedView view = view_behind(cx.graph, input, region.nodes);
    region.inputs.push_back(view.source);
    region.params.push_back(view.extents[static_cast<size_t>(*axis)]);
    region.params.push_back(view.offset);
    region.params.insert(region.params.end(), view.strides.begin(), view.strides.end());
  }
  if (std::ranges::none_of(region.nodes, [&](ir::NodeId id) {
        return cx.graph.node(id).op.as<ops::Slice>() || cx.graph.node(id).op.as<ops::Transpose>();
      }))
    return reject("it reads nothing that Slices or Transposes move");
  std::ranges::reverse(region.nodes);
  region.nodes.push_back(root);
  return region;
}

std::vector<Variant> ConcatenationOfViewsRegions::variants(const TacticContext&, const Region& region) const {
  return {linear_variant(region, "row-major")};
}

Result<StepDraft> ConcatenationOfViewsRegions::draft(const TacticContext&, const Region& region, const Variant&) {
  StepDraft result = step_draft(TRY(from_record<steps::Concatenation>(region.data)));
  result.params = region.params;
  return result;
}

}  // namespace kiln
