/// Broadcasts that no nest could look through: kernels/copy.
#include "ops/expand.h"

#include "backend/cpu/tactics/registry.h"
#include "steps/expand.h"
#include "tactics/region.h"

namespace kiln::cpu {
namespace {

class ExpandTactic final : public Tactic {
 public:
  std::string_view name() const override { return "expand"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const ir::Node& node = cx.graph.node(root);
    const TensorType& x = cx.graph.type(node.inputs[0]);
    if (bits_of(x.dtype) < 8) return reject("x is ", x, "; elements of less than a byte are not moved");
    return Region{{root}, {node.inputs[0]}, {node.outputs[0]}, {}};
  }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {linear_variant(region, "copy")};
  }
  Result<StepDraft> compile(const TacticContext&, const Region&, const Variant&) const override {
    return cpu_step(steps::Expand{});
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Expand>() {
  static const ExpandTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
