#include "passes/magnitudes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/activation.h"
#include "ops/attention.h"
#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/convolution.h"
#include "ops/cumulative.h"
#include "ops/deconvolution.h"
#include "ops/dequantize.h"
#include "ops/dynamic_quantize.h"
#include "ops/einsum.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/normalization.h"
#include "ops/quantization.h"
#include "ops/quantize.h"
#include "ops/ragged_softmax.h"
#include "ops/recurrence.h"
#include "ops/reduce.h"
#include "ops/scale.h"
#include "ops/select.h"
#include "ops/softmax.h"
#include "ops/unary.h"
#include "passes/moments.h"
#include "passes/softmax_reads.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

constexpr int64_t kUnknownExtent = 64;         ///< of an axis that is summed over and that nobody knows yet
constexpr int64_t kSampledElements = 1 << 14;  ///< of a constant: its moments need no more
/// Scalars beyond it stand for infinity, or bound what is far from them.
constexpr double kLargestScalar = 1e3;

/// The moments of what is finite.
Moments moments_of(const HostTensor& constant) {
  const int64_t volume = constant.volume(), step = volume / kSampledElements + 1;
  const View numbers(constant);
  double sum = 0, squares = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < volume; i += step) {
    const double number = numbers[i];
    if (!std::isfinite(number)) continue;
    sum += number;
    squares += number * number;
    ++count;
  }
  if (count == 0) return {0, 0};
  const auto n = static_cast<double>(count);
  return bounded(std::sqrt(squares / n), sum / n);
}

/// What an input of the network is taken to be: images are bytes, and other whole numbers are 0 or 1.
Moments of_input(DType dtype) {
  if (is_float(dtype)) return {1, 0};
  if (dtype == DType::kU8) return {148, 127.5};
  return {1, 0.5};
}

/// What the inputs of a node are, for the estimates of its outputs.
struct Inputs {
  const ir::Graph& graph;
  const ir::Node& node;
  const std::vector<Moments>& known;

  bool has(size_t i) const { return node.input(i) != ir::ValueId::kNone; }
  /// The moments of an input that is there, or else `absent`.
  Moments operator()(size_t i, Moments absent = {0, 0}) const {
    return has(i) ? known[ir::index(node.input(i))] : absent;
  }
  const TensorType& type(size_t i) const { return graph.type(node.input(i)); }
  /// Of the floats among them; 1 if there is none.
  Moments largest() const {
    std::optional<Moments> result;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (has(i) && is_float(type(i).dtype) && (!result || result->rms < (*this)(i).rms)) result = (*this)(i);
    return result.value_or(Moments());
  }
  const HostTensor* constant(size_t i) const { return has(i) ? graph.constant(node.input(i)) : nullptr; }
  /// Whether it is a scalar that stands for infinity.
  bool is_limit(size_t i) const { return constant(i) && constant(i)->volume() == 1 && (*this)(i).rms > kLargestScalar; }
};

