#include "ops/dequantize.h"

#include "ops/define.h"
#include "ops/quantization.h"

namespace kiln {
template const OpInfo& op_info<ops::Dequantize>();

namespace ops {

Status Dequantize::infer(InferContext& cx) const {
  const TensorType& q = TRY(cx.input(0));
  const TensorType& scale = TRY(cx.input(1));
  TRY(cx.require(is_quantized(q.dtype) || q.dtype == DType::kI32, "Dequantize of ", q,
                 "; it takes i8, u8, i32, f8e4m3, i4 or f4e2m1"));
  TRY(cx.require(is_kernel_float(to), "Dequantize to ", to, "; it makes f32, f16 or bf16"));
  TRY(require_scale_type(scale));
  TRY(cx.require(is_integer(q.dtype) || !cx.has_input(2), "Dequantize of ", q,
                 " with a zero point; only integers have one"));
  TRY(infer_scales(cx, axis, block, q.dtype));
  return cx.set_output(0, TensorType(to, q.shape));
}

Status Dequantize::reference(ReferenceContext& cx) const {
  const View q = TRY(cx.input(0)), scale = TRY(cx.input(1));
  const MutableView y = TRY(cx.output(0));
  const std::vector<int64_t> zeros = cx.has_input(2) ? TRY(cx.input(2)).integers() : std::vector<int64_t>{};
  ScaleWalk walk(q.extents(), scale.extents(), axis);
  for (int64_t i = 0; i < q.volume(); ++i, walk.next()) {
    const float zero = zeros.empty() ? 0.f : static_cast<float>(zeros[static_cast<size_t>(walk.at())]);
    y.set(i, (static_cast<float>(q[i]) - zero) * static_cast<float>(scale[walk.at()]));
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
