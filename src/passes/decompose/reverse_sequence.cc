/// ReverseSequence: elements picked along the sequence's axis, by indices that each sequence has of its own.
#include "ops/reverse_sequence.h"
#include "ops/constant.h"
#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/fill.h"
#include "ops/gather.h"
#include "ops/select.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {
namespace {

/// For each sequence and place, the place of the element that goes there.
Result<ir::ValueId> places(ir::Graph& graph, ir::ValueId lens, sym::Expr extent) {
  const DType dtype = graph.type(lens).dtype;
  const ir::ValueId dims = TRY(graph.add_one(ops::DimValues{{extent}, DType::kI64, {1}}, {}));
  const ir::ValueId range = TRY(graph.add_one(ops::Fill{.to = dtype}, {dims}));
  const ir::ValueId place = TRY(graph.add_one(ops::Unsqueeze{{0}}, {range}));
  const ir::ValueId length = TRY(graph.add_one(ops::Unsqueeze{{1}}, {lens}));
  const ir::ValueId one = graph.add_constant(HostTensor::scalar(dtype, 1).reshaped({1, 1}), "");
  const auto binary = [&](ops::ElementWiseKind kind, ir::ValueId a, ir::ValueId b) {
    return graph.add_one(ops::ElementWise{kind}, {a, b});
  };
  const ir::ValueId zero = graph.add_constant(HostTensor::scalar(dtype, 0).reshaped({1, 1}), "");
  const ir::ValueId last = TRY(binary(ops::ElementWiseKind::kSub, length, one));
  const ir::ValueId mirrored = TRY(binary(ops::ElementWiseKind::kSub, last, place));
  const ir::ValueId is_within = TRY(binary(ops::ElementWiseKind::kLess, place, length));
  // A negative length mirrors every place, which takes the last one out of the axis: the gather tells it then.
  const ir::ValueId is_wrong = TRY(binary(ops::ElementWiseKind::kLess, length, zero));
  const ir::ValueId is_mirrored = TRY(binary(ops::ElementWiseKind::kOr, is_within, is_wrong));
  return graph.add_one(ops::Select{}, {is_mirrored, mirrored, place});
}

}  // namespace

Result<ir::ValueId> decompose_reverse_sequence(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  const auto& op = *node.op.as<ops::ReverseSequence>();
  const TensorType x = graph.input_type(id, 0);
  const int batch = TRY(normalize_axis(op.batch_axis, x.rank())),
            sequence = TRY(normalize_axis(op.sequence_axis, x.rank()));
  ops::Transpose there{{batch, sequence}}, back;  // sequences first, then their elements
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (axis != batch && axis != sequence) there.perm.push_back(axis);
  back.perm.resize(there.perm.size());
  for (size_t i = 0; i < there.perm.size(); ++i)
    back.perm[static_cast<size_t>(there.perm[i])] = static_cast<int64_t>(i);
  const ir::ValueId rows = TRY(graph.add_one(there, {node.inputs[0]}));
  const ir::ValueId from = TRY(places(graph, node.inputs[1], x.shape[static_cast<size_t>(sequence)]));
  const ir::ValueId reversed = TRY(graph.add_one(ops::Gather{.axis = 1, .num_elementwise_dims = 1}, {rows, from}));
  return graph.add_one(back, {reversed});
}

}  // namespace kiln::passes