double extent(const TensorType& type, int64_t axis) {
  const auto rank = static_cast<int64_t>(type.shape.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return 1;
  return static_cast<double>(type.shape[static_cast<size_t>(axis)].constant().value_or(kUnknownExtent));
}

/// How many products of a filter's add up in one element: all elements of w but those of its outputs' axis.
double filter_terms(const TensorType& w, int64_t outputs_axis) {
  double terms = 1;
  for (int64_t axis = 0; axis < static_cast<int64_t>(w.shape.size()); ++axis)
    if (axis != outputs_axis) terms *= extent(w, axis);
  return terms;
}

/// How many products add up in one element: the extents of all labels that the output lacks.
double einsum_terms(const ops::Einsum& einsum, const Inputs& in) {
  std::vector<int> ranks;
  for (size_t i = 0; i < in.node.inputs.size(); ++i) ranks.push_back(in.type(i).rank());
  const auto equation = EinsumEquation::parse(einsum.equation, ranks);
  if (!equation) return kUnknownExtent;
  double terms = 1;
  std::string counted = equation->output;
  for (size_t i = 0; i < equation->inputs.size(); ++i)
    for (size_t axis = 0; axis < equation->inputs[i].size(); ++axis)
      if (const char label = equation->inputs[i][axis]; !counted.contains(label)) {
        counted += label;
        terms *= extent(in.type(i), static_cast<int64_t>(axis));
      }
  return terms;
}

std::optional<Moments> contraction(const Inputs& in) {
  const Op& op = in.node.op;
  if (op.as<ops::Convolution>())
    return sum_of(sum_of_terms(filter_terms(in.type(1), 0), product_of(in(0), in(1))), in(2));
  if (const auto* back = op.as<ops::Deconvolution>()) {
    double terms = filter_terms(in.type(1), 1) / static_cast<double>(back->groups);
    for (const int64_t stride : back->strides) terms /= static_cast<double>(stride);
    return sum_of(sum_of_terms(std::max(terms, 1.0), product_of(in(0), in(1))), in(2));
  }
  if (const auto* product = op.as<ops::MatrixMultiply>())
    return sum_of_terms(extent(in.type(0), product->a == ops::MatrixOp::kTranspose ? -2 : -1),
                        product_of(in(0), in(1)));
  if (const auto* einsum = op.as<ops::Einsum>()) {
    Moments product{1, 1};
    for (size_t i = 0; i < in.node.inputs.size(); ++i) product = product_of(product, in(i));
    return sum_of_terms(einsum_terms(*einsum, in), product);
  }
  return std::nullopt;
}

/// Numbers that have no sign: those of a relu.
Moments positive_part(const Moments& x) { return larger_of(x, {0, 0}); }

Moments of(ops::UnaryKind kind, const Moments& x) {
  switch (kind) {
    case ops::UnaryKind::kCeil:
    case ops::UnaryKind::kFloor:
    case ops::UnaryKind::kRound:
    case ops::UnaryKind::kAsinh: return x;
    case ops::UnaryKind::kExp:
    case ops::UnaryKind::kCosh: return exponential_of(x);
    case ops::UnaryKind::kSinh: return {exponential_of(x).rms, 0};
    case ops::UnaryKind::kAbs: return magnitude_of(x);
    case ops::UnaryKind::kNeg: return negative_of(x);
    case ops::UnaryKind::kSqrt: return power_of(x, 0.5);
    case ops::UnaryKind::kRecip: return x.rms > 0 ? power_of(x, -1) : Moments();
    default: return {};
  }
}

Moments of(const ops::Activation& activation, const Moments& x) {
  using enum ops::ActivationKind;
  switch (activation.kind) {
    case kSigmoid:
    case kHardSigmoid: return {0.7, 0.5};
    case kTanh:
    case kSoftsign: return bounded(std::min(x.rms, 1.0), x.mean);
    case kScaledTanh: return bounded(std::min(x.rms, std::abs(activation.alpha)), x.mean);
    case kClip: {
      const Moments above = larger_of(x, {std::abs(activation.alpha), activation.alpha});
      const double bound = std::max(std::abs(activation.alpha), std::abs(activation.beta));
      return bounded(std::min(x.rms, bound), std::min(above.mean, activation.beta));
    }
    default: return positive_part(x);
  }
}

Moments element_wise(ops::ElementWiseKind kind, const Inputs& in) {
  const Moments a = in(0), b = in(1);
  switch (kind) {
    case ops::ElementWiseKind::kSum: return in.is_limit(0) ? b : in.is_limit(1) ? a : sum_of(a, b);
    case ops::ElementWiseKind::kSub: return in.is_limit(0) ? b : in.is_limit(1) ? a : sum_of(a, negative_of(b));
    case ops::ElementWiseKind::kProd: return in.node.inputs[0] == in.node.inputs[1] ? square_of(a) : product_of(a, b);
    case ops::ElementWiseKind::kDiv:
    case ops::ElementWiseKind::kFloorDiv: return b.rms > 0 ? product_of(a, power_of(b, -1)) : a;
    case ops::ElementWiseKind::kMax: return in.is_limit(0) ? b : in.is_limit(1) ? a : larger_of(a, b);
    case ops::ElementWiseKind::kMin:
      return in.is_limit(0) ? b : in.is_limit(1) ? a : negative_of(larger_of(negative_of(a), negative_of(b)));
    case ops::ElementWiseKind::kPow: return in.constant(1) ? power_of(a, b.spread() == 0 ? b.mean : b.rms) : a;
    case ops::ElementWiseKind::kMod: return a.rms < b.rms ? a : b;
    default: return {1, 0.5};  // bools
  }
}

Moments reduced(const ops::Reduce& reduce, const Inputs& in) {
  if (reduce.kind == ops::ReduceKind::kMax) return {in(0).rms, in(0).rms};
  if (reduce.kind != ops::ReduceKind::kSum) return in(0);
  double terms = 1;
  for (const int64_t axis : reduce.axes) terms *= extent(in.type(0), axis);
  return sum_of_terms(terms, in(0));
}

/// The last sum of each row, or the largest product of few factors.
Moments accumulated(const ops::Cumulative& cumulative, const Inputs& in) {
  if (cumulative.operation != CumulativeOperation::kSum) return in(0);
  const HostTensor* const axis = in.constant(1);
  return sum_of_terms(extent(in.type(0), axis ? static_cast<int64_t>(View(*axis)[0]) : cumulative.axis), in(0));
}

/// Weights of a row, whose sum is 1: their squares add up to 1 at most.
Moments softmax_of(double extent) { return bounded(1 / std::sqrt(extent), 1 / extent); }

double largest_of(DType quantized) {
  if (quantized == DType::kF8E4M3) return 448;
  if (quantized == DType::kF4E2M1) return 6;
  return static_cast<double>(range_of(quantized).greatest);
}

Moments quantized(DType to, const Inputs& in) {
  const Moments levels = sum_of(product_of(in(0), power_of(in(1), -1)), in(2));
  return bounded(std::min(levels.rms, largest_of(to)), levels.mean);
}

Moments scaled(const Inputs& in) {
  const Moments sum = sum_of(product_of(in(0), in(2, {1, 1})), in(1));
  return in.has(3) ? power_of(sum, in(3).mean) : sum;
}

std::optional<Moments> quantization(const Inputs& in, size_t output) {
  const Op& op = in.node.op;
  if (const auto* quantize = op.as<ops::Quantize>()) return quantized(quantize->to, in);
  if (op.as<ops::Dequantize>()) return product_of(sum_of(in(0), negative_of(in(2))), in(1));
  if (op.as<ops::DynamicQuantize>()) return output == 0 ? in(0) : Moments{1, 1};  // the product is x again
  return std::nullopt;
}

Moments estimate(const Inputs& in, size_t output) {
  const Op& op = in.node.op;
  if (const auto found = contraction(in)) return *found;
  if (const auto found = quantization(in, output)) return *found;
  if (const auto* unary = op.as<ops::Unary>()) return of(unary->kind, in(0));
  if (const auto* activation = op.as<ops::Activation>()) return of(*activation, in(0));
  if (const auto* binary = op.as<ops::ElementWise>()) return element_wise(binary->kind, in);
  if (const auto* reduce = op.as<ops::Reduce>()) return reduced(*reduce, in);
  if (const auto* cumulative = op.as<ops::Cumulative>()) return accumulated(*cumulative, in);
  if (op.as<ops::Normalization>()) return sum_of({in(1, {1, 1}).rms, 0}, in(2));
  if (op.as<ops::Scale>()) return scaled(in);
  if (const auto* softmax = op.as<ops::Softmax>()) return softmax_of(extent(in.type(0), softmax->axis));
  if (op.as<ops::RaggedSoftmax>()) return softmax_of(extent(in.type(0), -1));
  if (op.as<ops::Recurrence>()) return {1, 0};
  if (op.as<ops::Attention>()) return in(2);
  if (op.as<ops::Select>()) return in.is_limit(1) ? in(2) : in.is_limit(2) ? in(1) : in.largest();
  if (op.as<ops::Cast>() || (op.has(Trait::kMovement) && !op.as<ops::Concatenation>())) return in(0, {1, 0});
  return in.largest();
}

}  // namespace

Result<std::vector<double>> estimate_magnitudes(const ir::Graph& graph) {
  const std::vector<ir::NodeId> order = TRY(graph.topological_order());
  const SoftmaxReads reads = softmax_reads(graph, order);
  std::vector<Moments> known(static_cast<size_t>(graph.num_values()));
  for (const ir::ValueId input : graph.inputs()) known[ir::index(input)] = of_input(graph.type(input).dtype);
  for (const ir::NodeId id : order) {
    const ir::Node& node = graph.node(id);
    for (size_t output = 0; output < node.outputs.size(); ++output) {
      const size_t i = ir::index(node.outputs[output]);
      if (reads.scores[i] || reads.masks[i]) continue;
      const HostTensor* const constant = graph.constant(node.outputs[output]);
      known[i] = constant ? moments_of(*constant) : estimate({graph, node, known}, output);
    }
  }
  std::vector<double> magnitudes;
  for (const Moments& moments : known) magnitudes.push_back(moments.rms);
  return magnitudes;
}

}  // namespace kiln::passes
