#include "steps/deconvolution.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Deconvolution>();

namespace kiln::steps {

Status Deconvolution::check() const {
  return require(groups >= 1 && groups < int64_t{1} << 31, "a deconvolution has ", groups,
                 " groups; 1 to 2^31 - 1 are possible");
}

Status Deconvolution::check(const StepTypes& types) const {
  TRY(window.check(types));
  return epilogue.check(types);
}

Status Deconvolution::check(const StepTypes&, const StepShapes& shapes) const {
  const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
  TRY(window.check(y, x));
  TRY(window.check_filter(shapes.inputs[1], groups, x[1], y[1]));  // of the convolution that makes x of y
  return epilogue.check(shapes, y[1]);
}

}  // namespace kiln::steps
