/// Gathers in their three modes, row-major: kernels/gather.
#include "ops/gather.h"

#include <algorithm>

#include "backend/cuda/kernels/gather/gather.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

class GatherTactic final : public Tactic {
 public:
  std::string_view name() const override { return "gather"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const TensorType& data = cx.graph.input_type(root, 0);
    if (bits_of(data.dtype) < 8) return reject("data is ", data, "; elements of less than a byte are not moved");
    const auto& op = *cx.graph.node(root).op.as<ops::Gather>();
    if (op.mode == GatherMode::kDefault && op.num_elementwise_dims > 0)
      for (int axis = 0; axis < op.num_elementwise_dims; ++axis)
        if (data.shape[static_cast<size_t>(axis)] != cx.graph.input_type(root, 1).shape[static_cast<size_t>(axis)])
          return reject("elementwise axis ", axis, " of ", data, " broadcasts against ", cx.graph.input_type(root, 1));
    return single_node_region(cx.graph, root);
  }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {linear_variant(region, "row-major")};
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    const Op& op = cx.graph.node(region.nodes[0]).op;
    const auto& gather = *op.as<ops::Gather>();
    const TensorType &data = cx.graph.type(region.inputs[0]), &indices = cx.graph.type(region.inputs[1]);
    const int bytes = bits_of(data.dtype) / 8;
    std::vector<int> units;
    for (const auto at : {&TensorType::opt_extents, &TensorType::max_extents}) {
      const int unit = TRY(gather_launch(gather, bytes, 16, (data.*at)(), (indices.*at)())).unit_bytes;
      if (std::ranges::find(units, unit) == units.end()) units.push_back(unit);
    }
    if (std::ranges::find(units, bytes) == units.end()) units.push_back(bytes);
    StepDraft draft = cuda_step("gather");
    draft.payload = to_record(op);
    draft.binary = TRY(compile_kernel(cx, gather_source(gather.mode, indices.dtype, units)));
    return draft;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Gather>() {
  static const GatherTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cuda
