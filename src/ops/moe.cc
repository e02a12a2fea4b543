#include "ops/moe.h"

#include <algorithm>
#include <cmath>

#include "ops/define.h"
#include "ops/pointwise.h"

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
                                       "fcDownBiases"};

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
  return cx.set_output(0, x, x.shape);
}

Status Moe::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(kX)), selected = TRY(cx.input(kSelected)), scores = TRY(cx.input(kScores));
  const View gate = TRY(cx.input(kGate)), up = TRY(cx.input(kUp)), down = TRY(cx.input(kDown));
  std::vector<View> biases;
  if (cx.has_input(kGateBias))
    for (const int bias : {kGateBias, kUpBias, kDownBias}) biases.push_back(TRY(cx.input(bias)));
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
      const std::vector<double> result = affine(inner, down, bias(2), expert);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += scores[k] * result[i];
    }
    for (int64_t i = 0; i < size; ++i) y.set(token * size + i, sum[static_cast<size_t>(i)]);
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
