#include "tactics/movement/gather.h"

#include "ops/gather.h"
#include "steps/gather.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {

Match GatherRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const TensorType& data = cx.graph.input_type(root, 0);
  if (bits_of(data.dtype) < 8) return reject("data is ", data, "; elements of less than a byte are not moved");
  const auto& op = *cx.graph.node(root).op.as<ops::Gather>();
  if (op.mode == GatherMode::kDefault && op.num_elementwise_dims > 0)
    for (int axis = 0; axis < op.num_elementwise_dims; ++axis)
      if (data.shape[static_cast<size_t>(axis)] != cx.graph.input_type(root, 1).shape[static_cast<size_t>(axis)])
        return reject("elementwise axis ", axis, " of ", data, " broadcasts against ", cx.graph.input_type(root, 1));
  return single_node_region(cx.graph, root);
}

std::vector<Variant> GatherRegions::variants(const TacticContext&, const Region& region) const {
  return {linear_variant(region, "row-major")};
}

Result<StepDraft> GatherRegions::draft(const TacticContext& cx, const Region& region, const Variant&) {
  return step_draft(steps::Gather{*cx.graph.node(region.nodes[0]).op.as<ops::Gather>()});
}

}  // namespace kiln
