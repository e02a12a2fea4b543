/// Attention as com.microsoft has it, which ONNX Runtime's optimisations and exporters of language models write.
#include <algorithm>
#include <cmath>
#include <optional>

#include "onnx/import/attention_parts.h"
#include "onnx/import/importers.h"
#include "onnx/import/quantization.h"
#include "onnx/import/rotary_embedding.h"
#include "ops/concatenation.h"
#include "ops/gather.h"
#include "ops/softmax.h"

namespace kiln::onnx::importers::microsoft {
namespace {

/// Queries, keys and values, [batch, heads, length, size].
struct Operands {
  ValueId q, k, v;
};

Result<ValueId> part(ImportContext& cx, ValueId x, int axis, sym::Expr start, sym::Expr size) {
  return slice(cx, x, {{start}, {size}, {1}, {axis}});
}
Result<ValueId> row_of(ImportContext& cx, ValueId x, int axis, int64_t index) {  // without the axis
  Shape rest = cx.type(x).shape;
  rest.erase(rest.begin() + axis);
  return reshape(cx, TRY(part(cx, x, axis, index, 1)), rest);
}
Result<ValueId> plus(ImportContext& cx, ValueId a, ValueId b) { return binary(cx, ElementWiseKind::kSum, a, b); }
Result<ValueId> not_(ImportContext& cx, ValueId x) { return unary(cx, UnaryKind::kNot, x); }

Result<double> scale_of(ImportContext& cx, ValueId q) {
  const float given = TRY(cx.node().get_float("scale", 0));
  return given != 0 ? double{given} : TRY(usual_scale(cx, q));
}
Result<double> masked_value(ImportContext& cx) { return TRY(cx.node().get_float("mask_filter_value", -10000)); }

/// The bias of a mask: lengths or [ends, starts] of samples, or [batch, keys], [batch, queries, keys],
/// [batch, 1, longest, longest] of 0 and 1.
Result<ValueId> mask_bias(ImportContext& cx, ValueId mask, ValueId scores, sym::Expr past) {
  const sym::Expr batch = cx.extent(scores, 0), queries = cx.extent(scores, 2), keys = cx.extent(scores, 3);
  ValueId allowed = ValueId::kNone;
  if (cx.rank(mask) == 1) {
    const bool starts = sym::provably_equal(cx.extent(mask, 0), batch * 2) && batch != sym::Expr(0);
    TRY(require(starts || !sym::provably_different(cx.extent(mask, 0), batch), "the mask is ", cx.type(mask),
                " and there are ", batch, " samples; a length each, or an end and a start, are needed"));
    // Exporters call the batches of two inputs by two names: whether they are equal, the run says.
    if (!starts) TRY(require_equal(cx, cx.extent(mask, 0), batch, "lengths of the mask and samples"));
    const ValueId key = TRY(indices_along(cx, keys, 3, 4, cx.dtype(mask)));
    const auto of_batch = [&](sym::Expr first) -> Result<ValueId> {
      return reshape(cx, TRY(part(cx, mask, 0, first, batch)), {batch, 1, 1, 1});
    };
    allowed = TRY(binary(cx, ElementWiseKind::kLess, key, TRY(of_batch(0))));
    if (starts) {
      const ValueId before = TRY(binary(cx, ElementWiseKind::kLess, key, TRY(of_batch(batch))));
      allowed = TRY(binary(cx, ElementWiseKind::kAnd, allowed, TRY(not_(cx, before))));
    }
  } else {
    ValueId given = mask;
    if (cx.rank(mask) == 2)
      given = TRY(unsqueeze(cx, mask, {1, 2}));
    else if (cx.rank(mask) == 3)
      given = TRY(unsqueeze(cx, mask, {1}));
    else
      given = TRY(part(cx, TRY(part(cx, mask, 2, past, queries)), 3, 0, keys));
    allowed = TRY(not_(cx, TRY(binary(cx, ElementWiseKind::kEqual, given, 0))));
  }
  return as_bias(cx, allowed, cx.dtype(scores), TRY(masked_value(cx)));
}

/// Query i sees the keys up to position past + i.
Result<ValueId> causal_bias(ImportContext& cx, ValueId scores, sym::Expr past) {
  const ValueId row = TRY(indices_along(cx, cx.extent(scores, 2), 0, 2));
  const ValueId column = TRY(indices_along(cx, cx.extent(scores, 3), 1, 2));
  const ValueId last = TRY(plus(cx, row, TRY(scalar_value(cx, past))));
  return as_bias(cx, TRY(not_(cx, TRY(binary(cx, ElementWiseKind::kGreater, column, last)))), cx.dtype(scores),
                 -INFINITY);
}

/// Attention and MultiHeadAttention behind their operands; `past` is the number of keys that came before.
Status attend(ImportContext& cx, const Operands& x, ValueId mask, ValueId bias, sym::Expr past, size_t scores_output) {
  cx.node().pass_over("mask_filter_value");  // says nothing without a mask
  ValueId scores = TRY(scores_of(cx, x.q, x.k, TRY(scale_of(cx, x.q))));
  if (bias != ValueId::kNone) scores = TRY(plus(cx, scores, bias));
  if (mask != ValueId::kNone) scores = TRY(plus(cx, scores, TRY(mask_bias(cx, mask, scores, past))));
  if (TRY(cx.node().get_int("unidirectional", 0)) != 0)
    scores = TRY(plus(cx, scores, TRY(causal_bias(cx, scores, past))));
  TRY(cx.output(scores_output, scores));
  const ValueId weights = TRY(cx.add(ops::Softmax{3}, {scores}));
  return cx.output(TRY(join_heads(cx, TRY(cx.add(ops::MatrixMultiply{}, {weights, x.v})))));
}

Status refuse_inputs(ImportContext& cx, std::initializer_list<size_t> inputs) {
  for (const size_t i : inputs)
    TRY(require(!cx.has_input(i), "input ", i, " '", i < cx.def().inputs.size() ? cx.input_name(i) : "",
                "' is not in Kiln"));
  return {};
}

/// The new keys or values behind those of the past.
Result<ValueId> with_past(ImportContext& cx, ValueId x, size_t input) {
  return cx.has_input(input) ? cx.add(ops::Concatenation{2}, {TRY(cx.input(input)), x}) : Result<ValueId>(x);
}

/// The operands of MultiHeadAttention without its past: apart or packed, without heads or with them.
Result<Operands> multi_head_operands(ImportContext& cx, int64_t heads) {
  const ValueId query = TRY(cx.input(0));
  const auto unpacked = [&](ValueId packed, int64_t which) -> Result<ValueId> {  // of [batch, length, heads, n, size]
    return transpose(cx, TRY(row_of(cx, packed, 3, which)), {0, 2, 1, 3});
  };
  if (cx.rank(query) == 5) {
    TRY(refuse_inputs(cx, {1, 2, 3}));
    return Operands{TRY(unpacked(query, 0)), TRY(unpacked(query, 1)), TRY(unpacked(query, 2))};
  }
  sym::Expr at = 0;
  const auto with_heads = [&](ValueId x) -> Result<ValueId> {
    if (cx.rank(x) == 4) return x;  // keys or values of an encoder
    if (cx.has_input(3)) {
      TRY(require(cx.rank(x) == 3, "an operand is ", cx.type(x), "; [batch, length, channels] is needed"));
      const sym::Expr channels = cx.extent(x, 2);
      x = TRY(plus(cx, x, TRY(part(cx, TRY(cx.input(3)), 0, at, channels))));
      at += channels;
    }
    return split_heads(cx, x, heads);
  };
  const ValueId q = TRY(with_heads(query)), key = TRY(cx.input(1));
  if (cx.rank(key) == 5) {
    TRY(refuse_inputs(cx, {2, 3}));
    return Operands{q, TRY(unpacked(key, 0)), TRY(unpacked(key, 1))};
  }
  const ValueId k = TRY(with_heads(key));
  return Operands{q, k, TRY(with_heads(TRY(cx.input(2))))};
}

}  // namespace

Status multi_head_attention(ImportContext& cx) {
  TRY(refuse_inputs(cx, {8, 9}));
  Operands x = TRY(multi_head_operands(cx, TRY(cx.node().need_int("num_heads"))));
  const sym::Expr past = cx.has_input(6) ? cx.extent(TRY(cx.input(6)), 2) : sym::Expr(0);
  x.k = TRY(with_past(cx, x.k, 6));
  x.v = TRY(with_past(cx, x.v, 7));
  TRY(cx.output(1, x.k));
  TRY(cx.output(2, x.v));
  return attend(cx, x, cx.optional_input(4), cx.optional_input(5), past, 3);
}

namespace {
/// The places of the inputs that Attention and QAttention have in common, but for the bias of scores: Attention's
/// alone.
struct AttentionInputs {
  size_t mask, past;
  std::optional<size_t> bias;
};

/// Attention of rows of x and one matrix, plus input 2, whose product has queries, keys and values beside each other.
/// Past and present are one tensor each.
Status attend_by_product(ImportContext& cx, ValueId rows, ValueId weights, const AttentionInputs& place) {
  for (const std::string_view attribute : {"do_rotary", "past_present_share_buffer"})
    TRY(require(TRY(cx.node().get_int(attribute, 0)) == 0, attribute, " is not in Kiln"));
  const int64_t heads = TRY(cx.node().need_int("num_heads"));
  ValueId all = TRY(matrix_multiply(cx, rows, weights));
  if (cx.has_input(2)) all = TRY(plus(cx, all, TRY(cx.input(2))));
  const auto channels = cx.extent(all, 2).constant();
  TRY(require(channels.has_value(), "the weights are ", cx.type(cx.inputs()[1]), "; constant extents are needed"));
  Ints sizes = TRY(cx.node().get_ints("qkv_hidden_sizes", {}));
  if (sizes.empty()) sizes = {*channels / 3, *channels / 3, *channels / 3};
  const auto is_part = [&](int64_t size) { return size >= 0 && size <= *channels; };
  TRY(require(sizes.size() == 3 && std::ranges::all_of(sizes, is_part) &&
                  sym::Expr(sizes[0]) + sizes[1] + sizes[2] == *channels,
              "qkv_hidden_sizes is ", sizes, "; the weights have ", *channels, " columns"));
  Values parts;
  for (int64_t i = 0, at = 0; i < 3; at += sizes[static_cast<size_t>(i++)])
    parts.push_back(TRY(split_heads(cx, TRY(part(cx, all, 2, at, sizes[static_cast<size_t>(i)])), heads)));
  Operands x{parts[0], parts[1], parts[2]};
  sym::Expr past = 0;
  if (cx.has_input(place.past)) {
    const ValueId before = TRY(cx.input(place.past));
    TRY(require(cx.rank(before) == 5, "past is ", cx.type(before), "; [2, batch, heads, length, size] is needed"));
    past = cx.extent(before, 3);
    x.k = TRY(cx.add(ops::Concatenation{2}, {TRY(row_of(cx, before, 0, 0)), x.k}));
    x.v = TRY(cx.add(ops::Concatenation{2}, {TRY(row_of(cx, before, 0, 1)), x.v}));
  }
  if (cx.wants(1))
    TRY(cx.output(1, TRY(cx.add(ops::Concatenation{0}, {TRY(unsqueeze(cx, x.k, {0})), TRY(unsqueeze(cx, x.v, {0}))}))));
  const ValueId bias = place.bias ? cx.optional_input(*place.bias) : ValueId::kNone;
  return attend(cx, x, cx.optional_input(place.mask), bias, past, 2);
}
}  // namespace

/// Imports Attention.
Status attention(ImportContext& cx) {
  TRY(refuse_inputs(cx, {6}));
  return attend_by_product(cx, TRY(cx.input(0)), TRY(cx.input(1)), {.mask = 3, .past = 4, .bias = 5});
}

/// Imports QAttention: Attention of x and weights that are dequantized first.
Status qattention(ImportContext& cx) {
  enum Input : size_t { kX, kWeights, kBias, kXScale, kWeightsScale, kMask, kXZero, kWeightsZero, kPast };
  const ValueId x = TRY(cx.input(kX)), weights = TRY(cx.input(kWeights));
  const ValueId x_scale = TRY(scales(cx, kXScale)), weights_scale = TRY(scales(cx, kWeightsScale));
  const Quantization by_x{x_scale, TRY(zero_points(cx, kXZero, cx.dtype(x), x_scale)), -1, {}};
  const Quantization by_column{
      weights_scale, TRY(zero_points(cx, kWeightsZero, cx.dtype(weights), weights_scale)), cx.rank(weights) - 1, {}};
  const ValueId rows = TRY(dequantize(cx, x, by_x)), matrix = TRY(dequantize(cx, weights, by_column));
  return attend_by_product(cx, rows, matrix, {.mask = kMask, .past = kPast, .bias = {}});
}

/// Imports RotaryEmbedding: one position is that of the first row of each sample.
Status rotary_embedding(ImportContext& cx) {
  for (const std::string_view attribute : {"is_packed_batching"})
    TRY(require(TRY(cx.node().get_int(attribute, 0)) == 0, attribute, " is not in Kiln"));
  TRY(require(TRY(cx.node().get_float("scale", 1)) == 1, "scale is not in Kiln"));
  const ValueId given = TRY(cx.input(0)), cosines = TRY(cx.input(2));
  const int turned = TRY(turned_channels(cx, cosines));
  const int64_t stated = TRY(cx.node().get_int("rotary_embedding_dim", 0)),
                heads_stated = TRY(cx.node().get_int("num_heads", 0));
  TRY(require(stated == 0 || stated == turned, "rotary_embedding_dim is ", stated, "; cos_cache turns ", turned,
              " channels"));
  ValueId x = given;
  if (cx.rank(given) == 3) {
    int64_t heads = heads_stated;
    const auto channels = cx.extent(given, 2).constant();
    if (heads == 0 && channels && turned > 0) heads = *channels / turned;  // a head is turned whole
    x = TRY(split_heads(cx, given, heads));
  }
  ValueId positions = TRY(cx.input(1));
  if (cx.rank(positions) == 1) {
    const ValueId index = TRY(indices_along(cx, cx.extent(x, 2), 1, 2, cx.dtype(positions)));
    positions = TRY(expand(cx, TRY(plus(cx, index, positions)), {cx.extent(x, 0), cx.extent(x, 2)}));
  }
  const Rotation by{cosines, TRY(cx.input(3)), positions, TRY(cx.node().get_int("interleaved", 0)) != 0, turned};
  const ValueId y = TRY(rotate(cx, x, by));
  return cx.output(cx.rank(given) == 3 ? TRY(join_heads(cx, y)) : y);
}

/// Imports RelativePositionBias of T5: a row of the table for each bucket of distances between a query and a key, of
/// which the near ones have a bucket each and the others share buckets that grow with the logarithm.
Status relative_position_bias(ImportContext& cx) {
  using enum ElementWiseKind;
  const ValueId table = TRY(cx.input(0));
  const auto given = cx.rank(table) == 2 ? cx.extent(table, 0).constant() : std::nullopt;
  const int64_t most = TRY(cx.node().need_int("max_distance"));
  const bool both_ways = TRY(cx.node().get_int("is_bidirectional", 0)) != 0;
  TRY(require(given && *given >= 4 && most > *given / 2, "bias_table is ", cx.type(table), " and max_distance ", most,
              "; [buckets, heads] of a constant and a greater distance are needed"));
  const int64_t buckets = both_ways ? *given / 2 : *given, exact = buckets / 2;
  const SymbolicValues queries = TRY(cx.values(TRY(cx.input(1)), "query_length")),
                       keys = TRY(cx.values(TRY(cx.input(2)), "key_length"));
  TRY(require(queries.size() == 1 && keys.size() == 1, "query_length and key_length need one element each"));
  const ValueId query = TRY(indices_along(cx, queries[0], 0, 2)), key = TRY(indices_along(cx, keys[0], 1, 2));
  const ValueId ahead = TRY(binary(cx, kSub, key, query));
  const ValueId distance = both_ways ? TRY(unary(cx, UnaryKind::kAbs, ahead))
                                     : TRY(unary(cx, UnaryKind::kNeg, TRY(binary(cx, kMin, ahead, 0))));
  const double per_octave =
      static_cast<double>(buckets - exact) / std::log(static_cast<double>(most) / static_cast<double>(exact));
  const ValueId ratio =
      TRY(binary(cx, kDiv, TRY(cast(cx, TRY(binary(cx, kMax, distance, 1)), DType::kF32)), static_cast<double>(exact)));
  const ValueId steps = TRY(binary(cx, kProd, TRY(unary(cx, UnaryKind::kLog, ratio)), per_octave));
  ValueId far = TRY(binary(cx, kSum, TRY(cast(cx, steps, DType::kI64)), static_cast<double>(exact)));
  far = TRY(binary(cx, kMin, far, static_cast<double>(buckets - 1)));
  const ValueId is_near = TRY(binary(cx, kLess, distance, static_cast<double>(exact)));
  ValueId bucket = TRY(select(cx, is_near, distance, far));
  if (both_ways) {
    const ValueId is_ahead = TRY(cast(cx, TRY(binary(cx, kGreater, ahead, 0)), DType::kI64));
    bucket = TRY(plus(cx, bucket, TRY(binary(cx, kProd, is_ahead, static_cast<double>(buckets)))));
  }
  const ValueId rows = TRY(cx.add(ops::Gather{GatherMode::kDefault, 0, 0}, {table, bucket}));
  return cx.output(TRY(unsqueeze(cx, TRY(transpose(cx, rows, {2, 0, 1})), {0})));
}

}  // namespace kiln::onnx::importers::microsoft
