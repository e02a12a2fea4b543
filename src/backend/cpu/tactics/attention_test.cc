#include "backend/cpu/tactics/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "backend/cpu/kernels/testing.h"
#include "backend/cpu/tactics/testing.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/select.h"
#include "ops/softmax.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "steps/attention_layout.h"
#include "tactics/fallback.h"

namespace kiln::cpu {
namespace {

using Axes = std::vector<int64_t>;
using ops::ElementWise, ops::ElementWiseKind, ops::MatrixMultiply, ops::MatrixOp;

enum class Masked : uint8_t { kNo, kEachQuery, kBroadcast };

/// How an exporter spelled it, for q [b, h, s, d], k [b, h, t, d] and v [b, h, t, e].
struct Spelling {
  int64_t b = 2, h = 3, s = 7, t = 9, d = 8, e = 8;
  Axes q = {0, 1, 2, 3}, k = {0, 1, 2, 3}, v = {0, 1, 2, 3};  // the transposes before the products
  Axes out = {};                                              // and behind them; none where empty
  bool k_transposed_by_product = true;                        // else a transpose of k does it
  float scale_of_inputs = 0, scale_of_scores = 0, divided_by = 0;
  Masked masked = Masked::kNo;
  bool nan_guard = false;
  int64_t v_heads = 0;  // 0: h
  bool without_heads = false;
};

Extents stored(const Axes& perm, const Extents& extents) {  // so that a transpose by `perm` gives `extents`
  Extents result(extents.size());
  for (size_t i = 0; i < perm.size(); ++i) result[static_cast<size_t>(perm[i])] = extents[i];
  return result;
}

class Network {
 public:
  explicit Network(const Spelling& c) : c_(c) {
    const int64_t v_heads = c.v_heads ? c.v_heads : c.h;
    const ir::ValueId q = operand("q", c.q, {c.b, c.h, c.s, c.d}), v = operand("v", c.v, {c.b, v_heads, c.t, c.e});
    Axes k_axes = c.k;
    Extents k_extents{c.b, v_heads, c.t, c.d};
    if (!c.k_transposed_by_product) {
      std::swap(k_axes[k_axes.size() - 1], k_axes[k_axes.size() - 2]);
      std::swap(k_extents[2], k_extents[3]);
    }
    const ir::ValueId k = operand("k", k_axes, k_extents);
    ir::ValueId at =
        add(MatrixMultiply{MatrixOp::kNone, c.k_transposed_by_product ? MatrixOp::kTranspose : MatrixOp::kNone},
            {scaled(q, c.scale_of_inputs), scaled(k, c.scale_of_inputs)});
    at = scaled(at, c.scale_of_scores);
    if (c.divided_by != 0) at = add(ElementWise{ElementWiseKind::kDiv}, {at, number(c.divided_by)});
    if (c.masked != Masked::kNo) {
      const bool each = c.masked == Masked::kEachQuery;
      const ir::ValueId mask = input("mask", cut({each ? c.b : 1, 1, each ? c.s : 1, c.t}));
      at = add(ElementWise{ElementWiseKind::kSum}, {mask, at});
    }
    at = add(ops::Softmax{-1}, {at});
    if (c.nan_guard) at = add(ops::Select{}, {add(ops::Unary{ops::UnaryKind::kIsNan}, {at}), number(0), at});
    at = add(MatrixMultiply{}, {at, v});
    if (!c.out.empty()) at = add(ops::Transpose{c.out}, {at});
    graph.mark_output(result = at, "y");
  }

  /// Computes the network by references, node by node.
  HostTensor reference(const TacticContext& cx, std::map<ir::ValueId, HostTensor> known) const {
    const Fallback fallback("cpu");
    const std::vector<ir::NodeId> order = *graph.topological_order();
    for (const ir::NodeId id : order) {
      const ir::Node& node = graph.node(id);
      if (graph.constant(node.outputs[0])) continue;
      const Region region = *fallback.match(cx, id);
      std::vector<HostTensor> inputs;
      for (const ir::ValueId input : region.inputs)
        if (!graph.constant(input)) inputs.push_back(known.at(input));
      const auto variant = fallback.variants(cx, region)[0];
      known[node.outputs[0]] =
          *run_variant(cx, fallback, region, variant, inputs, graph.type(node.outputs[0]).opt_extents());
    }
    return known.at(result);
  }

