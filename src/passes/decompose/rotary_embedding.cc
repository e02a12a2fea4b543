/// RotaryEmbedding: pairs of channels, and the same pairs reversed, with their products with cosines and sines.
#include "ops/rotary_embedding.h"

#include "ops/concatenation.h"
#include "ops/gather.h"
#include "ops/identity.h"
#include "ops/slice.h"
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
  // Pairs of channels, of an axis of two, and the same backwards along it: kernels read both where x lies.
  const int axis = op.interleaved ? 4 : 3, other = 7 - axis;
  const auto angles = [&](size_t input) -> Result<ir::ValueId> {  // [batch, 1, length, ...] for pairs
    ir::ValueId cache = node.inputs[input];
    if (node.input(3) != ir::ValueId::kNone) cache = TRY(graph.add_one(ops::Gather{}, {cache, node.inputs[3]}));
    return graph.add_one(ops::Unsqueeze{{1, axis}}, {cache});
  };
  Shape of_pairs{shape[0], shape[1], shape[2], 2, 2};
  of_pairs[static_cast<size_t>(other)] = half;
  const ir::ValueId part = rotated < size ? TRY(last_axis_part(graph, x, 0, rotated)) : x;
  const ir::ValueId pairs = TRY(reshaped(graph, part, of_pairs));
  const ir::ValueId reversed =
      TRY(graph.add_one(ops::Slice{.starts = {1}, .sizes = {2}, .strides = {-1}, .axes = {axis}}, {pairs}));
  Extents of_signs(5, 1);
  of_signs[static_cast<size_t>(axis)] = 2;
  constexpr double kSigns[] = {-1, 1};
  const ir::ValueId signs = graph.add_constant(HostTensor::of(graph.type(x).dtype, of_signs, kSigns), "");
  const ir::ValueId sines = TRY(binary(graph, kProd, TRY(angles(2)), signs));
  const ir::ValueId turned = TRY(binary(graph, kSum, TRY(binary(graph, kProd, pairs, TRY(angles(1)))),
                                        TRY(binary(graph, kProd, reversed, sines))));
  const ir::ValueId y = TRY(reshaped(graph, turned, {shape[0], shape[1], shape[2], rotated}));
  if (rotated == size) return y;
  const ir::ValueId rest = TRY(last_axis_part(graph, x, rotated, size - rotated));
  return graph.add_one(ops::Concatenation{3}, {y, rest});
}

}  // namespace kiln::passes
