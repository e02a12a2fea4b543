#include "ops/attention.h"

#include <algorithm>
#include <cmath>

#include "ops/define.h"
#include "ops/pointwise.h"
#include "ops/quantization.h"

namespace kiln {
template const OpInfo& op_info<ops::Attention>();

namespace ops {
namespace {

Status check_heads(InferContext& cx, const TensorType& q, const TensorType& k) {
  const sym::Expr heads = q.shape[1], shared = k.shape[1];
  const auto is_multiple = [&] {
    return heads.is_const() && shared.is_const() && shared.value() > 0 && heads.value() % shared.value() == 0;
  };
  return cx.require(heads == shared || is_multiple(), "q is ", q, " and k ", k,
                    "; the heads of q must be a multiple of those of k");
}

Status check_mask(InferContext& cx, const TensorType& q, const TensorType& k, bool causal) {
  const TensorType& mask = TRY(cx.input(3));
  TRY(cx.require(!causal, "there is a mask, and the attention is causal; one of them is possible"));
  TRY(cx.require((mask.dtype == DType::kBool || mask.dtype == q.dtype) && mask.rank() == 4, "mask is ", mask,
                 "; bool or ", q.dtype, " of rank 4 is needed"));
  const Shape scores{q.shape[0], q.shape[1], q.shape[2], k.shape[2]};
  for (size_t i = 0; i < 4; ++i)
    TRY(cx.assume_one_or(mask.shape[i], scores[i], str("axis ", i, " of mask ", mask, " broadcasts to the scores")));
  return {};
}

Status check_quantization(InferContext& cx, DType to) {
  const bool is_quantized = to != DType::kF32;
  TRY(cx.require(!is_quantized || to == DType::kF8E4M3 || to == DType::kI8, "normalized scores are quantized to ", to,
                 "; f8e4m3 or i8 is needed"));
  TRY(cx.require(is_quantized || !cx.has_input(Attention::kScale),
                 "there is a scale that quantizes normalized scores, and no type; setNormalizationQuantizeToType gives "
                 "it"));
  if (!is_quantized) return {};
  TRY(cx.require(cx.has_input(Attention::kScale), "normalized scores are quantized to ", to,
                 ", and there is no scale; setNormalizationQuantizeScale gives it"));
  const TensorType& scale = TRY(cx.input(Attention::kScale));
  TRY(cx.require(is_compute_float(scale.dtype) && scale.rank() <= 1, "the scale of normalized scores is ", scale,
                 "; one number, f32, f16 or bf16, is needed"));
  TRY(cx.assume_equal(scale.volume(), 1, str("the scale of normalized scores is ", scale, "; one number is needed")));
  const HostTensor* number = cx.constant(Attention::kScale);
  return number ? check_scales(*number) : Status();
}

/// Scores of one query become weights.
void normalize(std::vector<double>& scores) {
  double peak = -INFINITY, sum = 0;
  for (const double score : scores) peak = std::max(peak, score);
  for (double& score : scores) sum += score = std::exp(score - peak);
  for (double& score : scores) score /= sum;
}

}  // namespace

Status Attention::infer(InferContext& cx) const {
  const TensorType &q = TRY(cx.input(0)), &k = TRY(cx.input(1)), &v = TRY(cx.input(2));
  TRY(cx.require(is_compute_float(q.dtype) && q.rank() == 4, "q is ", q,
                 "; f32, f16 or bf16 [batch, heads, queries, size] is needed"));
  for (const TensorType* each : {&k, &v})
    TRY(cx.require(each->dtype == q.dtype && each->rank() == 4, each == &k ? "k" : "v", " is ", *each, " and q ", q,
                   "; one type and four axes are needed"));
  TRY(check_heads(cx, q, k));
  TRY(cx.assume_equal(k.shape[0], q.shape[0], str("batches of k ", k, " and q ", q)));
  TRY(cx.assume_equal(k.shape[3], q.shape[3], str("sizes of a head of k ", k, " and q ", q)));
  for (const size_t axis : {0, 1, 2})
    TRY(cx.assume_equal(v.shape[axis], k.shape[axis], str("axis ", axis, " of v ", v, " and k ", k)));
  if (cx.has_input(3)) TRY(check_mask(cx, q, k, causal));
  TRY(check_quantization(cx, quantize_to));
  return cx.set_output(0, q, {q.shape[0], q.shape[1], q.shape[2], v.shape[3]});
}

Status Attention::reference(ReferenceContext& cx) const {
  const View q = TRY(cx.input(0)), k = TRY(cx.input(1)), v = TRY(cx.input(2));
  const MutableView y = TRY(cx.output(0));
  const std::vector<double> queries = q.numbers(), keys = k.numbers(), values = v.numbers();
  const int64_t heads = q.extents()[1], rows = q.extents()[2], size = q.extents()[3], shared = k.extents()[1];
  const int64_t columns = k.extents()[2], width = v.extents()[3];
  const bool is_softmax = normalization == AttentionNormalization::kSoftmax;
  const double scale = quantize_to == DType::kF32 ? 1 : TRY(cx.input(kScale))[0];
  for (int64_t row = 0; row < q.extents()[0] * heads * rows; ++row) {
    const int64_t batch = row / rows / heads, head = row / rows % heads, place = row % rows;
    const int64_t first_key = (batch * shared + head / (heads / shared)) * columns;
    std::vector<double> scores(static_cast<size_t>(columns), 0);
    for (int64_t column = 0; column < columns; ++column) {
      double& score = scores[static_cast<size_t>(column)];
      for (int64_t i = 0; i < size; ++i)
        score +=
            queries[static_cast<size_t>(row * size + i)] * keys[static_cast<size_t>((first_key + column) * size + i)];
      bool is_seen = !causal || column <= place;
      if (cx.has_input(3)) {
        const View mask = TRY(cx.input(3));
        const int64_t at[] = {batch, head, place, column};
        int64_t index = 0;
        for (size_t axis = 0; axis < 4; ++axis)
          index = index * mask.extents()[axis] + (mask.extents()[axis] == 1 ? 0 : at[axis]);
        if (mask.dtype() == DType::kBool)
          is_seen = mask.integer(index) != 0;
        else
          score += mask[index];
      }
      if (!is_seen) score = is_softmax ? -INFINITY : 0;
    }
    if (is_softmax) normalize(scores);
    if (quantize_to != DType::kF32)
      for (double& score : scores) score = through_type(quantize_to, score, scale);
    for (int64_t i = 0; i < width; ++i) {
      double sum = 0;
      for (int64_t column = 0; column < columns; ++column)
        sum += scores[static_cast<size_t>(column)] * values[static_cast<size_t>((first_key + column) * width + i)];
      y.set(row * width + i, sum);
    }
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
