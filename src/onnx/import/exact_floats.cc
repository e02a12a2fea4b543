#include "onnx/import/exact_floats.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/element_wise.h"
#include "ops/movement.h"
#include "ops/unary.h"
#include "sym/real.h"
#include "tensor/view.h"

namespace kiln::onnx {
namespace {

using ops::ElementWiseKind;
using ops::UnaryKind;

constexpr int kDeepest = 64;               // nodes above one another: exporters write some ten
constexpr int64_t kMostNumbers = 1 << 16;  // looked at for one value: the lengths of thousands of tensors may be joined
constexpr int64_t kLargest =
    1024;  // denominators beyond are those of constants that are no short fraction, such as 0.1

/// over / under, where under > 0.
struct Ratio {
  sym::Expr over;
  int64_t under = 1;
};
using Ratios = std::vector<Ratio>;

std::optional<Ratio> ratio_of(double number) {
  for (int64_t under = 1; under <= kLargest; under *= 2) {
    const double over = number * static_cast<double>(under);
    if (std::abs(over) > 0x1p53) return std::nullopt;
    if (over == std::floor(over)) return Ratio{static_cast<int64_t>(over), under};
  }
  return std::nullopt;
}

/// Both over one denominator.
std::pair<Ratio, Ratio> aligned(const Ratio& a, const Ratio& b) {
  const int64_t under = std::lcm(a.under, b.under);
  return {{a.over * (under / a.under), under}, {b.over * (under / b.under), under}};
}

std::optional<Ratio> quotient(const Ratio& a, const Ratio& b) {
  if (!b.over.is_const() || b.over.value() == 0 || std::abs(b.over.value()) > kLargest) return std::nullopt;
  const int64_t by = b.over.value();
  return Ratio{a.over * (by < 0 ? -b.under : b.under), a.under * std::abs(by)};
}

std::optional<Ratio> combine(ElementWiseKind kind, const Ratio& x, const Ratio& y) {
  if (kind == ElementWiseKind::kProd) return Ratio{x.over * y.over, x.under * y.under};
  if (kind == ElementWiseKind::kDiv) return quotient(x, y);
  const auto [a, b] = aligned(x, y);
  switch (kind) {
    case ElementWiseKind::kSum: return Ratio{a.over + b.over, a.under};
    case ElementWiseKind::kSub: return Ratio{a.over - b.over, a.under};
    case ElementWiseKind::kMax: return Ratio{sym::max(a.over, b.over), a.under};
    case ElementWiseKind::kMin: return Ratio{sym::min(a.over, b.over), a.under};
    default: return std::nullopt;
  }
}

std::optional<Ratio> combine(UnaryKind kind, const Ratio& x) {
  switch (kind) {
    case UnaryKind::kNeg: return Ratio{-x.over, x.under};
    case UnaryKind::kCeil: return Ratio{sym::ceil_div(x.over, x.under)};
    case UnaryKind::kFloor: return Ratio{sym::floor_div(x.over, x.under)};
    default: return std::nullopt;
  }
}

/// Goes from a value up to what it is computed from.
class Walk {
 public:
  explicit Walk(const ir::Graph& graph) : graph_(graph) {}

  std::optional<Ratios> of(ValueId id, int depth = 0) {
    const TensorType& type = graph_.type(id);
    const auto count = type.volume().constant();
    if (depth > kDeepest || !type.is_static() || !count || *count > kMostFollowedValues) return std::nullopt;
    if ((visited_ += 1 + *count) > kMostNumbers) return std::nullopt;
    if (type.values) return of_values(type);
    if (const HostTensor* constant = graph_.constant(id)) return of_constant(*constant);
    if (graph_.value(id).producer == ir::NodeId::kNone || !is_exact_type(type.dtype)) return std::nullopt;
    auto found = of_node(graph_.node(graph_.value(id).producer), depth + 1);
    if (!found || found->size() != static_cast<size_t>(*count)) return std::nullopt;
    for (const Ratio& ratio : *found)
      if (!ratio.over.is_valid() || ratio.under > kLargest) return std::nullopt;
    return found;
  }

 private:
  /// Whether floats of the type hold lengths exactly; halves have too few digits.
  static bool is_exact_type(DType dtype) { return dtype == DType::kF32 || dtype == DType::kF64; }

  static std::optional<Ratios> of_values(const TensorType& type) {
    Ratios result;
    for (const sym::Expr& e : *type.values) {
      const auto ratio = is_float(type.dtype) ? sym::ratio_of(e) : sym::Ratio{e};
      if (!ratio) return std::nullopt;
      result.push_back({ratio->over, ratio->under});
    }
    return result;
  }

  static std::optional<Ratios> of_constant(const HostTensor& constant) {
    Ratios result;
    for (const double number : View(constant).numbers()) {
      const auto ratio = ratio_of(number);
      if (!ratio) return std::nullopt;
      result.push_back(*ratio);
    }
    return result;
  }

  std::optional<Ratios> of_node(const ir::Node& node, int depth) {
    if (const auto* op = node.op.as<ops::ElementWise>()) return of_pair(node, op->kind, depth);
    if (const auto* op = node.op.as<ops::Unary>()) {
      auto x = of(node.inputs[0], depth);
      for (size_t i = 0; x && i < x->size(); ++i) {
        const auto value = combine(op->kind, (*x)[i]);
        if (!value) return std::nullopt;
        (*x)[i] = *value;
      }
      return x;
    }
    if (node.op.as<ops::Concatenation>() && graph_.type(node.outputs[0]).rank() == 1) return of_joined(node, depth);
    if (node.op.as<ops::Cast>() || node.op.has(Trait::kAlias)) return of(node.inputs[0], depth);
    return std::nullopt;
  }

  /// Combines elements at the same position; an input of one element is combined with all elements of the other.
  std::optional<Ratios> of_pair(const ir::Node& node, ElementWiseKind kind, int depth) {
    const auto a = of(node.inputs[0], depth), b = of(node.inputs[1], depth);
    if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return std::nullopt;
    if (a->empty() || b->empty()) return std::nullopt;
    Ratios result;
    for (size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
      const auto value = combine(kind, (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
      if (!value) return std::nullopt;
      result.push_back(*value);
    }
    return result;
  }

  std::optional<Ratios> of_joined(const ir::Node& node, int depth) {
    Ratios result;
    for (const ValueId input : node.inputs) {
      const auto part = of(input, depth);
      if (!part) return std::nullopt;
      result.insert(result.end(), part->begin(), part->end());
    }
    return result;
  }

  const ir::Graph& graph_;
  int64_t visited_ = 0;  // numbers, and a node each
};

}  // namespace

std::optional<SymbolicValues> exact_whole_numbers(ImportContext& cx, ValueId value) {
  const auto ratios = Walk(cx.graph()).of(value);
  if (!ratios || ratios->size() > kMostFollowedValues) return std::nullopt;
  SymbolicValues result;
  for (const Ratio& ratio : *ratios) {
    result.push_back(sym::truncated_div(ratio.over, ratio.under));
    if (!result.back().is_valid()) return std::nullopt;
  }
  return result;
}

}  // namespace kiln::onnx
