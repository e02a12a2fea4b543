#include "passes/magnitudes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/activation.h"
#include "ops/attention.h"
#include "ops/convolution.h"
#include "ops/deconvolution.h"
#include "ops/einsum.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/normalization.h"
#include "ops/ragged_softmax.h"
#include "ops/recurrence.h"
#include "ops/reduce.h"
#include "ops/scale.h"
#include "ops/select.h"
#include "ops/softmax.h"
#include "ops/unary.h"
#include "passes/softmax_reads.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

constexpr int64_t kUnknownExtent = 64;         ///< of an axis that is summed over and that nobody knows yet
constexpr int64_t kSampledElements = 1 << 14;  ///< of a constant: its root mean square needs no more
/// Scalars beyond it stand for infinity, or bound what is far from them.
constexpr double kLargestScalar = 1e3;

/// The root mean square of what is finite.
double magnitude_of(const HostTensor& constant) {
  const int64_t volume = constant.volume(), step = volume / kSampledElements + 1;
  const View numbers(constant);
  double squares = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < volume; i += step) {
    const double number = numbers[i];
    if (!std::isfinite(number)) continue;
    squares += number * number;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
}

/// What the inputs of a node are, for the estimates of its outputs.
struct Inputs {
  const ir::Graph& graph;
  const ir::Node& node;
  const std::vector<double>& known;

