#include "tactics/view.h"

namespace kiln {
namespace {

class ViewTactic final : public Tactic {
 public:
  std::string_view name() const override { return "view"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const ir::Node& node = cx.graph.node(root);
    return Region{{root}, {node.inputs[0]}, {node.outputs[0]}, {}};
  }
  std::vector<Variant> variants(const TacticContext&, const Region&) const override {
    return {{"view", {{}}, {{}}, {}, 0}};
  }
  Result<StepDraft> compile(const TacticContext&, const Region&, const Variant&) const override {
    return StepDraft();  // nothing runs
  }
};

}  // namespace

TacticList view_tactics() { return list_of<ViewTactic>(); }

}  // namespace kiln
