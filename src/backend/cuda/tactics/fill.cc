/// Ramps and random numbers: kernels/fill.
#include "ops/fill.h"

#include "backend/cuda/kernels/fill/fill.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "steps/fill.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

class FillTactic final : public Tactic {
 public:
  std::string_view name() const override { return "fill"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const ir::Node& node = cx.graph.node(root);
    const auto& op = *node.op.as<ops::Fill>();
    const TensorType& y = cx.graph.type(node.outputs[0]);
    if (!can_fill(op.operation, y.dtype)) return reject("y is ", y, "; the kernel makes f32, f16, bf16, i32 and i64");
    const auto input = [&](size_t i) { return i < node.inputs.size() ? node.inputs[i] : ir::ValueId::kNone; };
    return Region{{root}, {input(1), input(2)}, {node.outputs[0]}, {}};  // its shape is the output's
  }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {linear_variant(region, "row-major")};
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    const Op& op = cx.graph.node(region.nodes[0]).op;
    StepDraft draft = cuda_step(steps::Fill{*op.as<ops::Fill>()});
    const DType type = cx.graph.type(region.outputs[0]).dtype;
    draft.binary = TRY(compile_kernel(cx, fill_source(op.as<ops::Fill>()->operation, type)));
    return draft;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Fill>() {
  static const FillTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cuda
