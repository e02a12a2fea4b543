#include "passes/split_coefficients.h"

#include "ops/element_wise.h"
#include "ops/normalization.h"
#include "passes/reshape_to.h"
#include "passes/rewrite.h"

namespace kiln::passes {
namespace {

bool may_repeat(const Shape& coefficient, const Shape& x) {
  const size_t skip = x.size() - coefficient.size();
  for (size_t axis = 0; axis < coefficient.size(); ++axis)
    if (!sym::provably_equal(coefficient[axis], 1) && !sym::provably_equal(coefficient[axis], x[skip + axis]))
      return true;
  return false;
}

/// `x` combined with the coefficient, if there is one, in x's shape.
Result<ir::ValueId> applied(ir::Patch& patch, ir::ValueId x, const ir::Node& node, size_t input,
                            ops::ElementWiseKind kind) {
  if (node.input(input) == ir::ValueId::kNone) return x;
  const Shape shape = patch.type(x).shape, own = patch.type(node.inputs[input]).shape;
  Shape aligned(shape.size() - own.size(), 1);
  aligned.insert(aligned.end(), own.begin(), own.end());
  const ir::ValueId coefficient = TRY(reshape_to(patch, node.inputs[input], aligned));
  return reshape_to(patch, TRY(patch.add(ops::ElementWise{kind}, {x, coefficient})), shape);
}

}  // namespace

Status split_coefficients(ir::Graph& graph, PassContext&) {
  return rewrite(graph, ir::op<ops::Normalization>("y"), [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const ir::Node& node = found.node("y");
    const auto& op = found.op<ops::Normalization>("y");
    const auto repeats = [&](size_t input) {
      return node.input(input) != ir::ValueId::kNone &&
             may_repeat(found.graph().type(node.inputs[input]).shape, found.type("y").shape);
    };
    if (op.groups != 1 || (!repeats(1) && !repeats(2))) return {};
    ir::ValueId y = TRY(patch.add(op, {node.inputs[0]}));
    y = TRY(applied(patch, y, node, 1, ops::ElementWiseKind::kProd));
    return patch.replace(found.value("y"), TRY(applied(patch, y, node, 2, ops::ElementWiseKind::kSum)));
  });
}

}  // namespace kiln::passes
