/// What Quantize and Dequantize share: how scales lie over a tensor.
#pragma once

#include <vector>

#include "ops/infer_context.h"
#include "ops/reference_context.h"

namespace kiln {

/// The types that Quantize makes and Dequantize reads, but for sums in i32, which only Dequantize reads.
constexpr bool is_quantized(DType t) {
  return t == DType::kI8 || t == DType::kU8 || t == DType::kF8E4M3 || t == DType::kI4 || t == DType::kF4E2M1;
}

/// The integers that kernels of quantized numbers multiply and pool.
constexpr bool is_byte(DType t) { return t == DType::kI8 || t == DType::kU8; }

/// The least and the greatest integer of an integer type of at most 32 bits.
struct IntegerRange {
  int64_t least, greatest;
};
IntegerRange range_of(DType integer);

/// How scales or zero points of shape `given` lie over x, a tensor of `rank` axes: with an axis for each of x's. One
/// number is that of all elements, a vector has one for each index along `axis`, and what has x's rank lies as it is.
template <class Extents>
Extents spread_over(int rank, int axis, const Extents& given) {
  if (given.size() != 1 && !given.empty()) return given;
  if (given.size() == 1 && rank == 1) return given;
  Extents spread(static_cast<size_t>(rank), 1);
  if (!given.empty()) spread[static_cast<size_t>(axis)] = given[0];
  return spread;
}

/// Checks scales (input 1) and zero points (input 2, which may be absent) of x (input 0), as ops/quantize.h has them.
///   block     as stated there
///   integer   what zero points must be
Status infer_scales(InferContext& cx, int axis, const std::vector<int64_t>& block, DType integer);

/// Fails unless scales may have the type.
Status require_scale_type(const TensorType& scale);

/// Whether scales of x's rank are known to have one element or x's extent along each axis: to have no blocks.
bool broadcasts_over(const Shape& scale, const Shape& x);

/// Fails unless all are finite and positive, naming the first that is not.
Status check_scales(const HostTensor& scales);

/// x quantized to `to` by a scale, and back: the value of that type nearest to x / scale (ties to even, saturated; an
/// integer for NaN is 0), times the scale.
double through_type(DType to, double x, double scale);
/// The number as a float type of at most 32 bits holds it.
float as_stored(DType type, float number);

/// Walks a tensor in row-major order with the index of each element's scale. `axis` is that of scales in a vector.
class ScaleWalk {
 public:
  ScaleWalk(const Extents& x, const Extents& scale, int axis);
  int64_t at() const { return at_; }
  void next();

 private:
  int64_t index() const;

  Extents extents_, per_scale_, position_;
  std::vector<int64_t> strides_;
  int64_t at_ = 0;
};

}  // namespace kiln
