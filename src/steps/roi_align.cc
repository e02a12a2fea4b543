#include "steps/roi_align.h"

#include "steps/define.h"
#include "steps/inferred.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::RoiAlign>();

namespace kiln::steps {

Status RoiAlign::check(const StepTypes& types) const {
  const StepTensor &x = types.inputs[0], &rois = types.inputs[1];
  TRY(require(is_kernel_float(x.dtype) && is_kernel_float(rois.dtype), "roi_align of ", x.dtype, " in ", rois.dtype,
              "; f32, f16 and bf16 are possible"));
  TRY(require(op.sampling_ratio <= ops::kMostRoiSamples, "roi_align of ", op.sampling_ratio,
              " samples along a bin; kernels take ", ops::kMostRoiSamples, " at most"));
  TRY(require(is_index(types.inputs[2].dtype), "roi_align's batch_indices are ", types.inputs[2].dtype));
  return require_alike(types.outputs[0], x, "roi_align's output");
}

Status RoiAlign::check(const StepTypes& types, const StepShapes& shapes) const {
  TRY(require_inferred(op, types, shapes));
  const int64_t plane = volume(std::span(shapes.inputs[0]).subspan(2)), bins = int64_t{op.height} * op.width;
  return require(plane < int64_t{1} << 31 && bins < int64_t{1} << 31, "an image of ", plane, " pixels in ", bins,
                 " bins; fewer than 2^31 needed");
}

}  // namespace kiln::steps
