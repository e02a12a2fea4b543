/// Slices in any mode: kernels/move.
#include "ops/slice.h"

#include "backend/cuda/compile/move/move.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/tactics/move.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/movement/slice.h"

namespace kiln::cuda {
namespace {

class SliceTactic final : public SliceRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const ir::Node& node = cx.graph.node(region.nodes[0]);
    const SliceSpec spec = TRY(spec_of(cx.graph, node));
    const SliceMode mode = node.op.as<ops::Slice>()->mode;
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    const TensorType &x = cx.graph.type(region.inputs[0]), &y = cx.graph.type(region.outputs[0]);
    if (mode != SliceMode::kStrictBounds) {
      step.binary = TRY(compile_kernel(cx, slice_source(bits_of(x.dtype) / 8, mode)));
      return step;
    }
    const auto ordered = [&](const Extents& extents) { return in_memory_order(variant.outputs[0], extents); };
    step.binary = TRY(compile_moves(device_of(cx), x.dtype, [&](ExtentsOf at) {
      return std::vector{slice_copy(ordered((x.*at)()), ordered((y.*at)()), ordered(at_optimum(spec.starts)),
                                    ordered(at_optimum(spec.strides)))};
    }));
    return step;
  }

 private:
  static Extents at_optimum(const std::vector<sym::Expr>& values) {
    Extents result;
    for (const sym::Expr& value : values) result.push_back(value.opt());
    return result;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Slice>() {
  return list_of<SliceTactic>();
}

}  // namespace kiln::cuda
