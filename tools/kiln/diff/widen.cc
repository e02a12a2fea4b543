#include "kiln/diff/widen.h"

#include "ops/cast.h"
#include "ops/constant.h"
#include "ops/dequantize.h"
#include "ops/dim_values.h"
#include "ops/fill.h"
#include "ops/fold.h"

namespace kiln::diff {
namespace {

bool is_half(DType type) { return type == DType::kF16 || type == DType::kBF16; }

/// The op with FP32 in place of a half that it names; nothing where it names none.
Result<std::optional<Op>> widened(const Op& op) {
  if (const auto* constant = op.as<ops::Constant>(); constant && is_half(constant->value.dtype()))
    return Op(TRY(fold_one(ops::Cast{DType::kF32}, {constant})));
  if (const auto* cast = op.as<ops::Cast>(); cast && is_half(cast->to)) return Op(ops::Cast{DType::kF32});
  if (const auto* dequantize = op.as<ops::Dequantize>(); dequantize && is_half(dequantize->to)) {
    ops::Dequantize wide = *dequantize;
    wide.to = DType::kF32;
    return Op(wide);
  }
  if (const auto* values = op.as<ops::DimValues>(); values && is_half(values->dtype)) {
    ops::DimValues wide = *values;
    wide.dtype = DType::kF32;
    return Op(wide);
  }
  if (const auto* fill = op.as<ops::Fill>(); fill && is_half(fill->to)) {
    ops::Fill wide = *fill;
    wide.to = DType::kF32;
    return Op(wide);
  }
  return std::nullopt;
}

/// Whether anything changed.
Result<bool> widen_ops(ir::Graph& graph) {
  bool changes = false;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    bool changes_node = false;
    for (const std::shared_ptr<ir::Graph>& body : graph.node(id).bodies) changes_node |= TRY(widen_ops(*body));
    Op op = graph.node(id).op;
    if (const std::optional<Op> wide = TRY(widened(op))) {
      op = *wide;
      changes_node = true;
    }
    if (!changes_node) continue;
    graph.set_op(id, std::move(op));  // also where only a body changed: it is stale
    changes = true;
  }
  return changes;
}

}  // namespace

Result<ir::Graph> widened(const ir::Graph& graph) {
  ir::Graph wide = graph.clone();
  for (const ir::ValueId input : wide.inputs()) {
    TensorType type = wide.type(input);
    if (!is_half(type.dtype)) continue;
    type.dtype = DType::kF32;
    wide.set_input_type(input, std::move(type));
  }
  TRY(widen_ops(wide));
  TRY(in_context(wide.infer(), [] { return "the network with FP32 in place of FP16 and BF16"; }));
  return wide;
}

}  // namespace kiln::diff
