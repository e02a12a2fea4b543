/// Maximum and average pooling: kernels/pool.
#include "ops/pooling.h"

#include "backend/cpu/tactics/filter_window.h"
#include "backend/cpu/tactics/registry.h"
#include "tactics/region.h"

namespace kiln::cpu {
namespace {

class PoolingTactic final : public Tactic {
 public:
  std::string_view name() const override { return "pooling"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const auto& op = *cx.graph.node(root).op.as<ops::Pooling>();
    const TensorType& x = cx.graph.input_type(root, 0);
    if (x.dtype != DType::kF32) return reject("x is ", x, "; the kernel takes f32");
    if (op.kind == ops::PoolingKind::kMaxAverageBlend) return reject("the kernel has no blend of maximum and average");
    return single_node_region(cx.graph, root);
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    const Format last = Format::channels_last(cx.graph.type(region.inputs[0]).rank());
    return {{"channels last", {last}, {last}, {}, 0}, linear_variant(region, "channels first")};
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::Pooling>();
    StepDraft draft{.executor = "cpu", .kernel = "pooling", .payload = window_spec(op, op.window).record()};
    draft.payload.set("post_pads", or_all(op.post_pads, op.window.size(), 0));
    draft.payload.set("average", op.kind == ops::PoolingKind::kAverage)
        .set("excludes_padding", op.average_excludes_padding);
    return draft;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Pooling>() {
  static const PoolingTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
