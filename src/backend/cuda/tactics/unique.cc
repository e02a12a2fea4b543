/// Different elements: kernels/sort.
#include "steps/unique.h"

#include "backend/cuda/compile/sort/unique.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/whole_node.h"

namespace kiln::cuda {
namespace {

class UniqueTactic final : public WholeNode<ops::Unique, steps::Unique> {
 public:
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const TensorType& x = cx.graph.type(cx.graph.node(root).inputs[0]);
    if (step_of(cx, root).op.axis && x.rank() > 1) return reject("slices of x ", x, "; kernels compare elements");
    return WholeNode::match(cx, root);
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    step.binary = TRY(compile_kernel(cx, unique_source(cx.graph.type(region.inputs[0]).dtype)));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Unique>() {
  return list_of<UniqueTactic>();
}

}  // namespace kiln::cuda
