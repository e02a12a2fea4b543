#include "passes/recognize_normalization.h"

#include <algorithm>
#include <optional>

#include "ops/cast.h"
#include "ops/normalization.h"
#include "ops/reduce.h"
#include "passes/formula.h"
#include "passes/rewrite.h"

namespace kiln::passes {
namespace {

using namespace formula;
using ir::any;
using ir::constant;

/// The axes of a mean along the last axes, from the front; nothing for other reductions.
std::optional<std::vector<int64_t>> mean_axes(const ops::Reduce& reduce, int rank) {
  if (reduce.kind != ops::ReduceKind::kAvg || !reduce.keep || reduce.axes.empty()) return std::nullopt;
  std::vector<int64_t> axes;
  for (const int64_t axis : reduce.axes) axes.push_back(axis < 0 ? axis + rank : axis);
  std::ranges::sort(axes);
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != rank - static_cast<int64_t>(axes.size() - i)) return std::nullopt;
  return axes;
}

bool rounds_in_between(const PassContext& cx, DType dtype) {
  return cx.strongly_typed && dtype != DType::kF32 && dtype != DType::kF64;
}

Status recognize_core(ir::Graph& graph, const PassContext& cx) {
  const ir::Pattern centred = difference(any("x"), ir::op<ops::Reduce>("mean", any("x")), "centred");
  for (const ir::Pattern& square : {power(centred, ir::number(2)), product(centred, centred)}) {
    const ir::Pattern deviation =
        unary(ops::UnaryKind::kSqrt, sum(ir::op<ops::Reduce>("variance", square), constant("epsilon")));
    for (const ir::Pattern& pattern :
         {quotient(centred, deviation, "y"), product(centred, unary(ops::UnaryKind::kRecip, deviation), "y")})
      TRY(rewrite(graph, pattern, [&](const ir::Capture& found, ir::Patch& patch) -> Status {
        const TensorType& x = found.type("x");
        const auto axes = mean_axes(found.op<ops::Reduce>("mean"), x.rank());
        const auto epsilon = ir::uniform_constant(found.graph(), found.value("epsilon"));
        if (!axes || axes != mean_axes(found.op<ops::Reduce>("variance"), x.rank()) || !epsilon || *epsilon < 0 ||
            x.dtype == DType::kF64 || rounds_in_between(cx, x.dtype) || !x.same_type(found.type("y")))
          return {};
        const ops::Normalization normalization{.axes = *axes, .epsilon = *epsilon};
        return patch.replace(found.value("y"), TRY(patch.add(normalization, {found.value("x")})));
      }));
  }
  return {};
}

/// What x is divided by, as exporters spell it: the root of `square` (named "mean") and an epsilon, inverted.
std::vector<ir::Pattern> inverse_roots(const ir::Pattern& mean) {
  const ir::Pattern shifted = sum(mean, constant("epsilon")), root = unary(ops::UnaryKind::kSqrt, shifted);
  return {unary(ops::UnaryKind::kRecip, root), quotient(ir::number(1), root), power(shifted, ir::number(-0.5))};
}

Status recognize_root(ir::Graph& graph, const PassContext& cx) {
  const ir::Pattern x = any("x");
  for (const ir::Pattern& square : {power(x, ir::number(2)), product(x, x)}) {
    const ir::Pattern mean = ir::op<ops::Reduce>("mean", square);
    std::vector<ir::Pattern> patterns{quotient(x, unary(ops::UnaryKind::kSqrt, sum(mean, constant("epsilon"))), "y")};
    for (const ir::Pattern& inverse : inverse_roots(mean)) patterns.push_back(product(x, inverse, "y"));
    for (const ir::Pattern& pattern : patterns)
      TRY(rewrite(graph, pattern, [&](const ir::Capture& found, ir::Patch& patch) -> Status {
        const TensorType& type = found.type("x");
        const auto axes = mean_axes(found.op<ops::Reduce>("mean"), type.rank());
        const auto epsilon = ir::uniform_constant(found.graph(), found.value("epsilon"));
        if (!axes || !epsilon || *epsilon < 0 || !is_float(type.dtype) || type.dtype == DType::kF64 ||
            rounds_in_between(cx, type.dtype) || !type.same_type(found.type("y")))
          return {};
        const ops::Normalization op{.axes = *axes, .epsilon = *epsilon, .centered = false};
        return patch.replace(found.value("y"), TRY(patch.add(op, {found.value("x")})));
      }));
  }
  return {};
}

/// A Normalization in FP32 of what was cast to it, and whose result is cast back, is one of the narrower type, which
/// is computed in FP32 and rounded once.
Status absorb_casts(ir::Graph& graph) {
  const ir::Pattern pattern =
      ir::op<ops::Cast>("y", ir::op<ops::Normalization>("normalized", ir::op<ops::Cast>("wide", any("x"))));
  return rewrite(graph, pattern, [&](const ir::Capture& found, ir::Patch& patch) -> Status {
    const DType type = found.type("x").dtype;
    if (found.node("normalized").inputs.size() != 1 || !found.used_once("normalized") ||
        found.type("wide").dtype != DType::kF32 || found.type("y").dtype != type ||
        (type != DType::kF16 && type != DType::kBF16))
      return {};
    const ir::ValueId y = TRY(patch.add(found.op<ops::Normalization>("normalized"), {found.value("x")}));
    return patch.replace(found.value("y"), y);
  });
}

/// Extents without leading ones, down to the normalised axes' rank.
Extents without_leading_ones(Extents extents, size_t rank) {
  while (extents.size() > rank && extents[0] == 1) extents.erase(extents.begin());
  return extents;
}

/// A factor or summand behind a Normalization becomes its input `position`, where it has room.
Status absorb(ir::Graph& graph, const PassContext& cx, const ir::Pattern& pattern, size_t position) {
  return rewrite(graph, pattern, [&](const ir::Capture& found, ir::Patch& patch) -> Status {
    const ir::Node& node = found.node("normalized");
    const auto& op = found.op<ops::Normalization>("normalized");
    const bool taken = node.inputs.size() > position || (position == 1 && node.inputs.size() > 1);
    if (taken || !found.used_once("normalized") || op.groups != 1 || rounds_in_between(cx, found.type("y").dtype) ||
        !found.type("normalized").same_type(found.type("y")))
      return {};
    const Extents numbers = without_leading_ones(found.constant("c")->extents(), op.axes.size());
    // Kernels read one element of scale and bias for each normalised element.
    const Shape& y = found.type("y").shape;
    const Shape normalized(y.end() - static_cast<std::ptrdiff_t>(op.axes.size()), y.end());
    if (Shape(numbers.begin(), numbers.end()) != normalized) return {};
    std::vector<ir::ValueId> inputs = node.inputs;
    inputs.resize(position, ir::ValueId::kNone);
    inputs.push_back(patch.add_reshaped(found.value("c"), numbers));
    return patch.replace(found.value("y"), TRY(patch.add(op, inputs)));
  });
}

}  // namespace

Status recognize_normalization(ir::Graph& graph, PassContext& cx) {
  if (cx.refittable) return {};  // the constants that decide may become others
  TRY(recognize_core(graph, cx));
  TRY(recognize_root(graph, cx));
  TRY(absorb_casts(graph));
  const ir::Pattern normalized = ir::op<ops::Normalization>("normalized", any("x"));
  TRY(absorb(graph, cx, product(normalized, constant("c"), "y"), 1));
  return absorb(graph, cx, sum(normalized, constant("c"), "y"), 2);
}

}  // namespace kiln::passes
