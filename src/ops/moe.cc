#include "ops/moe.h"

#include <algorithm>
#include <cmath>

#include "ops/define.h"
#include "ops/dynamic_quantize.h"
#include "ops/pointwise.h"
#include "ops/quantization.h"

namespace kiln {
template const OpInfo& op_info<ops::Moe>();

namespace ops {
namespace {

constexpr std::string_view kNames[] = {"hiddenStates",
                                       "selectedExpertsForTokens",
                                       "scoresForSelectedExperts",
                                       "fcGateWeights",
                                       "fcUpWeights",
                                       "fcDownWeights",
                                       "fcGateBiases",
                                       "fcUpBiases",
                                       "fcDownBiases",
                                       "fcDownActivationScale"};

/// Checks an input's type, and its shape against what the others say of it.
Status check(InferContext& cx, int input, DType dtype, const Shape& shape) {
  const TensorType& type = TRY(cx.input(input));
  const std::string_view what = kNames[input];
  TRY(cx.require(type.dtype == dtype && type.rank() == static_cast<int>(shape.size()), what, " are ", type, "; ", dtype,
                 " of ", shape.size(), " axes is needed"));
  for (size_t i = 0; i < shape.size(); ++i)
    TRY(cx.assume_equal(type.shape[i], shape[i], str("axis ", i, " of ", what, " ", type)));
  return {};
}

Status check_blocks(InferContext& cx, const Moe& moe, sym::Expr inner) {
  TRY(cx.require(moe.quantize_to == DType::kF4E2M1 || moe.quantize_to == DType::kF8E4M3, "quantizationToType is ",
                 moe.quantize_to, "; blocks are quantized to f4e2m1 or f8e4m3"));
  TRY(cx.require(moe.scale_type == DType::kF8E4M3 || moe.scale_type == DType::kE8M0, "dynQOutputScaleType is ",
                 moe.scale_type, "; scales of blocks are f8e4m3 or e8m0"));
  const bool is_row = !moe.block.empty() && moe.block.back() > 0 &&
                      std::all_of(moe.block.begin(), moe.block.end() - 1, [](int64_t each) { return each == 1; });
  TRY(cx.require(is_row, "quantizationBlockShape is ", kiln::Extents(moe.block),
                 "; ones are needed, and then how many inner channels share a scale"));
  return cx.require(inner.is_const() && inner.value() % moe.block.back() == 0, "blocks of ", moe.block.back(),
                    " do not divide the ", inner, " inner channels");
}

Status check_quantization(InferContext& cx, const Moe& moe, sym::Expr experts, sym::Expr inner) {
  if (moe.quantization == MoeQuantization::kNone)
    return cx.require(moe.quantize_to == DType::kF32, "quantizationToType is ", moe.quantize_to,
                      ", and there is no scale; setQuantizationStatic or setQuantizationDynamicDblQ gives one");
  const bool is_static = moe.quantization == MoeQuantization::kStatic;
  TRY(cx.require(cx.has_input(Moe::kDownScale), "the input of the last product is quantized, and has no scale"));
  const TensorType& scale = TRY(cx.input(Moe::kDownScale));
  TRY(cx.require(is_compute_float(scale.dtype) && scale.rank() <= 1, "fcDownActivationScale is ", scale,
                 "; f32, f16 or bf16, one number", is_static ? " or one an expert" : "", ", is needed"));
  const std::string why = str("fcDownActivationScale ", scale, " of ", experts, " experts");
  if (is_static && scale.rank() == 1)
    TRY(cx.assume_one_or(scale.shape[0], experts, why));
  else
    TRY(cx.assume_equal(scale.volume(), 1, why));
  if (const HostTensor* numbers = cx.constant(Moe::kDownScale)) TRY(check_scales(*numbers));
  if (!is_static) return check_blocks(cx, moe, inner);
  return cx.require(moe.quantize_to == DType::kF8E4M3, "quantizationToType is ", moe.quantize_to,
                    "; a scale that is given quantizes to f8e4m3");
}

/// Each block of what an expert's last product reads, quantized by the block's own scale and back.
void quantize_blocks(const Moe& moe, std::span<double> x, double double_scale) {
  const DynamicQuantize op{.to = moe.quantize_to, .scale_type = moe.scale_type};
  const auto block = static_cast<size_t>(moe.block.back());
  for (size_t first = 0; first < x.size(); first += block) {
    float most = 0;
    for (const double each : x.subspan(first, block)) most = std::fmax(most, std::fabs(static_cast<float>(each)));
    const float scale = block_scale(op, most, static_cast<float>(double_scale)) * static_cast<float>(double_scale);
    for (double& each : x.subspan(first, block))
      each = as_stored(op.to, quantized_by_block(op.to, static_cast<float>(each), scale)) * scale;
  }
}

/// A vector times the matrix of an expert, plus its bias.
std::vector<double> affine(std::span<const double> x, const View& weights, const View* bias, int64_t expert) {
  const int64_t rows = weights.extents()[1], columns = weights.extents()[2];
  std::vector<double> y(static_cast<size_t>(columns));
  for (int64_t j = 0; j < columns; ++j) {
    double sum = bias ? (*bias)[expert * columns + j] : 0;
    for (int64_t i = 0; i < rows; ++i) sum += x[static_cast<size_t>(i)] * weights[(expert * rows + i) * columns + j];
    y[static_cast<size_t>(j)] = sum;
  }
  return y;
}

}  // namespace

Status Moe::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(kX));
  TRY(cx.require(is_compute_float(x.dtype) && x.rank() == 3, "hiddenStates are ", x,
                 "; f32, f16 or bf16 [batch, length, size] is needed"));
  const TensorType& selected = TRY(cx.input(kSelected));
  TRY(cx.require(is_index(selected.dtype) && selected.rank() == 3, "selectedExpertsForTokens are ", selected,
                 "; i32 or i64 [batch, length, k] are needed"));
  const sym::Expr size = x.shape[2];
  TRY(check(cx, kSelected, selected.dtype, {x.shape[0], x.shape[1], selected.shape[2]}));
  TRY(check(cx, kScores, x.dtype, selected.shape));
  TRY(cx.require(cx.has_input(kGate) && cx.has_input(kUp) && cx.has_input(kDown),
                 "there are no weights; setGatedWeights gives them"));
  const TensorType& gate = TRY(cx.input(kGate));
  TRY(cx.require(gate.rank() == 3, "fcGateWeights are ", gate, "; [experts, size, inner] is needed"));
  const sym::Expr experts = gate.shape[0], inner = gate.shape[2];
  for (const int weights : {kGate, kUp}) TRY(check(cx, weights, x.dtype, {experts, size, inner}));
  TRY(check(cx, kDown, x.dtype, {experts, inner, size}));
  const int biases = cx.has_input(kGateBias) + cx.has_input(kUpBias) + cx.has_input(kDownBias);
  TRY(cx.require(biases == 0 || biases == 3, "there are ", biases, " biases of 3; all or none are needed"));
  if (biases == 3) {
    for (const int bias : {kGateBias, kUpBias}) TRY(check(cx, bias, x.dtype, {experts, inner}));
    TRY(check(cx, kDownBias, x.dtype, {experts, size}));
  }
  TRY(check_quantization(cx, *this, experts, inner));
  return cx.set_output(0, x, x.shape);
}

