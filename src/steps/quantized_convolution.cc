#include "steps/quantized_convolution.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::QuantizedConvolution>();

namespace kiln::steps {

Status QuantizedConvolution::check(const StepTypes& types) const {
  TRY(window.check_ranks(types));
  return check_byte_operands(types, epilogue);
}

Status QuantizedConvolution::check(const StepTypes& types, const StepShapes& shapes) const {
  const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
  TRY(window.check(x, y));
  TRY(window.check_filter(shapes.inputs[1], is_depthwise ? y[1] : 1, y[1], x[1]));
  TRY(require(!is_depthwise || x[1] == y[1], "a depthwise convolution of bytes makes ", y[1], " channels of ", x[1]));
  TRY(check_byte_sums(shapes.inputs[1], y[1]));
  TRY(epilogue.check(shapes, y[1]));
  return check_byte_operands(types, shapes, y[1]);
}

}  // namespace kiln::steps
