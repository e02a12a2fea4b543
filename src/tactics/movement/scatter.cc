#include "tactics/movement/scatter.h"

#include "ops/scatter.h"
#include "tactics/region.h"

namespace kiln {

Match ScatterRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const auto& op = *cx.graph.node(root).op.as<ops::Scatter>();
  const TensorType& data = cx.graph.input_type(root, 0);
  if (op.reduction != ScatterReduction::kNone)
    return reject("reduction ", enum_names(op.reduction)[static_cast<size_t>(op.reduction)],
                  ": kernels only write, one update of an element over the other");
  if (bits_of(data.dtype) < 8) return reject("data is ", data, "; elements of less than a byte are not moved");
  return single_node_region(cx.graph, root);
}

std::vector<Variant> ScatterRegions::variants(const TacticContext&, const Region& region) const {
  return {linear_variant(region, "row-major")};
}

}  // namespace kiln
