/// Broadcasts that no nest could look through: kernels/move.
#include "ops/expand.h"

#include "backend/cuda/tactics/move.h"
#include "backend/cuda/tactics/registry.h"
#include "steps/expand.h"
#include "tactics/region.h"

namespace kiln::cuda {
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
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    const TensorType &x = cx.graph.type(region.inputs[0]), &y = cx.graph.type(region.outputs[0]);
    StepDraft draft = cuda_step(steps::Expand{});
    draft.binary = TRY(compile_moves(device_of(cx), x.dtype,
                                     [&](ExtentsOf at) { return std::vector{expand_copy((x.*at)(), (y.*at)())}; }));
    return draft;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Expand>() {
  static const ExpandTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cuda
