#include "passes/recognize_normalization.h"

#include <algorithm>
#include <optional>

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
  const ir::Pattern normalized = ir::op<ops::Normalization>("normalized", any("x"));
  TRY(absorb(graph, cx, product(normalized, constant("c"), "y"), 1));
  return absorb(graph, cx, sum(normalized, constant("c"), "y"), 2);
}

}  // namespace kiln::passes
