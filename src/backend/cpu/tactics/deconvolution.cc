#include "backend/cpu/tactics/deconvolution.h"

#include "backend/cpu/tactics/filter_window.h"
#include "backend/cpu/tactics/registry.h"
#include "ops/deconvolution.h"
#include "tactics/epilogue.h"

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
    if (!cx.graph.constant(node.inputs[1])) return reject("w is computed at run time; the kernel packs constants");
    return contraction_region(cx, root, *found);
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
    TRY(add_epilogue(draft, region));
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
