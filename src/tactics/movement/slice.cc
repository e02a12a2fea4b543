#include "tactics/movement/slice.h"

#include <numeric>

#include "steps/slice.h"
#include "tactics/host_values.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {
namespace {

/// Numbers from the input if it is there, else from the attribute.
SymbolicValues given(const ir::Graph& graph, const ir::Node& node, size_t input,
                     const std::vector<int64_t>& attribute) {
  if (node.input(input) != ir::ValueId::kNone) return host_values(graph, node, input);
  return {attribute.begin(), attribute.end()};
}

}  // namespace

Result<SliceSpec> SliceRegions::spec_of(const ir::Graph& graph, const ir::Node& node) {
  const auto& op = *node.op.as<ops::Slice>();
  const TensorType& x = graph.type(node.inputs[0]);
  std::vector<int> axes;
  for (const sym::Expr& axis : given(graph, node, 5, op.axes))
    axes.push_back(TRY(normalize_axis(axis.constant().value_or(INT64_MAX), x.rank())));
  if (axes.empty()) {
    axes.resize(x.shape.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  return slice_spec(x, given(graph, node, 1, op.starts), given(graph, node, 2, op.sizes),
                    given(graph, node, 3, op.strides), axes);
}

Match SliceRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const ir::Node& node = cx.graph.node(root);
  const TensorType& x = cx.graph.type(node.inputs[0]);
  if (bits_of(x.dtype) < 8) return reject("x is ", x, "; elements of less than a byte are not moved");
  if (const auto spec = spec_of(cx.graph, node); !spec) return reject(spec.error().message);
  const ir::ValueId fill = node.input(4);
  return Region{{root}, {node.inputs[0], fill}, {node.outputs[0]}, {}};
}

std::vector<Variant> SliceRegions::variants(const TacticContext& cx, const Region& region) const {
  std::vector<Variant> result{linear_variant(region, "row-major")};
  const Format last = Format::channels_last(cx.graph.type(region.inputs[0]).rank());
  if (!last.is_linear()) result.push_back({"channels last", {last, {}}, {last}, {}, 0});
  return result;
}

Result<StepDraft> SliceRegions::draft(const TacticContext& cx, const Region& region, const Variant&) {
  const ir::Node& node = cx.graph.node(region.nodes[0]);
  const SliceSpec spec = TRY(spec_of(cx.graph, node));
  StepDraft draft = step_draft(steps::Slice{node.op.as<ops::Slice>()->mode});
  draft.params = spec.starts;
  draft.params.insert(draft.params.end(), spec.strides.begin(), spec.strides.end());
  return draft;
}

}  // namespace kiln
