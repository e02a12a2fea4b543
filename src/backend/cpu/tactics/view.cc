#include "backend/cpu/tactics/view.h"

#include "backend/cpu/tactics/registry.h"

namespace kiln {
namespace ops {
struct Reshape;
struct Squeeze;
struct Unsqueeze;
struct Identity;
}  // namespace ops

namespace cpu {
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
    return StepDraft{.executor = "cpu", .kernel = "view"};
  }
};

}  // namespace

const Tactic& view_tactic() {
  static const ViewTactic tactic;
  return tactic;
}

namespace {
const Tactic* const kViews[] = {&view_tactic()};
}
template <>
TacticList tactics_of<ops::Reshape>() {
  return kViews;
}
template <>
TacticList tactics_of<ops::Squeeze>() {
  return kViews;
}
template <>
TacticList tactics_of<ops::Unsqueeze>() {
  return kViews;
}
template <>
TacticList tactics_of<ops::Identity>() {
  return kViews;
}

}  // namespace cpu
}  // namespace kiln
