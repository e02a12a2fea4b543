#include "backend/cpu/tactics/deconvolution.h"

#include "backend/cpu/tactics/epilogue.h"
#include "backend/cpu/tactics/filter_window.h"
#include "backend/cpu/tactics/registry.h"
#include "ops/deconvolution.h"

namespace kiln::cpu {
namespace {

bool is_deconvolution(const Op& op) { return op.as<ops::Deconvolution>() != nullptr; }

class DeconvolutionTactic final : public Tactic {
 public:
  std::string_view name() const override { return "deconvolution"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    auto found = match_epilogue(cx.graph, root, is_deconvolution, 1);
    if (!found) return std::unexpected(found.error());
    const ir::Node& node = cx.graph.node(found->contraction);
    const TensorType& x = cx.graph.type(node.inputs[0]);
    if (x.dtype != DType::kF32) return reject("x is ", x, "; the kernel computes in f32");
    if (!cx.graph.constant(node.inputs[1])) return reject("w is computed at run time; the kernel packs constants");
    ir::ValueId bias = node.inputs.size() > 2 ? node.inputs[2] : ir::ValueId::kNone;
    if (bias != ir::ValueId::kNone && found->bias != ir::ValueId::kNone) return reject("there are two biases");
    if (bias == ir::ValueId::kNone) bias = found->bias;
    Region region{
        found->nodes, {node.inputs[0], node.inputs[1], bias, found->residual}, {cx.graph.node(root).outputs[0]}, {}};
    region.data.set("lo", found->lo).set("hi", found->hi);
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    const Format last = Format::channels_last(cx.graph.type(region.inputs[0]).rank());
    return {{"by phases", {last, {}, {}, last}, {last}, {}, 0}};
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::Deconvolution>();
    const Extents& w = cx.graph.constant(region.inputs[1])->extents();
    StepDraft draft{.executor = "cpu", .kernel = "deconvolution"};
    draft.payload = window_spec(op, Extents(w.begin() + 2, w.end())).record();
    draft.payload.set("groups", op.groups);
    draft.payload.set("lo", TRY(region.data.get_double("lo"))).set("hi", TRY(region.data.get_double("hi")));
    if (region.inputs[3] != ir::ValueId::kNone) draft.in_place_input = 3;
    return draft;
  }
};

}  // namespace

const Tactic& deconvolution_tactic() {
  static const DeconvolutionTactic tactic;
  return tactic;
}

template <>
TacticList tactics_of<ops::Deconvolution>() {
  static const Tactic* const kList[] = {&deconvolution_tactic()};
  return kList;
}

}  // namespace kiln::cpu
