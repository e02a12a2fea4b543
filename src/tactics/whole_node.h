/// Tactics of ops whose step is the op.
#pragma once

#include "steps/step_tensors.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {

/// Takes a node alone, row-major, where `Step`, whose field `op` is an `Op`, takes its types.
template <class Op, class Step>
class WholeNode : public Tactic {
 public:
  std::string_view name() const override { return Step::name; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const ir::Node& node = cx.graph.node(root);
    StepTypes types{.num_sizes = static_cast<int>(std::ssize(node.sizes))};
    for (const ir::ValueId value : node.inputs) types.inputs.push_back(tensor_of(cx, value));
    for (const ir::ValueId value : node.outputs) types.outputs.push_back(tensor_of(cx, value));
    if (const Status taken = AnyStep(step_of(cx, root)).check(types); !taken) return reject(taken.error().message);
    return single_node_region(cx.graph, root);
  }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {linear_variant(region, "row-major")};
  }

 protected:
  static Step step_of(const TacticContext& cx, ir::NodeId node) {
    return {.op = *cx.graph.node(node).op.template as<Op>()};
  }
  /// Its step, for every backend.
  static Result<StepDraft> draft(const TacticContext& cx, const Region& region, const Variant&) {
    return step_draft(step_of(cx, region.nodes[0]));
  }

 private:
  static StepTensor tensor_of(const TacticContext& cx, ir::ValueId value) {
    if (value == ir::ValueId::kNone) return {.present = false};
    const TensorType& type = cx.graph.type(value);
    return {.dtype = type.dtype, .format = {}, .rank = type.rank()};
  }
};

}  // namespace kiln
