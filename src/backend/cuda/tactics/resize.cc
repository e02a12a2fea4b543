/// Resampling, row-major or channels last: kernels/resize.
#include "tactics/resize.h"

#include <algorithm>

#include "backend/cuda/compile/lanes/tile.h"
#include "backend/cuda/compile/resize/resize.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"

namespace kiln::cuda {
namespace {

/// Number of axes from the first to the last one that may be resized, in memory's order.
int span_of(const std::vector<bool>& resized, const Format& format) {
  int first = static_cast<int>(resized.size()), last = -1;
  for (int position = 0; position < static_cast<int>(resized.size()); ++position)
    if (resized[static_cast<size_t>(format.axis_at(position))]) first = std::min(first, position), last = position;
  return std::max(0, last - first + 1);
}

class ResizeTactic final : public ResizeRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const steps::Resize step = step_of(cx, region);
    const TensorType &x = cx.graph.type(region.inputs[0]), &y = cx.graph.type(region.outputs[0]);
    const ResizePlan plan =
        TRY(plan_resize(step.op, step.from_sizes, x.opt_extents(), y.opt_extents(), variant.inputs[0]));
    const int element = bits_of(x.dtype) / 8;
    const ResizeTuning tuning{.width = vector_width(plan.inner, element)};
    StepDraft draft = cuda_step(step, tuning);
    std::vector<std::string> wanted;  // where shapes are known, few kernels are; else all
    if (x.is_static() && y.is_static())
      for (const ResizeLaunch& launch :
           resize_launches(plan, step.op.mode, element, tuning.width, device_of(cx).properties().num_multiprocessors))
        wanted.push_back(launch.entry);
    draft.binary = TRY(compile_kernel(cx, resize_source(step.op.mode, x.dtype, tuning.width, wanted)));
    return draft;
  }

 private:
  Status check(const Resampling& r) const override {
    TRY(require(can_resize(r.op.mode, r.x.dtype), "x is ", r.x, "; linear and cubic take f32, f16 and bf16"));
    TRY(require(!r.roi && !r.scales && r.op.coordinate != CoordinateTransformation::kTfCropAndResize,
                "where y lies in x is computed while running; the kernel's tables are made before"));
    for (const Format& format : {Format::linear(), Format::channels_last(r.x.rank())}) {
      const int span = span_of(r.resized, format);
      TRY(require(span <= kMostResizedAxes, "extents may change along ", span, " axes in a row; kernels have ",
                  kMostResizedAxes));
      TRY(plan_resize(r.op, r.sizes, planned_extents(r.x), planned_extents(r.y), format));
    }
    return {};
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Resize>() {
  return list_of<ResizeTactic>();
}

}  // namespace kiln::cuda
