/// Ramps and random numbers.
#include "ops/fill.h"

#include "backend/cpu/tactics/registry.h"
#include "steps/fill.h"
#include "tactics/region.h"

namespace kiln::cpu {
namespace {

class FillTactic final : public Tactic {
 public:
  std::string_view name() const override { return "fill"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const ir::Node& node = cx.graph.node(root);
    const TensorType& y = cx.graph.type(node.outputs[0]);
    if (y.dtype != DType::kF32 && y.dtype != DType::kI32 && y.dtype != DType::kI64)
      return reject("y is ", y, "; the kernel makes f32, i32 and i64");
    const auto input = [&](size_t i) { return i < node.inputs.size() ? node.inputs[i] : ir::ValueId::kNone; };
    return Region{{root}, {input(1), input(2)}, {node.outputs[0]}, {}};  // its shape is the output's
  }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {linear_variant(region, "row-major")};
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    return cpu_step(steps::Fill{*cx.graph.node(region.nodes[0]).op.as<ops::Fill>()});
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Fill>() {
  static const FillTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
