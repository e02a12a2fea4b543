#include "steps/gated_product.h"

#include <cmath>

#include "steps/define.h"
#include "steps/step_tensors.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::GatedProduct>();

namespace kiln::steps {

Status GatedProduct::check() const {
  TRY(require(op.a == ops::MatrixOp::kNone && op.b != ops::MatrixOp::kVector,
              "a gated product takes a as it is, and a matrix b"));
  return require(!epilogue.residual && !epilogue.hook && std::isinf(epilogue.lo) && std::isinf(epilogue.hi),
                 "the sums of a gated product have more than a bias before their gate");
}

Status GatedProduct::check(const StepTypes& types) const {
  TRY(validate(gate));
  const bool is_function = gate.inputs.size() == 2 && gate.outputs.size() == 1 && gate.inputs[0] == gate.inputs[1] &&
                           is_kernel_float(gate.inputs[0]) && is_kernel_float(gate.outputs[0]);
  TRY(require(is_function, "the function of a gated product does not make one float of two of one type"));
  const DType a = types.inputs[0].dtype, b = types.inputs[1].dtype, y = types.outputs[0].dtype;
  TRY(require(is_kernel_float(a) && a == b && gate.inputs[0] == a && gate.outputs[0] == y, "a gated product of ", a,
              " and ", b, " cannot make ", y));
  TRY(require_linear(types, 1));
  return epilogue.check(types);
}

Status GatedProduct::check(const StepTypes&, const StepShapes& shapes) const {
  const Extents &a = shapes.inputs[0], &b = shapes.inputs[1];
  TRY(require(a.size() >= 2 && b.size() >= 2 && volume(std::span(b).first(b.size() - 2)) == 1, "a gated product of ", a,
              " and ", b, " is not of matrices of which the second is one"));
  const ProductOperand matrix = right_operand(b, op.b);
  TRY(require(a.back() == matrix.rows && matrix.cols % 2 == 0, "a gated product of ", a, " and ", b,
              " has axes that do not agree, or columns that are no pairs"));
  Extents y = a;
  y.back() = matrix.cols / 2;
  TRY(require_extents(shapes.outputs[0], y, "a gated product"));
  return epilogue.check(shapes, matrix.cols);
}

}  // namespace kiln::steps
