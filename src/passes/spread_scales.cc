#include "passes/spread_scales.h"

#include <algorithm>

#include "ops/dequantize.h"
#include "ops/quantization.h"
#include "ops/quantize.h"
#include "passes/reshape_to.h"
#include "passes/rewrite.h"

namespace kiln::passes {
namespace {

/// Scales or zero points in the rank of x.
Result<ir::ValueId> spread(ir::Patch& patch, ir::ValueId given, int rank, int axis) {
  const Shape shape = patch.type(given).shape;
  const bool is_one = std::ranges::all_of(shape, [](const sym::Expr& extent) { return extent.constant() == 1; });
  return reshape_to(patch, given, is_one ? Shape(static_cast<size_t>(rank), 1) : spread_over(rank, axis, shape));
}

template <class T>
Status spread_of(const ir::Capture& found, ir::Patch& patch) {
  const ir::Node& node = found.node("y");
  const int rank = found.type("y").rank();
  if (patch.type(node.inputs[1]).rank() == rank) return {};
  std::vector<ir::ValueId> inputs = node.inputs;
  for (size_t i = 1; i < inputs.size(); ++i) inputs[i] = TRY(spread(patch, inputs[i], rank, node.op.as<T>()->axis));
  return patch.replace(found.value("y"), TRY(patch.add(node.op, inputs)));
}

template <class T>
Status spread_all(ir::Graph& graph) {
  const auto rule = [](const ir::Capture& found, ir::Patch& patch) { return spread_of<T>(found, patch); };
  TRY(rewrite(graph, ir::op<T>("y", ir::any("x"), ir::any("scale")), rule));
  return rewrite(graph, ir::op<T>("y", ir::any("x"), ir::any("scale"), ir::any("zero")), rule);
}

}  // namespace

Status spread_scales(ir::Graph& graph, PassContext&) {
  TRY(spread_all<ops::Quantize>(graph));
  return spread_all<ops::Dequantize>(graph);
}

}  // namespace kiln::passes
