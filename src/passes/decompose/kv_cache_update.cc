/// KvCacheUpdate: a scatter of rows. Rows outside of the cache are scattered to where they would be if the cache began
/// anew at its end, with what is there already: as no two rows of a batch go to one place, their order does not matter.
#include "ops/kv_cache_update.h"

#include "ops/concatenation.h"
#include "ops/gather.h"
#include "ops/scatter.h"
#include "ops/select.h"
#include "ops/unsqueeze.h"
#include "passes/decompose/compose.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {

Result<ir::ValueId> decompose_kv_cache_update(ir::Graph& graph, ir::NodeId id) {
  using enum ops::ElementWiseKind;
  const ir::Node node = graph.node(id);
  const ir::ValueId cache = node.inputs[0], update = node.inputs[1];
  const Shape written = graph.type(update).shape;
  const DType dtype = graph.input_type(id, 2).dtype;
  const ir::ValueId first = TRY(graph.add_one(ops::Unsqueeze{{1}}, {node.inputs[2]}));
  const ir::ValueId row = TRY(binary(graph, kSum, first, TRY(indices_along(graph, written[2], 1, 2, dtype))));
  const ir::ValueId most = TRY(extent_value(graph, graph.type(cache).shape[2], dtype, 2));
  const ir::ValueId rounds = TRY(binary(graph, kFloorDiv, row, most));
  const ir::ValueId within = TRY(binary(graph, kSub, row, TRY(binary(graph, kProd, rounds, most))));
  const ir::ValueId is_inside = TRY(graph.add_one(ops::Unsqueeze{{1, 3}}, {TRY(binary(graph, kEqual, rounds, 0))}));
  const ir::ValueId old = TRY(graph.add_one(ops::Gather{.axis = 2, .num_elementwise_dims = 1}, {cache, within}));
  const ir::ValueId rows = TRY(graph.add_one(ops::Select{}, {is_inside, update, old}));
  const ir::ValueId coordinate[] = {TRY(indices_along(graph, written[0], 0, 4, dtype)),
                                    TRY(indices_along(graph, written[1], 1, 4, dtype)),
                                    TRY(graph.add_one(ops::Unsqueeze{{1, 3}}, {within}))};
  std::vector<ir::ValueId> coordinates;
  for (const ir::ValueId each : coordinate)
    coordinates.push_back(TRY(expanded(graph, each, {written[0], written[1], written[2], 1})));
  const ir::ValueId indices = TRY(graph.add_one(ops::Concatenation{3}, coordinates));
  return graph.add_one(ops::Scatter{.mode = ScatterMode::kNd}, {cache, indices, rows});
}

}  // namespace kiln::passes
