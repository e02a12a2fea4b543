/// Gathers in their three modes, row-major: kernels/gather.
#include "ops/gather.h"

#include "backend/cpu/tactics/registry.h"
#include "tactics/region.h"

namespace kiln::cpu {
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
    return StepDraft{.executor = "cpu", .kernel = "gather", .payload = to_record(cx.graph.node(region.nodes[0]).op)};
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Gather>() {
  static const GatherTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
