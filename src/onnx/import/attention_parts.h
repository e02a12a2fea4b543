/// The parts of attention that operators of ONNX and of com.microsoft share. Queries, keys and values have the axes
/// [batch, heads, length, size], scores [batch, heads, queries, keys].
#pragma once

#include "onnx/import/compose.h"

namespace kiln::onnx {

/// [batch, length, heads * size] as [batch, heads, length, size].
Result<ValueId> split_heads(ImportContext& cx, ValueId x, sym::Expr heads);
/// And back.
Result<ValueId> join_heads(ImportContext& cx, ValueId x);

/// Every head as often as there are query heads for it.
Result<ValueId> repeat_heads(ImportContext& cx, ValueId x, ValueId query);

/// 1 / sqrt(size), the scale of scores where a node has none.
Result<double> usual_scale(ImportContext& cx, ValueId query);
/// q * sqrt(scale) times the transpose of k * sqrt(scale).
Result<ValueId> scores_of(ImportContext& cx, ValueId q, ValueId k, double scale);
/// Scores within (-cap, cap) by a hyperbolic tangent; cap 0: as they are.
Result<ValueId> capped_scores(ImportContext& cx, ValueId scores, double cap);
/// 0 where `allowed`, `masked` elsewhere: what is added to scores.
Result<ValueId> as_bias(ImportContext& cx, ValueId allowed, DType type, double masked);

}  // namespace kiln::onnx
