#include "ops/quantize.h"

#include <algorithm>
#include <cmath>

#include "ops/define.h"
#include "ops/quantization.h"

namespace kiln {
template const OpInfo& op_info<ops::Quantize>();

namespace ops {

Status Quantize::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const TensorType& scale = TRY(cx.input(1));
  TRY(cx.require(is_quantized(to), "Quantize to ", to, "; it makes i8, u8, f8e4m3, i4 or f4e2m1"));
  TRY(cx.require(is_kernel_float(x.dtype), "Quantize of ", x, "; it takes f32, f16 or bf16"));
  TRY(require_scale_type(scale));
  TRY(cx.require(is_integer(to) || !cx.has_input(2), "Quantize to ", to, " with a zero point; only integers have one"));
  TRY(infer_scales(cx, axis, block, to));
  return cx.set_output(0, TensorType(to, x.shape));
}

Status Quantize::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0)), scale = TRY(cx.input(1));
  const MutableView y = TRY(cx.output(0));
  ScaleWalk walk(x.extents(), scale.extents(), axis);
  const auto quotient = [&](int64_t i) { return static_cast<float>(x[i]) / static_cast<float>(scale[walk.at()]); };
  if (!is_integer(to)) {
    for (int64_t i = 0; i < x.volume(); ++i, walk.next()) y.set(i, quotient(i));
    return {};
  }
  const auto [least, greatest] = range_of(to);
  const std::vector<int64_t> zeros = cx.has_input(2) ? TRY(cx.input(2)).integers() : std::vector<int64_t>{};
  for (int64_t i = 0; i < x.volume(); ++i, walk.next()) {
    const float zero = zeros.empty() ? 0.f : static_cast<float>(zeros[static_cast<size_t>(walk.at())]);
    const float value = std::nearbyint(quotient(i)) + zero;
    const float limited = std::clamp(value, static_cast<float>(least), static_cast<float>(greatest));
    y.set_integer(i, std::isnan(value) ? 0 : static_cast<int64_t>(limited));
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