  bool has(size_t i) const { return node.input(i) != ir::ValueId::kNone; }
  double magnitude(size_t i) const { return has(i) ? known[ir::index(node.input(i))] : 0; }
  const TensorType& type(size_t i) const { return graph.type(node.input(i)); }
  /// Of the floats among them; 1 if there is none.
  double largest() const {
    std::optional<double> result;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (has(i) && is_float(type(i).dtype)) result = std::max(result.value_or(0), magnitude(i));
    return result.value_or(1);
  }
  /// Whether it is a scalar that stands for infinity.
  bool is_limit(size_t i) const {
    const HostTensor* const constant = has(i) ? graph.constant(node.input(i)) : nullptr;
    return constant && constant->volume() == 1 && magnitude(i) > kLargestScalar;
  }
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

double sum_of(double a, double b) { return std::hypot(a, b); }

std::optional<double> contraction(const Inputs& in) {
  const Op& op = in.node.op;
  if (op.as<ops::Convolution>())
    return sum_of(in.magnitude(0) * in.magnitude(1) * std::sqrt(filter_terms(in.type(1), 0)), in.magnitude(2));
  if (const auto* back = op.as<ops::Deconvolution>()) {
    double terms = filter_terms(in.type(1), 1) / static_cast<double>(back->groups);
    for (const int64_t stride : back->strides) terms /= static_cast<double>(stride);
    return sum_of(in.magnitude(0) * in.magnitude(1) * std::sqrt(std::max(terms, 1.0)), in.magnitude(2));
  }
  if (const auto* product = op.as<ops::MatrixMultiply>()) {
    const double terms = extent(in.type(0), product->a == ops::MatrixOp::kTranspose ? -2 : -1);
    return in.magnitude(0) * in.magnitude(1) * std::sqrt(terms);
  }
  if (op.as<ops::Einsum>()) {
    double product = std::sqrt(static_cast<double>(kUnknownExtent));
    for (size_t i = 0; i < in.node.inputs.size(); ++i) product *= in.magnitude(i);
    return product;
  }
  return std::nullopt;
}

double of(ops::UnaryKind kind, double x) {
  switch (kind) {
    case ops::UnaryKind::kAbs:
    case ops::UnaryKind::kNeg:
    case ops::UnaryKind::kCeil:
    case ops::UnaryKind::kFloor:
    case ops::UnaryKind::kRound:
    case ops::UnaryKind::kAsinh: return x;
    case ops::UnaryKind::kSqrt: return std::sqrt(x);
    case ops::UnaryKind::kRecip: return x > 0 ? 1 / x : 1;
    default: return 1;
  }
}

double of(const ops::Activation& activation, double x) {
  switch (activation.kind) {
    case ops::ActivationKind::kSigmoid:
    case ops::ActivationKind::kTanh:
    case ops::ActivationKind::kSoftsign:
    case ops::ActivationKind::kHardSigmoid: return std::min(x, 1.0);
    case ops::ActivationKind::kScaledTanh: return std::min(x, std::abs(activation.alpha));
    case ops::ActivationKind::kClip:
      return std::min(x, std::max(std::abs(activation.alpha), std::abs(activation.beta)));
    default: return x;
  }
}

double element_wise(ops::ElementWiseKind kind, const Inputs& in) {
  const double a = in.magnitude(0), b = in.magnitude(1);
  switch (kind) {
    case ops::ElementWiseKind::kSum:
    case ops::ElementWiseKind::kSub: return in.is_limit(0) ? b : in.is_limit(1) ? a : sum_of(a, b);
    case ops::ElementWiseKind::kProd: return a * b;
    case ops::ElementWiseKind::kDiv:
    case ops::ElementWiseKind::kFloorDiv: return b > 0 ? a / b : a;
    case ops::ElementWiseKind::kMax:
    case ops::ElementWiseKind::kMin: return in.is_limit(0) ? b : in.is_limit(1) ? a : std::max(a, b);
    case ops::ElementWiseKind::kPow: return in.graph.constant(in.node.inputs[1]) ? std::pow(a, b) : a;
    case ops::ElementWiseKind::kMod: return std::min(a, b);
    default: return 1;
  }
}

double reduced(const ops::Reduce& reduce, const Inputs& in) {
  if (reduce.kind != ops::ReduceKind::kSum) return in.magnitude(0);
  double terms = 1;
  for (const int64_t axis : reduce.axes) terms *= extent(in.type(0), axis);
  return in.magnitude(0) * std::sqrt(terms);
}

double estimate(const Inputs& in) {
  const Op& op = in.node.op;
  if (const auto found = contraction(in)) return *found;
  if (const auto* unary = op.as<ops::Unary>()) return of(unary->kind, in.magnitude(0));
  if (const auto* activation = op.as<ops::Activation>()) return of(*activation, in.magnitude(0));
  if (const auto* binary = op.as<ops::ElementWise>()) return element_wise(binary->kind, in);
  if (const auto* reduce = op.as<ops::Reduce>()) return reduced(*reduce, in);
  if (op.as<ops::Normalization>()) return sum_of(in.has(1) ? in.magnitude(1) : 1, in.magnitude(2));
  if (op.as<ops::Scale>()) return sum_of(in.magnitude(0) * (in.has(2) ? in.magnitude(2) : 1), in.magnitude(1));
  if (op.as<ops::Softmax>() || op.as<ops::RaggedSoftmax>() || op.as<ops::Recurrence>()) return 1;
  if (op.as<ops::Attention>()) return in.magnitude(2);
  if (op.as<ops::Select>()) return in.is_limit(1) ? in.magnitude(2) : in.is_limit(2) ? in.magnitude(1) : in.largest();
  return in.largest();
}

}  // namespace

Result<std::vector<double>> estimate_magnitudes(const ir::Graph& graph) {
  const std::vector<ir::NodeId> order = TRY(graph.topological_order());
  const SoftmaxReads reads = softmax_reads(graph, order);
  std::vector<double> known(static_cast<size_t>(graph.num_values()), 1.0);
  for (const ir::NodeId id : order) {
    const ir::Node& node = graph.node(id);
    for (const ir::ValueId output : node.outputs) {
      const size_t i = ir::index(output);
      if (reads.scores[i] || reads.masks[i]) continue;
      const HostTensor* const constant = graph.constant(output);
      known[i] = constant ? magnitude_of(*constant) : estimate({graph, node, known});
    }
  }
  return known;
}

}  // namespace kiln::passes
