// LSTM, GRU and RNN: one op, whose inputs are theirs in their order. DynamicQuantizeLSTM: the same by weights in bytes.
#include "ops/recurrence.h"

#include <algorithm>
#include <array>

#include "onnx/import/importers.h"
#include "onnx/import/quantization.h"

namespace kiln::onnx::importers {
namespace {

using ops::GateActivation;
using ops::GateFunction;
using ops::Recurrence;
using ops::RecurrenceCell;
using ops::RecurrenceDirection;

/// An activation by ONNX's name. Which of alpha and beta it takes; what they are where the node does not say.
struct Activation {
  std::string_view name;
  GateFunction function;
  bool has_alpha = false, has_beta = false;
  std::optional<double> alpha = {}, beta = {};
};
const Activation kActivations[] = {
    {"Sigmoid", GateFunction::kSigmoid},
    {"Tanh", GateFunction::kTanh},
    {"Relu", GateFunction::kRelu},
    {"LeakyRelu", GateFunction::kLeakyRelu, true, false, 0.01f},
    {"Elu", GateFunction::kElu, true, false, 1},
    {"Softsign", GateFunction::kSoftsign},
    {"Softplus", GateFunction::kSoftplus},
    {"HardSigmoid", GateFunction::kHardSigmoid, true, true, 0.2f, 0.5f},
    {"ScaledTanh", GateFunction::kScaledTanh, true, true},
    {"ThresholdedRelu", GateFunction::kThresholdedRelu, true, false, 1},
    {"Affine", GateFunction::kAffine, true, true},
};

/// Takes the next of `numbers` where there is one, else the default.
Result<double> take(std::span<const float>& numbers, const Activation& a, std::optional<double> otherwise,
                    std::string_view attribute) {
  if (!numbers.empty()) {
    const float first = numbers.front();
    numbers = numbers.subspan(1);
    return first;
  }
  TRY(require(otherwise.has_value(), "activation ", a.name, " needs a number in ", attribute, "; it has no default"));
  return *otherwise;
}

/// activation_alpha and activation_beta have entries only for activations that take one.
Result<std::vector<GateActivation>> activations(NodeReader& node, std::vector<std::string_view> names) {
  const std::vector<float> alphas = TRY(node.get_floats("activation_alpha", {}));
  const std::vector<float> betas = TRY(node.get_floats("activation_beta", {}));
  std::span<const float> alpha = alphas, beta = betas;
  std::vector<GateActivation> result;
  for (const std::string_view name : names) {
    const auto* const found = std::ranges::find(kActivations, name, &Activation::name);
    TRY(require(found != std::end(kActivations), "activations has '", name, "', which is not one of ONNX's"));
    result.push_back({found->function});
    if (found->has_alpha) result.back().alpha = TRY(take(alpha, *found, found->alpha, "activation_alpha"));
    if (found->has_beta) result.back().beta = TRY(take(beta, *found, found->beta, "activation_beta"));
  }
  return result;
}

/// The node's list, or `defaults` for each direction. RNN's schema has a default for two directions, which files may
/// spell out where there is one.
Result<std::vector<std::string_view>> activation_names(NodeReader& node, const Recurrence& op,
                                                       std::span<const std::string_view> defaults) {
  std::vector<std::string_view> names = TRY(node.get_strings("activations"));
  const auto directions = static_cast<size_t>(op.num_directions());
  const size_t needed = defaults.size() * directions;
  if (names.empty())
    for (size_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  if (op.cell == RecurrenceCell::kRnn && names.size() == 2) names.resize(needed);
  TRY(require(names.size() == needed, "activations has ", names.size(), " entries; ", needed, " are needed"));
  return names;
}

Result<RecurrenceDirection> direction_of(NodeReader& node) {
  const std::string_view name = TRY(node.get_string("direction", "forward"));
  const auto names = enum_names(RecurrenceDirection::kForward);
  const auto found = std::ranges::find(names, name);
  TRY(require(found != names.end(), "direction is '", name, "'; forward, reverse or bidirectional is needed"));
  return static_cast<RecurrenceDirection>(found - names.begin());
}

/// Ends with the node's recurrence of `inputs`, which are the op's own in their order.
Status recurrence(ImportContext& cx, Recurrence op, std::span<const std::string_view> defaults, Values inputs) {
  NodeReader& node = cx.node();
  op.direction = TRY(direction_of(node));
  op.activations = TRY(activations(node, TRY(activation_names(node, op, defaults))));
  if (node.find("clip")) op.clip = TRY(node.get_float("clip", 0));
  const int64_t layout = TRY(node.get_int("layout", 0));
  TRY(require(layout == 0 || layout == 1, "layout is ", layout, "; 0 or 1 is needed"));
  op.layout = static_cast<ops::RecurrenceLayout>(layout);
  const TensorType& r = cx.type(inputs[Recurrence::kR]);
  const int64_t hidden = r.rank() == 3 ? r.shape[2].constant().value_or(0) : 0;
  const int64_t stated = TRY(node.get_int("hidden_size", hidden));
  TRY(require(hidden == 0 || stated == hidden, "hidden_size is ", stated, "; R is ", r));
  while (inputs.back() == ValueId::kNone) inputs.pop_back();
  const Values outputs = TRY(cx.add_all(op, inputs));
  TRY(require(cx.num_outputs() <= outputs.size(), "there are ", cx.num_outputs(), " outputs; ", outputs.size(),
              " are possible"));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (cx.wants(i)) TRY(cx.output(i, outputs[i]));
  return {};
}

/// The same of the node's own inputs.
Status recurrence(ImportContext& cx, Recurrence op, std::span<const std::string_view> defaults) {
  const size_t most = op.cell == RecurrenceCell::kLstm ? 8 : 6;
  TRY(require(cx.num_inputs() <= most, "there are ", cx.num_inputs(), " inputs; ", most, " are possible"));
  for (size_t i = 0; i <= Recurrence::kR; ++i) TRY(cx.input(i));
  return recurrence(cx, std::move(op), defaults, cx.inputs());
}

Result<Recurrence> lstm_op(ImportContext& cx) {
  Recurrence op{.cell = RecurrenceCell::kLstm};
  op.input_forget = TRY(cx.node().get_int("input_forget", 0)) != 0;
  return op;
}
constexpr std::array<std::string_view, 3> kLstmActivations{"Sigmoid", "Tanh", "Tanh"};

/// Weights of floats as Recurrence has them, [directions, gates * hidden, k]. Input `weights` has the bytes with its
/// last two axes in the other order. Input `scale`, and the zero points behind it, have one number for each direction,
/// or one for each of its columns.
Result<ValueId> weights_of_bytes(ImportContext& cx, size_t weights, size_t scale) {
  const ValueId q = TRY(cx.input(weights));
  TRY(require(cx.rank(q) == 3, "'", cx.input_name(weights), "' is ", cx.type(q), "; three axes are needed"));
  const auto beside_columns = [&](ValueId numbers) -> Result<ValueId> {
    const Shape shape = cx.type(numbers).shape;
    if (shape.empty()) return numbers;
    TRY(require(shape.size() <= 2, "scales and zero points of '", cx.input_name(weights), "' are ", cx.type(numbers),
                "; [directions] or [directions, 4 * hidden] is needed"));
    return reshape(cx, numbers, {shape[0], 1, shape.size() == 2 ? shape[1] : 1});
  };
  const ValueId steps = TRY(beside_columns(TRY(scales(cx, scale))));
  ValueId numbers = TRY(cast(cx, q, cx.dtype(steps)));
  if (const ValueId zero = TRY(zero_points(cx, scale + 1, cx.dtype(q))); zero != ValueId::kNone) {
    const ValueId moved = TRY(cast(cx, TRY(beside_columns(zero)), cx.dtype(steps)));
    numbers = TRY(binary(cx, ElementWiseKind::kSub, numbers, moved));
  }
  return transpose(cx, TRY(binary(cx, ElementWiseKind::kProd, numbers, steps)), {0, 2, 1});
}

}  // namespace

Status lstm(ImportContext& cx) { return recurrence(cx, TRY(lstm_op(cx)), kLstmActivations); }
Status gru(ImportContext& cx) {
  Recurrence op{.cell = RecurrenceCell::kGru};
  op.linear_before_reset = TRY(cx.node().get_int("linear_before_reset", 0)) != 0;
  return recurrence(cx, std::move(op), std::array<std::string_view, 2>{"Sigmoid", "Tanh"});
}
Status rnn(ImportContext& cx) {
  return recurrence(cx, Recurrence{.cell = RecurrenceCell::kRnn}, std::array<std::string_view, 1>{"Tanh"});
}

namespace microsoft {

/// Imports DynamicQuantizeLSTM as an LSTM of floats by the weights that its bytes stand for, of x rounded to bytes over
/// its own range. ONNX Runtime rounds the h of each step besides, which no one Recurrence can; results differ by that.
Status dynamic_quantize_lstm(ImportContext& cx) {
  enum Input : size_t { kWScale = Recurrence::kP + 1, kWZero, kRScale, kRZero };
  TRY(require(cx.num_inputs() <= kRZero + 1, "there are ", cx.num_inputs(), " inputs; 12 are possible"));
  const DynamicallyQuantized x = TRY(quantize_dynamically(cx, TRY(cx.input(Recurrence::kX))));
  Values inputs = cx.inputs();
  inputs.resize(Recurrence::kP + 1, ValueId::kNone);
  inputs[Recurrence::kX] = TRY(dequantize(cx, x.q, x.by));
  inputs[Recurrence::kW] = TRY(weights_of_bytes(cx, Recurrence::kW, kWScale));
  inputs[Recurrence::kR] = TRY(weights_of_bytes(cx, Recurrence::kR, kRScale));
  return recurrence(cx, TRY(lstm_op(cx)), kLstmActivations, std::move(inputs));
}

}  // namespace microsoft

}  // namespace kiln::onnx::importers
