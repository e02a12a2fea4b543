#include "steps/quantized_matrix_multiply.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::QuantizedMatrixMultiply>();

namespace kiln::steps {

Status QuantizedMatrixMultiply::check() const {
  return require(op.a == ops::MatrixOp::kNone && op.b != ops::MatrixOp::kVector,
                 "a product of bytes takes a as it is, and a matrix b");
}

Status QuantizedMatrixMultiply::check(const StepTypes& types) const {
  TRY(require_linear(types, 1));
  return check_byte_operands(types, epilogue);
}

Status QuantizedMatrixMultiply::check(const StepTypes& types, const StepShapes& shapes) const {
  TRY(check_product(op, shapes));
  const ProductOperand b = right_operand(shapes.inputs[1], op.b);
  TRY(require(volume(b.batch) == 1, "a product of bytes has one matrix b, not ", shapes.inputs[1]));
  TRY(check_byte_sums(shapes.inputs[1], b.cols));
  TRY(epilogue.check(shapes, b.cols));
  return check_byte_operands(types, shapes, b.cols);
}

}  // namespace kiln::steps
