#include "backend/cpu/tactics/lower.h"

#include "ops/cast.h"
#include "ops/constant.h"
#include "ops/dim_values.h"
#include "ops/fill.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

bool is_half(DType t) { return t == DType::kF16 || t == DType::kBF16; }

HostTensor widened(const HostTensor& half) {
  auto fresh = HostTensor::make(DType::kF32, half.extents());
  CHECK(fresh.has_value());
  const View view(half);
  auto* floats = reinterpret_cast<float*>(fresh->data.data());
  for (int64_t i = 0; i < view.volume(); ++i) floats[i] = static_cast<float>(view[i]);
  return fresh->tensor;
}

/// Builds the graph anew, each half value replaced by an FP32 one.
class Lowering {
 public:
  Lowering(const ir::Graph& graph, bool round_values)
      : old_(graph),
        graph_(graph.shared_table()),
        round_values_(round_values),
        moved_(static_cast<size_t>(graph.num_values()), ir::ValueId::kNone) {}

  Result<ir::Graph> run() {
    for (const ir::ValueId input : old_.inputs()) {
      const ir::ValueId same = graph_.add_input(old_.value(input).name, old_.type(input));
      moved_[ir::index(input)] = is_half(old_.type(input).dtype) ? TRY(cast(same, DType::kF32)) : same;
    }
    for (const ir::NodeId id : TRY(old_.topological_order())) TRY(move(id));
    for (const ir::Output& output : old_.outputs()) {
      const DType wanted = old_.type(output.value).dtype;
      const ir::ValueId value = moved_[ir::index(output.value)];
      graph_.mark_output(is_half(wanted) ? TRY(cast(value, wanted)) : value, output.name);
    }
    for (const sym::Assumption& assumption : old_.assumptions()) graph_.assume(assumption);
    return std::move(graph_);
  }

 private:
  Result<ir::ValueId> cast(ir::ValueId value, DType to) { return graph_.add_one(ops::Cast{to}, {value}); }

  /// The op as it is in FP32.
  Op in_float(const Op& op) const {
    if (const auto* cast = op.as<ops::Cast>(); cast && is_half(cast->to)) return ops::Cast{DType::kF32};
    if (const auto* constant = op.as<ops::Constant>(); constant && is_half(constant->value.dtype()))
      return ops::Constant{widened(constant->value)};
    if (const auto* values = op.as<ops::DimValues>(); values && is_half(values->dtype)) {
      ops::DimValues changed = *values;
      changed.dtype = DType::kF32;
      return changed;
    }
    if (const auto* fill = op.as<ops::Fill>(); fill && is_half(fill->to)) {
      ops::Fill changed = *fill;
      changed.to = DType::kF32;
      return changed;
    }
    return op;
  }

  Status move(ir::NodeId id) {
    const ir::Node& node = old_.node(id);
    std::vector<ir::ValueId> inputs;
    for (const ir::ValueId input : node.inputs)
      inputs.push_back(input == ir::ValueId::kNone ? input : moved_[ir::index(input)]);
    const std::vector<ir::ValueId> outputs = TRY(graph_.add(in_float(node.op), inputs, node.name));
    graph_.set_provenance(graph_.value(outputs[0]).producer, node.provenance);
    graph_.set_bodies(graph_.value(outputs[0]).producer, node.bodies);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ir::ValueId before = node.outputs[i];
      ir::ValueId after = outputs[i];
      graph_.set_name(after, old_.value(before).name);
      const DType was = old_.type(before).dtype;
      // What only moves rounded elements leaves them rounded.
      if (round_values_ && is_half(was) && !node.op.has(Trait::kMovement) && !node.op.as<ops::Constant>())
        after = TRY(cast(TRY(cast(after, was)), DType::kF32));
      moved_[ir::index(before)] = after;
    }
    return {};
  }

  const ir::Graph& old_;
  ir::Graph graph_;
  const bool round_values_;
  std::vector<ir::ValueId> moved_;
};

bool has_half(const ir::Graph& graph) {
  for (int i = 0; i < graph.num_values(); ++i)
    if (is_half(graph.value(static_cast<ir::ValueId>(i)).type.dtype)) return true;
  return false;
}

}  // namespace

Status lower_to_float(ir::Graph& graph, const Numerics& numerics) {
  if (!has_half(graph)) return {};
  graph = TRY(Lowering(graph, numerics.strongly_typed).run());
  return {};
}

}  // namespace kiln::cpu
