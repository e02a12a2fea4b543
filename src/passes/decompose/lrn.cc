/// Lrn: an average of squares over a window of channels, and what is computed from it.
#include "ops/lrn.h"
#include "ops/pooling.h"
#include "passes/decompose/compose.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {

Result<ir::ValueId> decompose_lrn(ir::Graph& graph, ir::NodeId id) {
  using enum ops::ElementWiseKind;
  const ir::Node node = graph.node(id);
  const ops::Lrn& lrn = *node.op.as<ops::Lrn>();
  const ir::ValueId x = node.inputs[0];
  const Shape shape = graph.type(x).shape;
  // Channels become rows of an image of one channel, over which a window of one column slides.
  const Shape image{shape[0], 1, shape[1], sym::product(std::span(shape).subspan(2))};
  ops::Pooling average{.kind = ops::PoolingKind::kAverage, .window = {lrn.window, 1}};
  average.strides = average.dilations = {1, 1};
  average.pre_pads = {(lrn.window - 1) / 2, 0};
  average.post_pads = {lrn.window / 2, 0};
  average.average_excludes_padding = false;
  const ir::ValueId squares = TRY(binary(graph, kProd, x, x));
  const ir::ValueId mean = TRY(graph.add_one(std::move(average), {TRY(reshaped(graph, squares, image))}));
  const ir::ValueId scaled = TRY(binary(graph, kProd, TRY(reshaped(graph, mean, shape)), lrn.alpha));
  const ir::ValueId shifted = TRY(binary(graph, kSum, scaled, lrn.k));
  return binary(graph, kDiv, x, TRY(binary(graph, kPow, shifted, lrn.beta)));
}

}  // namespace kiln::passes
