#include "passes/recognize_gelu.h"

#include <cmath>
#include <numbers>

#include "passes/formula.h"
#include "passes/rewrite.h"

namespace kiln::passes {
namespace {

using namespace formula;
using ir::any;
using ir::number;

/// The product of x, 0.5 and `factor`, in every order.
std::vector<ir::Pattern> halves_of(const ir::Pattern& factor) {
  return {product(product(any("x"), factor), number(0.5), "y"), product(product(any("x"), number(0.5)), factor, "y"),
          product(any("x"), product(factor, number(0.5)), "y")};
}

Status replace_each(ir::Graph& graph, const PassContext& cx, const ir::Pattern& factor, ops::ActivationKind kind) {
  for (const ir::Pattern& pattern : halves_of(factor))
    TRY(rewrite(graph, pattern, [&](const ir::Capture& found, ir::Patch& patch) -> Status {
      const TensorType& x = found.type("x");
      if (cx.strongly_typed && x.dtype != DType::kF32 && x.dtype != DType::kF64) return {};
      // A constant of more elements than one may have broadcast x.
      if (!x.same_type(found.type("y"))) return {};
      return patch.replace(found.value("y"), TRY(patch.add(ops::Activation{kind}, {found.value("x")})));
    }));
  return {};
}

}  // namespace

Status recognize_gelu(ir::Graph& graph, PassContext& cx) {
  if (cx.refittable) return {};  // the constants that decide may become others
  const ir::Pattern x = any("x");
  for (const ir::Pattern& scaled :
       {quotient(x, number(std::numbers::sqrt2)), product(x, number(1 / std::numbers::sqrt2))})
    TRY(replace_each(graph, cx, sum(unary(ops::UnaryKind::kErf, scaled), number(1)), ops::ActivationKind::kGeluErf));
  const double slope = std::sqrt(2 / std::numbers::pi);
  const ir::Pattern c = number(0.044715);
  for (const ir::Pattern& cubic : {product(power(x, number(3)), c), product(product(product(x, x), x), c),
                                   product(x, product(x, product(x, c)))}) {
    const ir::Pattern inner = product(sum(x, cubic), number(slope));
    const ir::Pattern tanh = activation(ops::ActivationKind::kTanh, inner);
    TRY(replace_each(graph, cx, sum(tanh, number(1)), ops::ActivationKind::kGeluTanh));
  }
  return {};
}

}  // namespace kiln::passes
