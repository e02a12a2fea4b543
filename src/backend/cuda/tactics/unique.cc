/// Different elements, or slices of few: kernels/sort.
#include "steps/unique.h"

#include "backend/cuda/compile/sort/unique.h"
#include "backend/cuda/kernels/sort/unique.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/whole_node.h"

namespace kiln::cuda {
namespace {

class UniqueTactic final : public WholeNode<ops::Unique, steps::Unique> {
 public:
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const sym::Expr size = slice_size(cx, root);
    if (size.min() < 1 || size.max() > kMostUniqueSlice)
      return reject("slices of ", size, " elements; kernels compare those of 1 to ", kMostUniqueSlice);
    return WholeNode::match(cx, root);
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    const bool of_slices = slice_size(cx, region.nodes[0]).max() > 1;
    step.binary = TRY(compile_kernel(cx, unique_source(cx.graph.type(region.inputs[0]).dtype, of_slices)));
    return step;
  }

 private:
  /// Elements of a slice.
  static sym::Expr slice_size(const TacticContext& cx, ir::NodeId node) {
    const TensorType& x = cx.graph.type(cx.graph.node(node).inputs[0]);
    const std::optional<int> axis = step_of(cx, node).op.axis;
    Shape others = axis ? x.shape : Shape{};
    if (axis) others.erase(others.begin() + (*axis < 0 ? *axis + x.rank() : *axis));
    return sym::product(others);
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Unique>() {
  return list_of<UniqueTactic>();
}

}  // namespace kiln::cuda
