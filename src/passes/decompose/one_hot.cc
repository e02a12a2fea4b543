/// OneHot: indices compared with the number of each class.
#include "ops/one_hot.h"
#include "ops/constant.h"
#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/fill.h"
#include "ops/reshape.h"
#include "ops/select.h"
#include "ops/slice.h"
#include "ops/unsqueeze.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {

Result<ir::ValueId> decompose_one_hot(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  const TensorType indices = graph.input_type(id, 0), y = graph.output_type(id);
  const int axis = TRY(normalize_axis(node.op.as<ops::OneHot>()->axis, y.rank()));
  const sym::Expr depth = y.shape[static_cast<size_t>(axis)];
  const auto binary = [&](ops::ElementWiseKind kind, ir::ValueId a, ir::ValueId b) {
    return graph.add_one(ops::ElementWise{kind}, {a, b});
  };
  std::vector<int64_t> ones(y.shape.size(), 1), along = ones;
  along[static_cast<size_t>(axis)] = -1;
  const ir::ValueId at = TRY(graph.add_one(ops::Unsqueeze{{axis}}, {node.inputs[0]}));
  const ir::ValueId zero = graph.add_constant(HostTensor::scalar(indices.dtype, 0).reshaped(ones), "");
  const ir::ValueId count = TRY(graph.add_one(ops::DimValues{{depth}, indices.dtype, ones}, {}));
  const ir::ValueId is_negative = TRY(binary(ops::ElementWiseKind::kLess, at, zero));
  const ir::ValueId wrapped = TRY(binary(ops::ElementWiseKind::kSum, at, count));
  const ir::ValueId index = TRY(graph.add_one(ops::Select{}, {is_negative, wrapped, at}));
  const ir::ValueId dims = TRY(graph.add_one(ops::DimValues{{depth}, DType::kI64, {1}}, {}));
  const ir::ValueId range = TRY(graph.add_one(ops::Fill{.to = indices.dtype}, {dims}));
  const ir::ValueId classes = TRY(graph.add_one(ops::Reshape{along, false}, {range}));
  const ir::ValueId is_on = TRY(binary(ops::ElementWiseKind::kEqual, index, classes));
  const auto value = [&](int64_t i) -> Result<ir::ValueId> {
    const ir::ValueId one = TRY(graph.add_one(ops::Slice{.starts = {i}, .sizes = {1}, .axes = {0}}, {node.inputs[1]}));
    return graph.add_one(ops::Reshape{ones, false}, {one});
  };
  return graph.add_one(ops::Select{}, {is_on, TRY(value(1)), TRY(value(0))});
}

}  // namespace kiln::passes
