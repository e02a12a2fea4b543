#include "steps/resize.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Resize>();

namespace kiln::steps {

Status Resize::check(const StepTypes& types) const {
  const auto& inputs = types.inputs;
  TRY(require(inputs.size() != 2, "a resize has two inputs; one or three are needed"));
  TRY(element_bytes(inputs[0].dtype));
  TRY(require_alike(types.outputs[0], inputs[0], "a resize's output"));
  const bool crops = op.coordinate == CoordinateTransformation::kTfCropAndResize;
  TRY(require(crops == (inputs.size() == 3 && inputs[1].present), "a resize ",
              crops ? "lacks its roi" : "has a roi that it does not use"));
  for (size_t i = 1; i < inputs.size(); ++i)
    TRY(require(!inputs[i].present || (inputs[i].dtype == DType::kF32 && inputs[i].rank == 1), "input ", i,
                " of a resize is ", inputs[i].dtype, " of rank ", inputs[i].rank, "; f32 of rank 1 is needed"));
  return {};
}

Status Resize::check(const StepTypes&, const StepShapes& shapes) const {
  const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
  return require(x.size() == y.size(), "a resize of ", x, " to ", y, " changes the rank");
}

}  // namespace kiln::steps
