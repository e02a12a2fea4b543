#include "steps/matrix_multiply.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::MatrixMultiply>();

namespace kiln::steps {
namespace {}  // namespace

Status MatrixMultiply::check(const StepTypes& types) const {
  const DType a = types.inputs[0].dtype, b = types.inputs[1].dtype, y = types.outputs[0].dtype;
  TRY(require(is_kernel_float(a) && a == b && is_kernel_float(y), "a product of ", a, " and ", b, " cannot make ", y));
  TRY(require_linear(types, 1));
  return epilogue.check(types);
}

Status MatrixMultiply::check(const StepTypes&, const StepShapes& shapes) const {
  TRY(check_product(op, shapes));
  return epilogue.check(shapes, right_operand(shapes.inputs[1], op.b).cols);
}

}  // namespace kiln::steps
