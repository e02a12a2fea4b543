/// GroupQueryAttention of com.microsoft: attention with a cache, of which each sample has a length of its own.
#include <cmath>

#include "onnx/import/attention_parts.h"
#include "onnx/import/importers.h"
#include "onnx/import/rotary_embedding.h"
#include "ops/concatenation.h"
#include "ops/gather.h"
#include "ops/softmax.h"

namespace kiln::onnx::importers::microsoft {
namespace {

using enum ElementWiseKind;

struct Grouped {
  ValueId q, k, v;   ///< of the new positions, [batch, heads, length, size]
  ValueId length;    ///< of what each sample had before, i64 [batch, 1]
  ValueId position;  ///< of each new row in its sample, i64 [batch, length]
  ValueId turns;     ///< the rows of cosines and sines for these: positions, unless the node has others
  sym::Expr total;   ///< rows of the cache behind this node
};

Result<Grouped> operands(ImportContext& cx) {
  const int64_t heads = TRY(cx.node().need_int("num_heads")), of_keys = TRY(cx.node().need_int("kv_num_heads"));
  const ValueId query = TRY(cx.input(0));
  const auto is_count = [](int64_t count) { return count > 0 && count <= INT32_MAX; };
  TRY(require(cx.rank(query) == 3 && is_count(heads) && is_count(of_keys), "query is ", cx.type(query), ", num_heads ",
              heads, " and kv_num_heads ", of_keys));
  Grouped x{};
  if (cx.has_input(1)) {
    x.q = TRY(split_heads(cx, query, heads));
    x.k = TRY(split_heads(cx, TRY(cx.input(1)), of_keys));
    x.v = TRY(split_heads(cx, TRY(cx.input(2)), of_keys));
  } else {
    const ValueId all = TRY(split_heads(cx, query, heads + 2 * of_keys));
    const auto part = [&](int64_t first, int64_t count) { return slice(cx, all, {{first}, {count}, {1}, {1}}); };
    x.q = TRY(part(0, heads));
    x.k = TRY(part(heads, of_keys));
    x.v = TRY(part(heads + of_keys, of_keys));
  }
  // A sample has seqlens_k + 1 keys with the new ones; one that is shorter than these is a padded prompt.
  const sym::Expr batch = cx.extent(query, 0), rows = cx.extent(query, 1);
  const ValueId last = TRY(reshape(cx, TRY(cast(cx, TRY(cx.input(5)), DType::kI64)), {batch, 1}));
  const ValueId before = TRY(binary(cx, kSub, last, TRY(with_rank(cx, TRY(scalar_value(cx, rows - 1)), 2))));
  x.length = TRY(binary(cx, kMax, before, 0));
  x.position = TRY(binary(cx, kSum, x.length, TRY(indices_along(cx, rows, 1, 2))));
  x.turns = cx.has_input(9) ? TRY(expand(cx, TRY(cx.input(9)), {batch, rows})) : x.position;
  const SymbolicValues total = TRY(cx.values(TRY(cx.input(6)), "total_sequence_length"));
  TRY(require(total.size() == 1, "total_sequence_length has ", total.size(), " elements; one is needed"));
  x.total = cx.has_input(3) ? sym::max(total[0], cx.extent(TRY(cx.input(3)), 2)) : total[0];
  return x;
}

/// Turns queries or keys by the angles of their positions.
Result<ValueId> turned(ImportContext& cx, const Grouped& x, ValueId of) {
  if (TRY(cx.node().get_int("do_rotary", 0)) == 0) return of;
  const ValueId cosines = TRY(cx.input(7));
  return rotate(cx, of,
                {cosines, TRY(cx.input(8)), x.turns, TRY(cx.node().get_int("rotary_interleaved", 0)) != 0,
                 TRY(turned_channels(cx, cosines))});
}

/// The cache with the new rows at their positions: rows of the past, then new ones, then what the cache had there.
Result<ValueId> updated(ImportContext& cx, const Grouped& x, ValueId rows, size_t input) {
  const bool has_past = cx.has_input(input);
  const sym::Expr count = cx.extent(rows, 2), past = has_past ? cx.extent(TRY(cx.input(input)), 2) : sym::Expr(0);
  if (!has_past && sym::provably_equal(count, x.total)) return rows;
  const ValueId all = has_past ? TRY(cx.add(ops::Concatenation{2}, {TRY(cx.input(input)), rows})) : rows;
  const auto number = [&](sym::Expr e) -> Result<ValueId> { return with_rank(cx, TRY(scalar_value(cx, e)), 2); };
  const ValueId row = TRY(indices_along(cx, x.total, 1, 2));
  const ValueId into = TRY(binary(cx, kSub, row, x.length));  // new rows
  const ValueId is_past = TRY(binary(cx, kLess, into, 0));
  const ValueId is_new =
      TRY(binary(cx, kAnd, TRY(unary(cx, UnaryKind::kNot, is_past)), TRY(binary(cx, kLess, into, TRY(number(count))))));
  const ValueId old = TRY(binary(cx, kMin, row, TRY(number(past + count - 1))));  // beyond all: any row
  const ValueId at = TRY(select(cx, is_new, TRY(binary(cx, kSum, into, TRY(number(past)))), old));
  return cx.add(ops::Gather{GatherMode::kDefault, 2, 1}, {all, at});
}

/// The keys that a query sees: those up to its own position within the window, or all of its sample.
Result<ValueId> visible(ImportContext& cx, const Grouped& x) {
  const ValueId key = TRY(indices_along(cx, x.total, 3, 4));
  const bool is_causal = TRY(cx.node().get_int("causal", 1)) != 0;
  const sym::Expr rows = cx.extent(x.position, 1);
  const ValueId last = is_causal ? x.position : TRY(slice(cx, x.position, {{rows - 1}, {1}, {1}, {1}}));
  const ValueId query = TRY(unsqueeze(cx, last, {1, 3}));
  ValueId sees = TRY(unary(cx, UnaryKind::kNot, TRY(binary(cx, kGreater, key, query))));
  const int64_t window = TRY(cx.node().get_int("local_window_size", -1));
  if (window <= 0) return sees;
  const ValueId is_near = TRY(binary(cx, kGreater, TRY(binary(cx, kSum, key, static_cast<double>(window))), query));
  return binary(cx, kAnd, sees, is_near);
}

/// The softmax of scores, in which `sink` (a scalar, or one for each head) counts as a key without a value.
Result<ValueId> softmax_with_sink(ImportContext& cx, ValueId scores, ValueId sink) {
  const Shape shape = cx.type(scores).shape;
  const ValueId column = TRY(expand(cx, TRY(cast(cx, sink, cx.dtype(scores))), {shape[0], shape[1], shape[2], 1}));
  const ValueId all = TRY(cx.add(ops::Concatenation{3}, {scores, column}));
  return slice(cx, TRY(cx.add(ops::Softmax{3}, {all})), {{0}, {shape[3]}, {1}, {3}});
}

Result<ValueId> weights_of(ImportContext& cx, ValueId scores) {
  if (cx.has_input(11)) {
    const ValueId sink = TRY(cx.input(11));
    return softmax_with_sink(cx, scores, TRY(reshape(cx, sink, {1, cx.extent(sink, 0), 1, 1})));
  }
  if (TRY(cx.node().get_int("smooth_softmax", 0)) > 0)
    return softmax_with_sink(cx, scores, scalar_of(cx, 0, cx.dtype(scores), 4));
  return cx.add(ops::Softmax{3}, {scores});
}

/// Refuses what Kiln does not have. Passes over attributes that say nothing about most nodes.
Status refuse_unknown(ImportContext& cx) {
  for (const std::string_view attribute :
       {"rotary_interleaved", "kv_cache_bit_width", "smooth_softmax", "qk_norm_epsilon"})
    cx.node().pass_over(attribute);
  for (const std::string_view attribute : {"sliding_window_cache", "qk_output"})
    TRY(require(TRY(cx.node().get_int(attribute, 0)) == 0, attribute, " is not in Kiln"));
  for (const std::string_view attribute : {"k_quant_type", "v_quant_type"})
    TRY(require(TRY(cx.node().get_string(attribute, "NONE")) == "NONE", attribute,
                ": caches of bytes are not in Kiln"));
  for (const size_t i : {12, 13, 14, 15}) TRY(require(!cx.has_input(i), "input ", i, " is not in Kiln"));
  return {};
}

}  // namespace

Status group_query_attention(ImportContext& cx) {
  TRY(refuse_unknown(cx));
  const Grouped x = TRY(operands(cx));
  const ValueId q = TRY(turned(cx, x, x.q));
  const ValueId k = TRY(updated(cx, x, TRY(turned(cx, x, x.k)), 3)), v = TRY(updated(cx, x, x.v, 4));
  TRY(cx.output(1, k));
  TRY(cx.output(2, v));
  const float given = TRY(cx.node().get_float("scale", 0));
  const double scale = given != 0 ? double{given} : TRY(usual_scale(cx, q));
  ValueId scores = TRY(scores_of(cx, q, TRY(repeat_heads(cx, k, q)), scale));
  scores = TRY(capped_scores(cx, scores, TRY(cx.node().get_float("softcap", 0))));
  if (cx.has_input(10)) scores = TRY(binary(cx, kSum, scores, TRY(cx.input(10))));
  const ValueId bias = TRY(as_bias(cx, TRY(visible(cx, x)), cx.dtype(scores), -INFINITY));
  scores = TRY(binary(cx, kSum, scores, bias));
  const ValueId weights = TRY(weights_of(cx, scores));
  const ValueId y = TRY(cx.add(ops::MatrixMultiply{}, {weights, TRY(repeat_heads(cx, v, q))}));
  return cx.output(TRY(join_heads(cx, y)));
}

}  // namespace kiln::onnx::importers::microsoft
