/// RotaryEmbedding: slices of the channels, their products with cosines and sines, and the slices side by side again.
#include "ops/rotary_embedding.h"

#include "ops/concatenation.h"
#include "ops/gather.h"
#include "ops/identity.h"
#include "ops/unsqueeze.h"
#include "passes/decompose/compose.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {

Result<ir::ValueId> decompose_rotary_embedding(ir::Graph& graph, ir::NodeId id) {
  using enum ops::ElementWiseKind;
  const ir::Node node = graph.node(id);
  const auto& op = *node.op.as<ops::RotaryEmbedding>();
  const ir::ValueId x = node.inputs[0];
  const Shape shape = graph.type(x).shape;
  const int64_t size = shape[3].value(), rotated = op.dim == 0 ? size : op.dim, half = rotated / 2;
  if (half == 0) return graph.add_one(ops::Identity{}, {x});
  const auto angles = [&](size_t input) -> Result<ir::ValueId> {  // [batch, 1, length, half]
    ir::ValueId cache = node.inputs[input];
    if (node.input(3) != ir::ValueId::kNone) cache = TRY(graph.add_one(ops::Gather{}, {cache, node.inputs[3]}));
    return graph.add_one(ops::Unsqueeze{{1}}, {cache});
  };
  const ir::ValueId cos = TRY(angles(1)), sin = TRY(angles(2));
  const int64_t step = op.interleaved ? 2 : 1;
  const ir::ValueId a = TRY(last_axis_part(graph, x, 0, half, step));
  const ir::ValueId b = TRY(last_axis_part(graph, x, op.interleaved ? 1 : half, half, step));
  const auto turned = [&](ops::ElementWiseKind kind, ir::ValueId u, ir::ValueId v) -> Result<ir::ValueId> {
    return binary(graph, kind, TRY(binary(graph, kProd, a, u)), TRY(binary(graph, kProd, b, v)));
  };
  std::vector<ir::ValueId> parts{TRY(turned(kSub, cos, sin)), TRY(turned(kSum, sin, cos))};
  if (op.interleaved) {
    for (ir::ValueId& part : parts) part = TRY(graph.add_one(ops::Unsqueeze{{4}}, {part}));
    const ir::ValueId pairs = TRY(graph.add_one(ops::Concatenation{4}, parts));
    parts = {TRY(reshaped(graph, pairs, {shape[0], shape[1], shape[2], rotated}))};
  }
  if (rotated < size) parts.push_back(TRY(last_axis_part(graph, x, rotated, size - rotated)));
  return parts.size() == 1 ? Result<ir::ValueId>(parts[0]) : graph.add_one(ops::Concatenation{3}, parts);
}

}  // namespace kiln::passes