  ir::Graph graph;
  ir::ValueId result;
  std::vector<ir::ValueId> inputs;

 private:
  ir::ValueId add(Op op, std::initializer_list<ir::ValueId> operands) {
    return *graph.add_one(std::move(op), operands);
  }
  ir::ValueId input(std::string name, const Extents& extents) {
    inputs.push_back(graph.add_input(std::move(name), tensor_type(DType::kF32, extents)));
    return inputs.back();
  }
  /// Drops the axis of heads where there is none.
  Extents cut(Extents extents) const {
    if (c_.without_heads) extents.erase(extents.begin() + 1);
    return extents;
  }
  ir::ValueId operand(const char* name, const Axes& perm, const Extents& extents) {
    const ir::ValueId x = input(name, stored(perm, cut(extents)));
    return std::ranges::is_sorted(perm) ? x : add(ops::Transpose{perm}, {x});
  }
  ir::ValueId number(float value) {
    return graph.add_constant(tensor_of(Extents(c_.without_heads ? 3 : 4, 1), std::span(&value, 1)));
  }
  ir::ValueId scaled(ir::ValueId value, float by) {
    return by == 0 ? value : add(ElementWise{ElementWiseKind::kProd}, {value, number(by)});
  }
  Spelling c_;
};

const std::vector<Spelling>& spellings() {
  const Axes rows_first{0, 2, 1, 3};
  static const std::vector<Spelling> all = {
      {},
      {.s = 1, .t = 1, .d = 1, .e = 1},
      {.q = rows_first, .k = rows_first, .v = rows_first, .out = rows_first, .scale_of_inputs = 0.6f},
      {.q = {1, 2, 0, 3}, .k = {1, 2, 0, 3}, .v = {1, 2, 0, 3}, .out = {2, 0, 1, 3}, .divided_by = 2.8f},
      {.s = 40, .t = 65, .d = 37, .e = 128, .scale_of_scores = 0.2f, .masked = Masked::kEachQuery, .nan_guard = true},
      {.k = rows_first, .k_transposed_by_product = false, .scale_of_inputs = 0.7f, .masked = Masked::kBroadcast},
      {.v = {0, 1, 3, 2}, .nan_guard = true},
      {.h = 4, .v_heads = 1},
      {.s = 130, .t = 90, .masked = Masked::kEachQuery},
      {.h = 1,
       .q = {0, 1, 2},
       .k = {1, 0, 2},
       .v = {0, 1, 2},
       .out = {1, 0, 2},
       .masked = Masked::kEachQuery,
       .without_heads = true},
  };
  return all;
}

/// Inputs; a mask hides some keys, and all from the first query.
std::map<ir::ValueId, HostTensor> made_up(const Network& network) {
  std::map<ir::ValueId, HostTensor> result;
  for (const ir::ValueId id : network.inputs) {
    const Extents extents = network.graph.type(id).opt_extents();
    std::vector<float> values = random_floats(volume(extents), static_cast<uint32_t>(ir::index(id)));
    if (network.graph.value(id).name == "mask")
      for (size_t i = 0; i < values.size(); ++i)
        if (i % 3 == 0 || (i < static_cast<size_t>(extents.back()) && extents[extents.size() - 2] > 1))
          values[i] = -INFINITY;
    result.emplace(id, tensor_of(extents, values));
  }
  return result;
}

TEST(AttentionTactic, AgreesWithReferenceInEverySpelling) {
  const Numerics numerics;
  for (size_t at = 0; at < spellings().size(); ++at)
    for_each_target([&] {
      SCOPED_TRACE(at);
      const Network network(spellings()[at]);
      const auto device = test_device(2);
      const TacticContext cx{network.graph, numerics, *device};
      const Match region = attention_tactic().match(cx, network.graph.value(network.result).producer);
      ASSERT_TRUE(region.has_value()) << region.error().reason;
      for (const ir::ValueId id : network.inputs) EXPECT_EQ(std::ranges::count(region->inputs, id), 1);
      const auto known = made_up(network);
      std::vector<HostTensor> inputs;
      for (const ir::ValueId id : region->inputs)
        if (id != ir::ValueId::kNone) inputs.push_back(known.at(id));
      const auto y = run_variant(cx, attention_tactic(), *region, attention_tactic().variants(cx, *region)[0], inputs,
                                 network.graph.type(network.result).opt_extents());
      ASSERT_TRUE(y.has_value()) << y.error().message;
      const HostTensor expected = network.reference(cx, known);
      for (int64_t i = 0; i < expected.volume(); ++i) {
        const float wanted = expected.data<float>()[i], got = y->data<float>()[i];
        ASSERT_TRUE(std::isnan(wanted) ? std::isnan(got) : std::fabs(got - wanted) < 4e-6f)
            << i << ": " << got << ", not " << wanted;
      }
    });
}

std::string refusal(const Network& network) {
  const Numerics numerics;
  const auto device = test_device(1);
  const Match match =
      attention_tactic().match({network.graph, numerics, *device}, network.graph.value(network.result).producer);
  return match ? "" : match.error().reason;
}
TEST(AttentionTactic, SaysWhyNot) {
  Network shared{Spelling{}};
  for (int i = 0; i < shared.graph.num_nodes(); ++i)
    if (shared.graph.node(static_cast<ir::NodeId>(i)).op.as<ops::Softmax>())
      shared.graph.mark_output(shared.graph.node(static_cast<ir::NodeId>(i)).outputs[0], "weights");
  EXPECT_EQ(refusal(shared), "the left operand is not a softmax, or others read it too");
  EXPECT_EQ(refusal(Network({.out = {0, 1, 3, 2}})), "the channels of the result are not its last axis");
}

/// Networks whose operands are parts of one tensor x, as exporters spell it.
constexpr const char* kJoined[] = {
    // Slices of a product; a view of the result.
    "x: f32[2, 7, 24]; a = Slice{starts=[0], sizes=[8], axes=[2]}(x); b = Slice{starts=[8], sizes=[8], axes=[2]}(x); "
    "c = Slice{starts=[16], sizes=[8], axes=[2]}(x); d = Reshape{dims=[2, 7, 2, 4]}(a); "
    "e = Reshape{dims=[2, 7, 2, 4]}(b); f = Reshape{dims=[2, 7, 2, 4]}(c); q = Transpose{perm=[0, 2, 1, 3]}(d); "
    "k = Transpose{perm=[0, 2, 3, 1]}(e); v = Transpose{perm=[0, 2, 1, 3]}(f); s = MatrixMultiply(q, k); "
    "p = Softmax{axis=3}(s); o = MatrixMultiply(p, v); y = Transpose{perm=[0, 2, 1, 3]}(o); return y",
    // Three at the front of a transposed tensor, scaled on the way; heads that share keys and values.
    "x: f32[2, 7, 3, 8]; h = Constant{value=f32[1, 1, 1, 1](0.3)}(); "
    "a = Slice{starts=[0], sizes=[1], axes=[2]}(x); b = Slice{starts=[1], sizes=[1], axes=[2]}(x); "
    "c = Slice{starts=[2], sizes=[1], axes=[2]}(x); d = Squeeze{axes=[2]}(a); e = Reshape{dims=[2, 7, 2, 4]}(d); "
    "f = ElementWise{kind=prod}(e, h); q = Transpose{perm=[0, 2, 1, 3]}(f); g = Reshape{dims=[2, 7, 2, 4]}(b); "
    "i = Slice{starts=[1], sizes=[1], axes=[2]}(g); k = Transpose{perm=[0, 2, 1, 3]}(i); "
    "j = Slice{starts=[4], sizes=[4], axes=[3]}(c); v = Transpose{perm=[0, 2, 1, 3]}(j); "
    "s = MatrixMultiply{b=transpose}(q, k); p = Softmax{axis=3}(s); y = MatrixMultiply(p, v); return y",
    // No heads: every second row, and channels of values from the back.
    "x: f32[3, 10, 6]; q = Slice{starts=[0, 0], sizes=[10, 3], axes=[1, 2]}(x); "
    "k = Slice{starts=[0, 3], sizes=[5, 3], strides=[2, 1], axes=[1, 2]}(x); "
    "v = Slice{starts=[1, 5], sizes=[5, 6], strides=[2, -1], axes=[1, 2]}(x); "
    "s = MatrixMultiply{b=transpose}(q, k); p = Softmax{axis=2}(s); y = MatrixMultiply(p, v); return y",
    // Two heads of k and v for four of q each.
    "x: f32[2, 8, 5, 6]; ks = Slice{starts=[0], sizes=[2], strides=[1], axes=[1]}(x); "
    "vs = Slice{starts=[2], sizes=[2], strides=[1], axes=[1]}(x); "
    "ku = Reshape{dims=[2, 2, 1, 5, 6]}(ks); ke = Expand{dims=[2, 2, 4, 5, 6]}(ku); k = Reshape{dims=[2, 8, 5, "
    "6]}(ke); "
    "vu = Reshape{dims=[2, 2, 1, 5, 6]}(vs); ve = Expand{dims=[2, 2, 4, 5, 6]}(vu); v = Reshape{dims=[2, 8, 5, "
    "6]}(ve); "
    "s = MatrixMultiply{b=transpose}(x, k); p = Softmax{axis=3}(s); y = MatrixMultiply(p, v); return y",
    // Windows of a picture, whose heads come before them.
    "x: f32[2, 3, 4, 2, 6]; q = Transpose{perm=[0, 3, 1, 2, 4]}(x); k = Transpose{perm=[0, 3, 1, 2, 4]}(x); "
    "v = Transpose{perm=[0, 3, 1, 2, 4]}(x); s = MatrixMultiply{b=transpose}(q, k); p = Softmax{axis=4}(s); "
    "w = MatrixMultiply(p, v); y = Transpose{perm=[0, 2, 3, 1, 4]}(w); return y"};

TEST(AttentionTactic, ReadsPartsOfATensorWhereTheyAre) {
  const Numerics numerics;
  for (const char* const text : kJoined) {
    SCOPED_TRACE(text);
    const auto graph = ir::parse(text);
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    const auto device = test_device(2);
    const TacticContext cx{*graph, numerics, *device};
    const ir::ValueId x = graph->inputs()[0], result = graph->outputs()[0].value;
    const Match region = attention_tactic().match(cx, graph->value(result).producer);
    ASSERT_TRUE(region.has_value()) << region.error().reason;
    EXPECT_EQ(region->inputs, (std::vector{x, x, x, ir::ValueId::kNone}));
    const Extents extents = graph->type(x).opt_extents();
    const HostTensor input = tensor_of(extents, random_floats(volume(extents), 5));
    const std::vector<HostTensor> inputs(3, input);
    const auto y = run_variant(cx, attention_tactic(), *region, attention_tactic().variants(cx, *region)[0], inputs,
                               graph->type(result).opt_extents());
    ASSERT_TRUE(y.has_value()) << y.error().message;
    const auto expected = ir::interpret(*graph, {input});
    ASSERT_TRUE(expected.has_value()) << expected.error().message;
    for (int64_t i = 0; i < y->volume(); ++i)
      ASSERT_NEAR(y->data<float>()[i], (*expected)[0].data<float>()[i], 4e-6) << i;
  }
}
TEST(AttentionTactic, QueriesInColumnsAreTransposedFirst) {
  const Network network({.q = {0, 1, 3, 2}});
  const Numerics numerics;
  const auto device = test_device(1);
  const Match region =
      attention_tactic().match({network.graph, numerics, *device}, network.graph.value(network.result).producer);
  ASSERT_TRUE(region.has_value()) << region.error().reason;
  EXPECT_NE(network.graph.producer_as<ops::Transpose>(region->inputs[0]), nullptr);
}
TEST(AttentionTactic, ParametersOutsideOfAnOperandAreErrors) {
  const auto graph = ir::parse(kJoined[0]);
  const Numerics numerics;
  const auto device = test_device(1);
  const TacticContext cx{*graph, numerics, *device};
  const Match region = attention_tactic().match(cx, graph->value(graph->outputs()[0].value).producer);
  ASSERT_TRUE(region.has_value()) << region.error().reason;
  std::vector<int64_t> params;
  for (const sym::Expr& param : region->params) params.push_back(param.value());
  const std::array<int64_t, 7> volumes{336, 336, 336, -1, 112};
  EXPECT_TRUE(AttentionLayout::of(params).check(volumes));
  for (size_t i = 0; i < params.size(); ++i) {
    if (i >= 21 && i < 26) continue;  // the mask that is not there
    for (const int64_t damage : {int64_t{1000}, INT64_MAX, INT64_MIN}) {
      std::vector<int64_t> damaged = params;
      damaged[i] += damage / 2;
      EXPECT_FALSE(AttentionLayout::of(damaged).check(volumes)) << i << ' ' << damage;
    }
  }
}

}  // namespace
}  // namespace kiln::cpu