Status Moe::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(kX)), selected = TRY(cx.input(kSelected)), scores = TRY(cx.input(kScores));
  const View gate = TRY(cx.input(kGate)), up = TRY(cx.input(kUp)), down = TRY(cx.input(kDown));
  std::vector<View> biases;
  if (cx.has_input(kGateBias))
    for (const int bias : {kGateBias, kUpBias, kDownBias}) biases.push_back(TRY(cx.input(bias)));
  std::vector<double> scales;
  if (quantization != MoeQuantization::kNone) scales = TRY(cx.input(kDownScale)).numbers();
  const auto quantize = [&](std::vector<double>& inner, int64_t expert) {
    if (quantization == MoeQuantization::kDynamic) return quantize_blocks(*this, inner, scales[0]);
    if (quantization == MoeQuantization::kStatic)
      for (double& each : inner)
        each = through_type(quantize_to, each, scales[scales.size() == 1 ? 0 : static_cast<size_t>(expert)]);
  };
  const auto bias = [&](size_t i) { return biases.empty() ? nullptr : &biases[i]; };
  const MutableView y = TRY(cx.output(0));
  const int64_t size = x.extents()[2], most = selected.extents()[2], experts = gate.extents()[0];
  const std::vector<double> tokens = x.numbers();
  for (int64_t token = 0; token * size < x.volume(); ++token) {
    const auto row = std::span(tokens).subspan(static_cast<size_t>(token * size), static_cast<size_t>(size));
    std::vector<double> sum(static_cast<size_t>(size), 0);
    for (int64_t k = token * most; k < (token + 1) * most; ++k) {
      const int64_t given = selected.integer(k), expert = given < 0 ? given + experts : given;
      TRY(require(expert >= 0 && expert < experts, "expert ", given, " is none of ", experts));
      std::vector<double> inner = affine(row, gate, bias(0), expert);
      const std::vector<double> linear = affine(row, up, bias(1), expert);
      for (size_t i = 0; i < inner.size(); ++i) {
        const double g = std::min(inner[i], limit), u = std::clamp(linear[i], -limit, limit);
        inner[i] = (activation == MoeActivation::kSilu ? g / (1 + std::exp(-alpha * g)) : g) * (u + beta);
      }
      quantize(inner, expert);
      const std::vector<double> result = affine(inner, down, bias(2), expert);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += scores[k] * result[i];
    }
    for (int64_t i = 0; i < size; ++i) y.set(token * size + i, sum[static_cast<size_t>(i)]);
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
