#include "ops/dynamic_quantize.h"

#include <algorithm>
#include <cmath>

#include "ops/define.h"
#include "ops/quantization.h"

namespace kiln {
template const OpInfo& op_info<ops::DynamicQuantize>();

namespace {

/// The largest number of a type that the op makes.
float largest(DType to) {
  switch (to) {
    case DType::kI8: return 127;
    case DType::kF8E4M3: return 448;
    default: return 6;
  }
}

/// The least power of two that is not below x > 0, within those of e8m0.
float power_above(float x) {
  if (std::isinf(x)) return std::ldexp(1.f, 127);
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);
  return std::ldexp(1.f, std::clamp(fraction == 0.5f ? exponent - 1 : exponent, -127, 127));
}

/// The extents of a block of x, without those that say "all".
Result<std::vector<int64_t>> block_of(const ops::DynamicQuantize& op, int rank) {
  if (!op.block.empty()) return op.block;
  std::vector<int64_t> block(static_cast<size_t>(rank), 1);
  block[static_cast<size_t>(TRY(normalize_axis(op.axis, rank)))] = op.block_size;
  return block;
}

/// The blocks along an axis.
Result<sym::Expr> blocks_along(InferContext& cx, const TensorType& x, size_t axis, int64_t block) {
  const sym::Expr extent = x.shape[axis];
  if (block == -1) return sym::Expr(1);
  if (block == 1) return extent;
  TRY(cx.require(block > 1, "a block has the extent ", block, " along axis ", axis,
                 "; extents are positive, or -1 for a whole axis"));
  TRY(cx.require(extent.is_const(), "axis ", axis, " of x ", x, " is cut into blocks of ", block,
                 "; its extent has to be constant"));
  TRY(cx.require(extent.value() % block == 0, "blocks of ", block, " do not divide axis ", axis, " of x ", x));
  return sym::Expr(extent.value() / block);
}

Status check_double_scale(InferContext& cx) {
  const TensorType& scale = TRY(cx.input(1));
  TRY(cx.require(is_kernel_float(scale.dtype), "the double-quantization scale is ", scale,
                 "; f32, f16 or bf16 is needed"));
  TRY(cx.assume_equal(scale.volume(), 1, str("the double-quantization scale is ", scale, "; one number is needed")));
  if (const HostTensor* elements = cx.constant(1); elements) TRY(check_scales(*elements));
  return {};
}

}  // namespace

float block_scale(const ops::DynamicQuantize& op, float most, float double_scale) {
  const float scale = most / largest(op.to) / double_scale;
  return as_stored(op.scale_type, op.scale_type == DType::kE8M0 ? power_above(scale) : scale);
}

float quantized_by_block(DType to, float x, float scale) {
  if (scale == 0) return 0;
  const float quotient = x / scale;
  if (to != DType::kI8) return quotient;  // storing rounds and saturates
  return std::isnan(quotient) ? 0 : std::clamp(std::nearbyint(quotient), -128.f, 127.f);
}

namespace ops {

Status DynamicQuantize::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(cx.require(to == DType::kF4E2M1 || to == DType::kF8E4M3 || to == DType::kI8, "DynamicQuantize to ", to,
                 "; it makes f4e2m1, f8e4m3 or i8"));
  TRY(cx.require(scale_type == DType::kF8E4M3 || scale_type == DType::kE8M0 || scale_type == DType::kF32,
                 "DynamicQuantize makes scales of ", scale_type, "; f8e4m3, e8m0 or f32 is possible"));
  TRY(cx.require(is_kernel_float(x.dtype) && x.rank() >= 1, "DynamicQuantize of ", x,
                 "; it takes f32, f16 or bf16 of rank 1 or more"));
  const std::vector<int64_t> along = TRY(block_of(*this, x.rank()));
  TRY(cx.require(along.size() == x.shape.size(), "the block has ", along.size(), " extents, x ", x.shape.size()));
  kiln::Shape blocks;
  for (size_t axis = 0; axis < along.size(); ++axis) blocks.push_back(TRY(blocks_along(cx, x, axis, along[axis])));
  if (cx.has_input(1)) TRY(check_double_scale(cx));
  TRY(cx.set_output(0, TensorType(to, x.shape)));
  return cx.set_output(1, TensorType(scale_type, std::move(blocks)));
}

Status DynamicQuantize::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0)), scales = TRY(cx.output(1));
  const float twice = cx.has_input(1) ? static_cast<float>(TRY(cx.input(1))[0]) : 1.f;
  std::vector<float> most(static_cast<size_t>(scales.volume()), 0.f);
  ScaleWalk walk(x.extents(), scales.extents(), 0);
  for (int64_t i = 0; i < x.volume(); ++i, walk.next()) {
    float& of_block = most[static_cast<size_t>(walk.at())];
    of_block = std::fmax(of_block, std::fabs(static_cast<float>(x[i])));
  }
  for (size_t block = 0; block < most.size(); ++block) {
    const float scale = block_scale(*this, most[block], twice);
    scales.set(static_cast<int64_t>(block), scale);
    most[block] = scale * twice;
  }
  ScaleWalk again(x.extents(), scales.extents(), 0);
  for (int64_t i = 0; i < x.volume(); ++i, again.next())
    y.set(i, quantized_by_block(to, static_cast<float>(x[i]), most[static_cast<size_t>(again.at())]));
  return {};
}

}  // namespace ops
}  // namespace kiln
