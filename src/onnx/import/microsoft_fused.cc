/// Operators of com.microsoft that ONNX Runtime's optimisations make of several of ONNX's: products, convolutions and
/// normalizations with what stands before or behind them.
#include <algorithm>
#include <array>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "onnx/import/quantization.h"
#include "onnx/import/root_normalization.h"
#include "ops/gather.h"
#include "ops/normalization.h"

namespace kiln::onnx::importers::microsoft {
namespace {

/// An activation by ONNX's name, and how many of its parameters a node gives.
struct Fused {
  std::string_view name;
  ActivationKind kind;
  size_t parameters;
};
constexpr std::array kActivations = {
    Fused{"Relu", ActivationKind::kRelu, 0},       Fused{"Tanh", ActivationKind::kTanh, 0},
    Fused{"Sigmoid", ActivationKind::kSigmoid, 0}, Fused{"LeakyRelu", ActivationKind::kLeakyRelu, 1},
    Fused{"Clip", ActivationKind::kClip, 2},       Fused{"HardSigmoid", ActivationKind::kHardSigmoid, 2}};

Result<ValueId> activated(ImportContext& cx, ValueId y, std::string_view name, const std::vector<float>& parameters) {
  if (name.empty()) return y;
  const auto* const found = std::ranges::find(kActivations, name, &Fused::name);
  TRY(require(found != kActivations.end(), "activation is '", name,
              "'; Relu, Tanh, Sigmoid, LeakyRelu, Clip or HardSigmoid is needed"));
  TRY(require(parameters.size() >= found->parameters, "activation ", name, " has ", parameters.size(), " parameters; ",
              found->parameters, " are needed"));
  const auto parameter = [&](size_t i) { return i < found->parameters ? double{parameters[i]} : 0; };
  return activation(cx, found->kind, y, parameter(0), parameter(1));
}

Result<ValueId> plus_input(ImportContext& cx, ValueId x, size_t input) {
  return cx.has_input(input) ? binary(cx, ElementWiseKind::kSum, x, TRY(cx.input(input))) : x;
}

/// Swaps the last two axes of x, if asked to.
Result<ValueId> turned(ImportContext& cx, ValueId x, std::string_view attribute) {
  if (TRY(cx.node().get_int(attribute, 0)) == 0) return x;
  const int rank = cx.rank(x);
  if (rank < 2) return x;  // as ONNX Runtime has it
  Ints perm = axes_between(0, rank);
  std::swap(perm[static_cast<size_t>(rank) - 1], perm[static_cast<size_t>(rank) - 2]);
  return transpose(cx, x, perm);
}

/// Moves the first axis of x, of rows, behind those of the batch, if asked to.
Result<ValueId> rows_moved(ImportContext& cx, ValueId x, std::string_view attribute) {
  if (TRY(cx.node().get_int(attribute, 0)) == 0) return x;
  const int rank = cx.rank(x);
  if (rank < 3) return x;
  Ints perm = axes_between(1, rank - 1);
  perm.insert(perm.end(), {0, rank - 1});
  return transpose(cx, x, perm);
}

/// Layer normalization of the last axis, of scale `gamma` and a bias that may be left out.
Result<ValueId> normalized(ImportContext& cx, ValueId x, size_t gamma, size_t beta, float epsilon) {
  ops::Normalization op;
  op.axes = {cx.rank(x) - 1};
  op.epsilon = epsilon;
  Values inputs{x, TRY(cx.input(gamma))};
  if (cx.has_input(beta)) inputs.push_back(TRY(cx.input(beta)));
  return cx.add(std::move(op), inputs);
}

/// The sum that a skip normalization normalizes, which is its output 3, too.
Result<ValueId> skip_sum(ImportContext& cx, size_t bias) {
  const ValueId sum = TRY(plus_input(cx, TRY(plus_input(cx, TRY(cx.input(0)), 1)), bias));
  TRY(cx.output(3, sum));
  return sum;
}

/// Gives output 1, where it is wanted: how many words the mask, input 7, leaves of each sequence of input 0; 0 without
/// a mask.
Status output_word_count(ImportContext& cx) {
  if (!cx.wants(1)) return {};
  if (!cx.has_input(7)) {
    const sym::Expr batch = cx.extent(TRY(cx.input(0)), 0);
    return cx.output(1, TRY(expand(cx, scalar_of(cx, 0, DType::kI32, 1), {batch})));
  }
  const ValueId is_word = TRY(binary(cx, ElementWiseKind::kEqual, TRY(cx.input(7)), 1));
  return cx.output(1, TRY(reduce(cx, ReduceKind::kSum, TRY(cast(cx, is_word, DType::kI32)), {1}, false)));
}

}  // namespace

/// Imports FusedConv: a convolution, plus input 3, and an activation of that.
Status fused_conv(ImportContext& cx) {
  const std::string_view name = TRY(cx.node().get_string("activation", ""));
  const std::vector<float> parameters = TRY(cx.node().get_floats("activation_params", {}));
  cx.set_finish(
      [&](size_t, ValueId y) -> Result<ValueId> { return activated(cx, TRY(plus_input(cx, y, 3)), name, parameters); });
  return conv(cx);
}

Status fused_gemm(ImportContext& cx) {
  const std::string_view name = TRY(cx.node().get_string("activation", ""));
  const std::vector<float> parameters{TRY(cx.node().get_float("activation_alpha", 0)),
                                      TRY(cx.node().get_float("activation_beta", 0))};
  cx.set_finish([&](size_t, ValueId y) { return activated(cx, y, name, parameters); });
  return gemm(cx);
}

/// Imports FusedMatMul: alpha * a * b, of matrices that may be transposed.
Status fused_mat_mul(ImportContext& cx) {
  const ValueId a = TRY(turned(cx, TRY(rows_moved(cx, TRY(cx.input(0)), "transBatchA")), "transA"));
  const ValueId b = TRY(turned(cx, TRY(rows_moved(cx, TRY(cx.input(1)), "transBatchB")), "transB"));
  const float alpha = TRY(cx.node().get_float("alpha", 1));
  const ValueId y = TRY(matrix_multiply(cx, a, b));
  return cx.output(alpha == 1 ? y : TRY(binary(cx, ElementWiseKind::kProd, y, alpha)));
}

Status bias_gelu(ImportContext& cx) {
  return cx.output(TRY(activation(cx, ActivationKind::kGeluErf, TRY(plus_input(cx, TRY(cx.input(0)), 1)))));
}
Status fast_gelu(ImportContext& cx) {
  return cx.output(TRY(activation(cx, ActivationKind::kGeluTanh, TRY(plus_input(cx, TRY(cx.input(0)), 1)))));
}
Status gelu(ImportContext& cx) { return cx.output(TRY(activation(cx, ActivationKind::kGeluErf, TRY(cx.input(0))))); }
Status quick_gelu(ImportContext& cx) {
  return cx.output(TRY(onnx::swish(cx, TRY(cx.input(0)), TRY(cx.node().get_float("alpha", 1.702F)))));
}

Status skip_layer_normalization(ImportContext& cx) {
  const float epsilon = TRY(cx.node().get_float("epsilon", 1e-12F));
  const ValueId x = TRY(skip_sum(cx, 4));
  if (cx.wants(1) || cx.wants(2)) {
    const ValueId wide = TRY(cast(cx, x, DType::kF32));
    const Statistics s = TRY(statistics(cx, wide, {cx.rank(x) - 1}));
    TRY(cx.output(1, s.mean));
    TRY(cx.output(2, TRY(inverse_root(cx, s.variance, epsilon))));
  }
  return cx.output(TRY(normalized(cx, x, 2, 3, epsilon)));
}
Status skip_simplified_layer_normalization(ImportContext& cx) {
  const float epsilon = TRY(cx.node().get_float("epsilon", 1e-12F));
  for (const size_t i : {1, 2}) TRY(cx.refuse_output(i, "a statistic of training"));
  const ValueId x = TRY(skip_sum(cx, 3));
  return cx.output(TRY(normalized_by_root(cx, x, {cx.rank(x) - 1}, epsilon, TRY(cx.input(2)))));
}

/// Imports EmbedLayerNormalization: rows of words, positions and segments added and normalized.
Status embed_layer_normalization(ImportContext& cx) {
  const ValueId words = TRY(cx.input(0));
  TRY(require(cx.rank(words) == 2, "input_ids is ", cx.type(words), "; [batch, length] is needed"));
  const ops::Gather rows{GatherMode::kDefault, 0, 0};
  const ValueId positions = cx.has_input(8) ? TRY(cx.input(8)) : TRY(indices_along(cx, cx.extent(words, 1), 1, 2));
  const ValueId of_words = TRY(cx.add(rows, {TRY(cx.input(2)), words}));
  ValueId sum = TRY(binary(cx, ElementWiseKind::kSum, of_words, TRY(cx.add(rows, {TRY(cx.input(3)), positions}))));
  if (cx.has_input(1))
    sum = TRY(binary(cx, ElementWiseKind::kSum, sum, TRY(cx.add(rows, {TRY(cx.input(4)), TRY(cx.input(1))}))));
  TRY(cx.output(2, sum));
  TRY(output_word_count(cx));
  return cx.output(TRY(normalized(cx, sum, 5, 6, TRY(cx.node().get_float("epsilon", 1e-12F)))));
}

/// Imports QEmbedLayerNormalization: the same of tables of bytes, each with a scale and a zero point. Rows become
/// floats when they are picked.
Status qembed_layer_normalization(ImportContext& cx) {
  constexpr size_t kScales = 8, kZeros = 13;  // of words, positions, segments, gamma and beta
  const ValueId words = TRY(cx.input(0));
  TRY(require(cx.rank(words) == 2, "input_ids is ", cx.type(words), "; [batch, length] is needed"));
  const auto floats = [&](ValueId q, size_t table) -> Result<ValueId> {
    const ValueId scale = TRY(scales(cx, kScales + table));
    const ValueId zero = TRY(zero_points(cx, kZeros + table, cx.dtype(q), scale));
    for (const auto& [what, value] : {std::pair("scale", scale), {"zero point", zero}})
      TRY(require(value == ValueId::kNone || sym::provably_equal(cx.type(value).volume(), 1), "a ", what, " is ",
                  cx.type(value), "; one number is needed"));
    const auto number = [&](ValueId value) { return value == ValueId::kNone ? value : reshape(cx, value, {}); };
    return dequantize(cx, q, {TRY(number(scale)), TRY(number(zero)), -1, {}});
  };
  const auto rows = [&](size_t table, ValueId at) -> Result<ValueId> {
    return floats(TRY(cx.add(ops::Gather{GatherMode::kDefault, 0, 0}, {TRY(cx.input(2 + table)), at})), table);
  };
  const ValueId positions = TRY(indices_along(cx, cx.extent(words, 1), 1, 2));
  ValueId sum = TRY(binary(cx, ElementWiseKind::kSum, TRY(rows(0, words)), TRY(rows(1, positions))));
  if (cx.has_input(1)) sum = TRY(binary(cx, ElementWiseKind::kSum, sum, TRY(rows(2, TRY(cx.input(1))))));
  TRY(output_word_count(cx));
  ops::Normalization op;
  op.axes = {cx.rank(sum) - 1};
  op.epsilon = TRY(cx.node().get_float("epsilon", 1e-12F));
  return cx.output(
      TRY(cx.add(std::move(op), {sum, TRY(floats(TRY(cx.input(5)), 3)), TRY(floats(TRY(cx.input(6)), 4))})));
}

}  // namespace kiln::onnx::importers::microsoft
