#include "steps/weight_only_product.h"

#include <algorithm>

#include "steps/define.h"
#include "steps/step_tensors.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::WeightOnlyProduct>();

namespace kiln::steps {

Result<WeightScales> weight_scales(ops::MatrixOp op, const Extents& b, const Extents& scale) {
  TRY(require(b.size() >= 2 && scale.size() == b.size(), "weights ", b, " have scales ", scale, "; as many axes are ",
              "needed, at least two"));
  const size_t last = b.size() - 1, k_axis = op == ops::MatrixOp::kTranspose ? last : last - 1,
               n_axis = last - 1 + last - k_axis;
  for (size_t axis = 0; axis + 2 < b.size(); ++axis)
    TRY(require(b[axis] == 1 && scale[axis] == 1, "weights ", b, " with scales ", scale, " are no one matrix"));
  const int64_t k = b[k_axis], n = b[n_axis], blocks = scale[k_axis];
  TRY(require(k > 0 && n > 0 && blocks > 0 && k % blocks == 0 && (scale[n_axis] == 1 || scale[n_axis] == n), "scales ",
              scale, " do not lie over weights ", b));
  WeightScales result;
  result.block = k / blocks;
  TRY(require(blocks == 1 || result.block % kBlockMultiple == 0, "weights in blocks of ", result.block,
              "; a multiple of ", kBlockMultiple, " is needed"));
  const int64_t strides[] = {scale[last], 1};  // of the last two axes
  if (blocks > 1) result.k_stride = strides[k_axis + 1 - last];
  if (scale[n_axis] > 1) result.n_stride = strides[n_axis + 1 - last];
  return result;
}

Status WeightOnlyProduct::check() const {
  return require(op.a == ops::MatrixOp::kNone && op.b != ops::MatrixOp::kVector,
                 "a product by quantized weights takes a as it is, and a matrix b");
}

Status WeightOnlyProduct::check(const StepTypes& types) const {
  const DType a = types.inputs[0].dtype, b = types.inputs[1].dtype, y = types.outputs[0].dtype;
  TRY(require(is_kernel_float(a) && is_weight_type(b) && is_kernel_float(y), "a product of ", a,
              " by quantized weights ", b, " cannot make ", y));
  const size_t scale_at = input_of(WeightOperand::kScale, types.inputs.size()),
               zero_at = input_of(WeightOperand::kZero, types.inputs.size());
  const StepTensor &scale = types.inputs[scale_at], &zero = types.inputs[zero_at];
  TRY(require(scale.present && is_kernel_float(scale.dtype), "a product by quantized weights has ",
              scale.present ? str("scales of ", scale.dtype) : "no scales"));
  TRY(require(!zero.present || zero.dtype == b, "quantized weights ", b, " have zero points of ", zero.dtype));
  for (const size_t i : {size_t{1}, scale_at, zero_at}) TRY(require_linear(types, i));
  return epilogue.check(types, kWeightOperands);
}

Status WeightOnlyProduct::check(const StepTypes& types, const StepShapes& shapes) const {
  const Extents &a = shapes.inputs[0], &b = shapes.inputs[1];
  TRY(require(a.size() >= 2, "a product of ", a, " by quantized weights lacks axes"));
  const size_t inputs = types.inputs.size(), zero_at = input_of(WeightOperand::kZero, inputs);
  const Extents& scale = shapes.inputs[input_of(WeightOperand::kScale, inputs)];
  TRY(weight_scales(op.b, b, scale));
  if (types.inputs[zero_at].present) TRY(require_extents(shapes.inputs[zero_at], scale, "zero points"));
  const ProductOperand matrix = right_operand(b, op.b);
  TRY(require(a.back() == matrix.rows, "the axes of a product of ", a, " by quantized weights ", b, " do not agree"));
  Extents y = a;
  y.back() = matrix.cols;
  TRY(require_extents(shapes.outputs[0], y, "a product"));
  return epilogue.check(shapes, matrix.cols);
}

}  // namespace kiln::steps
