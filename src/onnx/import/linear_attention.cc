/// LinearAttention: a loop over tokens that carries a state, a matrix of keys by values for each head, in FP32.
#include <cmath>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/loop.h"

namespace kiln::onnx::importers {
namespace {

using enum ElementWiseKind;

/// What a token reads and writes, [batch, key heads, ...]; kNone where the rule has no such thing.
struct Token {
  ValueId query;  ///< [..., query heads of a key head, key size], scaled
  ValueId key;    ///< [..., 1, key size]
  ValueId value;  ///< [..., 1, value size]
  ValueId kept;   ///< [..., key size or 1, 1]: the part of the state that is left
  ValueId rate;   ///< [..., 1, 1] with one head or all: how much of a value's difference is written
};
constexpr ValueId Token::*kParts[] = {&Token::query, &Token::key, &Token::value, &Token::kept, &Token::rate};

struct Step {
  ValueId state, y;
};

/// The state behind a token, and what its queries read there.
Result<Step> step(ImportContext& cx, ValueId state, const Token& token) {
  if (token.kept != ValueId::kNone) state = TRY(binary(cx, kProd, state, token.kept));
  ValueId written = token.value;
  if (token.rate != ValueId::kNone) {
    const ValueId read = TRY(matrix_multiply(cx, token.key, state));
    written = TRY(binary(cx, kProd, token.rate, TRY(binary(cx, kSub, token.value, read))));
  }
  const ValueId column = TRY(transpose(cx, token.key, {0, 1, 3, 2}));
  state = TRY(binary(cx, kSum, state, TRY(binary(cx, kProd, column, written))));
  return Step{state, TRY(matrix_multiply(cx, token.query, state))};
}

/// The extents of a node, and where its state begins.
struct Sizes {
  sym::Expr batch, length, key, value;
  int64_t heads, shared;  ///< of keys and values, and how many queries share each of them
};

/// [batch, length, heads * ...] as [length, batch, heads, rows, columns] in FP32.
Result<ValueId> tokens(ImportContext& cx, ValueId x, const Sizes& s, sym::Expr heads, sym::Expr rows,
                       sym::Expr columns) {
  const ValueId apart = TRY(reshape(cx, TRY(cast(cx, x, DType::kF32)), {s.batch, s.length, heads, rows, columns}));
  return transpose(cx, apart, {1, 0, 2, 3, 4});
}

/// An input of three axes.
Result<ValueId> packed(ImportContext& cx, size_t input) {
  const ValueId x = TRY(cx.input(input));
  TRY(require(cx.rank(x) == 3, "'", cx.input_name(input), "' is ", cx.type(x),
              "; [batch, length, channels] is needed"));
  return x;
}

/// The size of a head of an input.
Result<sym::Expr> head_size(ImportContext& cx, size_t input, int64_t heads) {
  const ValueId x = TRY(packed(cx, input));
  const sym::Expr channels = cx.extent(x, 2);
  TRY(require(!channels.is_const() || channels.value() % heads == 0, "'", cx.input_name(input), "' is ", cx.type(x),
              "; its channels are no multiple of ", heads, " heads"));
  return sym::floor_div(channels, heads);
}

Result<Sizes> sizes_of(ImportContext& cx) {
  const int64_t queries = TRY(cx.node().need_int("q_num_heads")), heads = TRY(cx.node().need_int("kv_num_heads"));
  TRY(require(heads > 0 && queries > 0 && queries % heads == 0, "there are ", queries, " query heads and ", heads,
              " key and value heads; a multiple is needed"));
  const ValueId query = TRY(packed(cx, 0));
  return Sizes{.batch = cx.extent(query, 0),
               .length = cx.extent(query, 1),
               .key = TRY(head_size(cx, 0, queries)),
               .value = TRY(head_size(cx, 2, heads)),
               .heads = heads,
               .shared = queries / heads};
}

/// Fails unless exactly the inputs are there that the rule reads.
Status check_rule(ImportContext& cx) {
  const std::string_view rule = TRY(cx.node().get_string("update_rule", "gated_delta"));
  const bool decays = rule == "gated" || rule == "gated_delta", corrects = rule == "delta" || rule == "gated_delta";
  TRY(require(decays || corrects || rule == "linear", "update_rule is '", rule,
              "'; linear, gated, delta or gated_delta is needed"));
  const auto check = [&](size_t input, std::string_view name, bool is_read) {
    return require(cx.has_input(input) == is_read, "update_rule '", rule, "' ", is_read ? "needs" : "has no", " ",
                   name);
  };
  TRY(check(4, "decay", decays));
  return check(5, "beta", corrects);
}

Result<double> scale_of(ImportContext& cx, const Sizes& s) {
  const double scale = TRY(cx.node().get_float("scale", 0));
  if (scale != 0) return scale;
  TRY(require(s.key.is_const() && s.key.value() > 0, "the size of a head is ", s.key, "; a constant is needed"));
  return 1 / std::sqrt(static_cast<double>(s.key.value()));
}

Result<Token> all_tokens(ImportContext& cx, const Sizes& s) {
  Token token;
  const ValueId query = TRY(tokens(cx, TRY(packed(cx, 0)), s, s.heads, s.shared, s.key));
  token.query = TRY(binary(cx, kProd, query, TRY(scale_of(cx, s))));
  token.key = TRY(tokens(cx, TRY(packed(cx, 1)), s, s.heads, 1, s.key));
  token.value = TRY(tokens(cx, TRY(packed(cx, 2)), s, s.heads, 1, s.value));
  token.kept = token.rate = ValueId::kNone;
  if (cx.has_input(4)) {
    const ValueId decay = TRY(packed(cx, 4));
    const bool is_of_heads = sym::provably_equal(cx.extent(decay, 2), s.heads);
    token.kept = TRY(unary(cx, UnaryKind::kExp, TRY(tokens(cx, decay, s, s.heads, is_of_heads ? 1 : s.key, 1))));
  }
  if (cx.has_input(5)) {
    const ValueId beta = TRY(packed(cx, 5));
    token.rate = TRY(tokens(cx, beta, s, cx.extent(beta, 2) == sym::Expr(1) ? 1 : s.heads, 1, 1));
  }
  return token;
}

Result<ValueId> first_state(ImportContext& cx, const Sizes& s) {
  const Shape shape{s.batch, s.heads, s.key, s.value};
  if (!cx.has_input(3)) return expand(cx, scalar_of(cx, 0, DType::kF32, 4), shape);
  const ValueId past = TRY(cx.input(3));
  TRY(require(cx.rank(past) == 4, "past_state is ", cx.type(past), "; four axes are needed"));
  return reshape(cx, TRY(cast(cx, past, DType::kF32)), shape);
}

/// One token, without a loop; y is [batch, heads, queries, value size].
Result<Step> only_step(ImportContext& cx, ValueId state, Token token) {
  for (const auto part : kParts)
    if (ValueId& x = token.*part; x != ValueId::kNone) {
      const Shape& shape = cx.type(x).shape;
      x = TRY(reshape(cx, x, Shape(shape.begin() + 1, shape.end())));
    }
  return step(cx, state, token);
}

/// All tokens, one after the other; y is [length, batch, heads, queries, value size].
Result<Step> steps(ImportContext& cx, ValueId state, const Token& token) {
  const auto body = std::make_shared<ir::Graph>(cx.graph().shared_table());
  Token inner{ValueId::kNone, ValueId::kNone, ValueId::kNone, ValueId::kNone, ValueId::kNone};
  Values inputs{ValueId::kNone, ValueId::kNone, state};
  body->add_input("token", TensorType(DType::kI64, Shape{}));
  const ValueId before = body->add_input("state", TensorType(DType::kF32, cx.type(state).shape));
  for (const auto part : kParts)
    if (token.*part != ValueId::kNone) {
      const Shape& shape = cx.type(token.*part).shape;
      inner.*part = body->add_input("", TensorType(DType::kF32, Shape(shape.begin() + 1, shape.end())));
      inputs.push_back(token.*part);
    }
  ImportContext inside(cx.model(), cx.def(), cx.opset(), *body, {}, cx.state());
  const Step made = TRY(step(inside, before, inner));
  body->mark_output(made.state, "next state");
  body->mark_output(made.y, "read");
  ops::Loop loop{.carried = 1, .scans = std::vector<int>(inputs.size() - 3, 1), .stacks = {1}};
  const Values outputs = TRY(cx.add_all(loop, inputs, {body}));
  return Step{outputs[0], outputs[1]};
}

}  // namespace

Status linear_attention(ImportContext& cx) {
  cx.node().pass_over("chunk_size");  // says how to compute, not what
  TRY(check_rule(cx));
  const Sizes s = TRY(sizes_of(cx));
  const ValueId state = TRY(first_state(cx, s));
  const Token token = TRY(all_tokens(cx, s));
  const bool is_one = sym::provably_equal(s.length, 1);
  const Step last = TRY(is_one ? only_step(cx, state, token) : steps(cx, state, token));
  const ValueId y = is_one ? last.y : TRY(transpose(cx, last.y, {1, 0, 2, 3, 4}));
  const ValueId joined = TRY(reshape(cx, y, {s.batch, s.length, s.value * (s.heads * s.shared)}));
  const DType type = cx.dtype(TRY(cx.input(0)));
  TRY(cx.output(0, TRY(cast(cx, joined, type))));
  return cx.output(1, TRY(cast(cx, last.state, cx.has_input(3) ? cx.dtype(TRY(cx.input(3))) : type)));
}

}  // namespace kiln::onnx::importers
