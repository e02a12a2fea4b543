/// Images sampled between their pixels: kernels/sample.
#include "backend/cuda/compile/sample/sample.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "steps/grid_sample.h"
#include "steps/roi_align.h"
#include "tactics/whole_node.h"

namespace kiln::cuda {
namespace {

class GridSampleTactic final : public WholeNode<ops::GridSample, steps::GridSample> {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const TensorType &x = cx.graph.type(region.inputs[0]), &grid = cx.graph.type(region.inputs[1]);
    const ResizeMode mode = step_of(cx, region.nodes[0]).op.mode;
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    step.binary = TRY(compile_kernel(cx, grid_sample_source(x.dtype, grid.dtype, mode, x.rank() - 2)));
    return step;
  }
};

class RoiAlignTactic final : public WholeNode<ops::RoiAlign, steps::RoiAlign> {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const TensorType &x = cx.graph.type(region.inputs[0]), &rois = cx.graph.type(region.inputs[1]);
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    step.binary = TRY(compile_kernel(cx, roi_align_source(x.dtype, rois.dtype)));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::GridSample>() {
  return list_of<GridSampleTactic>();
}
template <>
TacticList tactics_of<ops::RoiAlign>() {
  return list_of<RoiAlignTactic>();
}

}  // namespace kiln::cuda
