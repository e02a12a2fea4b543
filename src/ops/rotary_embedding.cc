#include "ops/rotary_embedding.h"

#include "ops/define.h"
#include "ops/pointwise.h"

namespace kiln {
template const OpInfo& op_info<ops::RotaryEmbedding>();

namespace ops {

Status RotaryEmbedding::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(cx.require(is_compute_float(x.dtype) && x.rank() == 4, "x is ", x,
                 "; f32, f16 or bf16 [batch, heads, length, size] is needed"));
  const auto size = x.shape[3].constant();
  TRY(cx.require(size.has_value(), "x is ", x, "; the size of a head must be a constant"));
  const int64_t rotated = dim == 0 ? *size : dim;
  TRY(cx.require(rotated >= 0 && rotated % 2 == 0 && rotated <= *size, "of heads of size ", *size, ", ", rotated,
                 " channels are to be rotated; an even number up to the size is needed"));
  const bool by_position = cx.has_input(3);
  for (int i = 1; i < 3; ++i) {
    const TensorType& cache = TRY(cx.input(i));
    const std::string_view what = i == 1 ? "cos" : "sin";
    TRY(cx.require(cache.dtype == x.dtype && cache.rank() == (by_position ? 2 : 3), what, " is ", cache, "; ", x.dtype,
                   by_position ? " [positions, " : " [batch, length, ", rotated / 2, "] is needed"));
    TRY(cx.assume_equal(cache.shape.back(), rotated / 2,
                        str("channels of ", what, " ", cache, ", half of those rotated")));
    if (by_position) continue;
    TRY(cx.assume_equal(cache.shape[0], x.shape[0], str("batches of ", what, " ", cache, " and x ", x)));
    TRY(cx.assume_equal(cache.shape[1], x.shape[2], str("positions of ", what, " ", cache, " and x ", x)));
  }
  if (by_position) {
    const TensorType& positions = TRY(cx.input(3));
    TRY(cx.require(is_index(positions.dtype) && positions.rank() == 2, "positions are ", positions,
                   "; i32 or i64 [batch, length] are needed"));
    TRY(cx.assume_equal(positions.shape[0], x.shape[0], str("batches of positions ", positions, " and x ", x)));
    TRY(cx.assume_equal(positions.shape[1], x.shape[2], str("length of positions ", positions, " and x ", x)));
  }
  return cx.set_output(0, x, x.shape);
}

Status RotaryEmbedding::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0)), cos = TRY(cx.input(1)), sin = TRY(cx.input(2));
  const MutableView y = TRY(cx.output(0));
  const int64_t heads = x.extents()[1], length = x.extents()[2], size = x.extents()[3];
  const int64_t half = (dim == 0 ? size : dim) / 2;
  for (int64_t row = 0; row * size < x.volume(); ++row) {
    int64_t angles = row / length / heads * length + row % length;
    if (cx.has_input(3)) {
      const View positions = TRY(cx.input(3));
      const int64_t given = positions.integer(angles), count = cos.extents()[0];
      angles = given < 0 ? given + count : given;
      TRY(require(angles >= 0 && angles < count, "position ", given, " is outside the ", count, " of cos and sin"));
    }
    for (int64_t i = 0; i < half; ++i) {
      const int64_t first = row * size + (interleaved ? 2 * i : i), second = first + (interleaved ? 1 : half);
      const double c = cos[angles * half + i], s = sin[angles * half + i];
      y.set(first, x[first] * c - x[second] * s);
      y.set(second, x[first] * s + x[second] * c);
    }
    for (int64_t i = row * size + 2 * half; i < (row + 1) * size; ++i) y.copy_element(i, x, i);
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
