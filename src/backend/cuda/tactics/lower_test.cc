#include "backend/cuda/tactics/lower.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "backend/cuda/tactics/kept_floats.h"
#include "ir/parse.h"
#include "ir/precision.h"
#include "ops/cast.h"
#include "ops/convolution.h"
#include "ops/matrix_multiply.h"
#include "ops/recurrence.h"
#include "ops/reshape.h"
#include "ops/select.h"
#include "ops/transpose.h"
#include "tensor/numeric.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

std::map<std::string, DType> types_of(const ir::Graph& graph) {
  std::map<std::string, DType> types;
  for (int i = 0; i < graph.num_values(); ++i) {
    const ir::Value& value = graph.value(static_cast<ir::ValueId>(i));
    if (value.producer != ir::NodeId::kNone) types.emplace(value.name, value.type.dtype);
  }
  return types;
}

const ir::Node& node_of(const ir::Graph& graph, std::string_view value) {
  for (int i = 0; i < graph.num_values(); ++i)
    if (const ir::Value& v = graph.value(static_cast<ir::ValueId>(i)); v.name == value) return graph.node(v.producer);
  CHECK(false);
}

ir::Graph lowered_graph(const std::string& text, const Numerics& numerics) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph) << graph.error().message;
  std::vector<std::string> reasons;
  const Status status = lower_floats(*graph, numerics, reasons);
  EXPECT_TRUE(status) << status.error().message;
  return std::move(*graph);
}

/// Types of the named values after lowering, where the nodes that make some of them have precisions.
std::map<std::string, DType> lowered(const std::string& text, const Numerics& numerics,
                                     const std::map<std::string, DType>& precisions = {}) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph) << graph.error().message;
  for (const auto& [value, type] : precisions)
    ir::set_precision(*graph, graph->value(node_of(*graph, value).outputs[0]).producer, value, {type});
  std::vector<std::string> reasons;
  const Status status = lower_floats(*graph, numerics, reasons);
  EXPECT_TRUE(status) << status.error().message;
  return types_of(*graph);
}

/// `count` products by one square matrix, v0 to v{count - 1}, of x f32[4, 64].
std::string products(int count, std::string_view before, std::string_view after) {
  std::string text = str("x: f32[4, 64]; w: f32[64, 64]; ", before);
  for (int i = 0; i < count; ++i) text += str('v', i, " = MatrixMultiply(", i ? str('v', i - 1) : str("x"), ", w); ");
  return text + std::string(after);
}

TEST(LowerFloats, KeepsSumsInFloatInBf16) {
  const std::string text = products(8, "",
                                    "m = Reduce{kind=avg, axes=[1], keep=true}(v5); n = Unary{kind=neg}(m); "
                                    "y = ElementWise{kind=sum}(v4, n); z = MatrixMultiply(y, w); return v7, z");
  auto types = lowered(text, {.bf16 = true});
  EXPECT_EQ(types["v5"], DType::kBF16);
  EXPECT_EQ(types["m"], DType::kF32);
  EXPECT_EQ(types["n"], DType::kF32);  // what follows alone
  EXPECT_EQ(types["y"], DType::kBF16);
  types = lowered(text, {.fp16 = true});
  EXPECT_EQ(types["m"], DType::kF16);
}

TEST(LowerFloats, LayersHaveTheirPrecisions) {
  const std::string text = products(3, "", "e = Unary{kind=exp}(v2); r = Unary{kind=abs}(e); return r");
  EXPECT_EQ(lowered(text, {.fp16 = true})["e"], DType::kF32);  // as its range is FP32's
  auto types = lowered(text, {.fp16 = true}, {{"v1", DType::kF32}, {"e", DType::kF16}, {"r", DType::kF16}});
  EXPECT_EQ(types["v0"], DType::kF16);
  EXPECT_EQ(types["v1"], DType::kF32);
  EXPECT_EQ(types["v2"], DType::kF16);
  EXPECT_EQ(types["e"], DType::kF16);
  types = lowered(text, {.fp16 = true, .bf16 = true}, {{"v1", DType::kBF16}});
  EXPECT_EQ(types["v0"], DType::kF16);
  EXPECT_EQ(types["v1"], DType::kBF16);
  types = lowered(text, {.fp16 = true}, {{"v1", DType::kI8}});  // which says nothing about floats
  EXPECT_EQ(types["v1"], DType::kF16);
  EXPECT_EQ(lowered(text, {}, {{"v1", DType::kF32}})["v1"], DType::kF32);
}

/// A memory that goes from run to run adds up what is rounded in each.
TEST(LowerFloats, KeepsAnLstmInFloatWhoseMemoryIsHandedOn) {
  const auto type_of_y = [](bool has_initial_c, bool gives_y_c) {
    ir::Graph graph;
    const auto input = [&](std::string name, Extents extents) {
      return graph.add_input(std::move(name), tensor_type(DType::kF32, extents));
    };
    const ir::ValueId none = ir::ValueId::kNone, h = input("h", {1, 1, 4}), c = input("c", {1, 1, 4});
    const ir::ValueId inputs[] = {
        input("x", {3, 1, 8}), input("w", {1, 16, 8}), input("r", {1, 16, 4}), none, none, h, has_initial_c ? c : none};
    const ops::Recurrence lstm{.cell = ops::RecurrenceCell::kLstm,
                               .activations = {{}, {ops::GateFunction::kTanh}, {ops::GateFunction::kTanh}}};
    const auto outputs = graph.add(lstm, inputs, "lstm");
    EXPECT_TRUE(outputs) << outputs.error().message;
    graph.set_name((*outputs)[0], "y");
    graph.mark_output((*outputs)[0], "y");
    if (gives_y_c) graph.mark_output((*outputs)[2], "y_c");
    std::vector<std::string> reasons;
    EXPECT_TRUE(lower_floats(graph, {.fp16 = true}, reasons));
    return types_of(graph)["y"];
  };
  EXPECT_EQ(type_of_y(true, true), DType::kF32);
  EXPECT_EQ(type_of_y(true, false), DType::kF16);
  EXPECT_EQ(type_of_y(false, true), DType::kF16);
}

/// What an LSTM with such a memory reads: a state that is cut and its input's products; TF32 has no more digits.
TEST(LowerFloats, KeepsWhatSuchAnLstmReads) {
  ir::Graph graph;
  const auto input = [&](std::string name, Extents extents) {
    return graph.add_input(std::move(name), tensor_type(DType::kF32, extents));
  };
  const auto named = [&](const char* name, Result<ir::ValueId> value) {
    EXPECT_TRUE(value) << value.error().message;
    graph.set_name(*value, name);
    return *value;
  };
  const ir::ValueId none = ir::ValueId::kNone, state = input("state", {1, 1, 4, 1});
  const ir::ValueId c = named("c", graph.add_one(ops::Transpose{{3, 0, 1, 2}}, {state}, "c"));
  const ir::ValueId c3 = named("c3", graph.add_one(ops::Reshape{.dims = {1, 1, 4}}, {c}, "c3"));
  const ir::ValueId a = named("a", graph.add_one(ops::Transpose{{1, 0, 2}}, {input("frames", {1, 3, 8})}, "a"));
  const ir::ValueId x = named("x", graph.add_one(ops::MatrixMultiply{}, {a, input("w", {1, 8, 16})}, "x"));
  const ir::ValueId inputs[] = {x, none, input("r", {1, 16, 4}), none, none, c3, c3};
  const ops::Recurrence lstm{.cell = ops::RecurrenceCell::kLstm,
                             .activations = {{}, {ops::GateFunction::kTanh}, {ops::GateFunction::kTanh}}};
  const auto outputs = graph.add(lstm, inputs, "lstm");
  ASSERT_TRUE(outputs) << outputs.error().message;
  graph.mark_output((*outputs)[2], "y_c");
  EXPECT_TRUE(needs_all_digits(graph, graph.value(x).producer));
  std::vector<std::string> reasons;
  ASSERT_TRUE(lower_floats(graph, {.fp16 = true}, reasons));
  std::map<std::string, DType> types = types_of(graph);
  for (const char* name : {"a", "c", "c3", "x"}) EXPECT_EQ(types[name], DType::kF32) << name;
}

/// Scores that are rounded may become equal, and another box is chosen.
TEST(LowerFloats, KeepsWhatASelectionReads) {
  const auto types = lowered(
      "x: f32[1, 8, 4]; w: f32[1, 4, 4]; q = MatrixMultiply(x, w); p = MatrixMultiply(q, w); s = Softmax{axis=1}(p); "
      "n, i = TopK{k=2, axis=1}(s); r = Unary{kind=neg}(q); m = MatrixMultiply(s, w); return n, i, r, m",
      {.fp16 = true});
  EXPECT_EQ(types.at("q"), DType::kF16);
  EXPECT_EQ(types.at("r"), DType::kF16);
  EXPECT_EQ(types.at("p"), DType::kF32);  // few weights
  EXPECT_EQ(types.at("s"), DType::kF32);
  EXPECT_EQ(types.at("n"), DType::kF32);
  EXPECT_EQ(types.at("m"), DType::kF16);
}
TEST(LowerFloats, KeepsWhatBitsAreTakenOf) {
  const auto types = lowered(
      "x: f32[8, 64]; w: f32[64, 64]; q = MatrixMultiply(x, w); p = MatrixMultiply(q, w); a = Unary{kind=abs}(p); "
      "b = BitCast{to=i32}(a); f = BitCast{to=f32}(b); r = Unary{kind=neg}(q); return b, f, r",
      {.fp16 = true});
  EXPECT_EQ(types.at("q"), DType::kF16);
  EXPECT_EQ(types.at("r"), DType::kF16);
  EXPECT_EQ(types.at("p"), DType::kF32);
  EXPECT_EQ(types.at("a"), DType::kF32);
  EXPECT_EQ(types.at("b"), DType::kI32);
  EXPECT_EQ(types.at("f"), DType::kF32);
}

/// A recurrence whose input's products are computed before it has no w.
TEST(LowerFloats, TakesOpsWithoutAnInput) {
  ir::Graph graph;
  const ir::ValueId x = graph.add_input("x", tensor_type(DType::kF32, Extents{7, 3, 5}));
  const ir::ValueId r = graph.add_constant(HostTensor::of(DType::kF32, {1, 5, 5}, std::vector<double>(25, 1e6)), "r");
  const ops::Recurrence rnn{.activations = {{ops::GateFunction::kTanh}}};
  const ir::ValueId inputs[] = {x, ir::ValueId::kNone, r};
  const auto outputs = graph.add(rnn, inputs, "rnn");
  ASSERT_TRUE(outputs) << outputs.error().message;
  graph.mark_output((*outputs)[0], "y");
  std::vector<std::string> reasons;
  ASSERT_TRUE(lower_floats(graph, {.fp16 = true}, reasons));
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_NE(reasons[0].find("'rnn' stays in FP32: its constant r"), std::string::npos) << reasons[0];
}

TEST(LowerFloats, RoundsMeansThatContractionsReadInBf16) {
  const std::string text =
      "x: f32[4, 64]; w: f32[64, 64]; u: f32[4, 4]; v = MatrixMultiply(x, w); "
      "m = Reduce{kind=avg, axes=[1], keep=true}(v); n = Reshape{dims=[1, 4]}(m); "
      "p = MatrixMultiply(n, u); ";
  auto types = lowered(text + "q = MatrixMultiply(p, u); return q", {.bf16 = true});
  for (const char* name : {"m", "n", "p"}) EXPECT_EQ(types[name], DType::kBF16) << name;
  types = lowered(text + "q = MatrixMultiply(p, u); return q, n", {.bf16 = true});  // an output is more
  for (const char* name : {"m", "n"}) EXPECT_EQ(types[name], DType::kF32) << name;
  types = lowered(text + "return p", {.bf16 = true});  // so is what a product in FP32 reads
  for (const char* name : {"m", "n", "p"}) EXPECT_EQ(types[name], DType::kF32) << name;
}

TEST(LowerFloats, KeepsTheEndInFloatInBf16) {
  const std::string text = products(8, "", "y = Softmax{axis=1}(v7); return y");
  auto types = lowered(text, {.bf16 = true});
  for (const char* name : {"v7", "y"}) EXPECT_EQ(types[name], DType::kF32) << name;
  for (const char* name : {"v0", "v6"}) EXPECT_EQ(types[name], DType::kBF16) << name;
  types = lowered(text, {.fp16 = true});
  for (const char* name : {"v0", "v4", "v7", "y"}) EXPECT_EQ(types[name], DType::kF16) << name;
}

TEST(LowerFloats, KeepsTheWeightsOfShortSumsInFloatInBf16) {
  ir::Graph graph;
  const auto zeros = [&](const Extents& extents) {
    return graph.add_constant(HostTensor::make(DType::kF32, extents).value().tensor, "w");
  };
  ir::ValueId x = graph.add_input("x", TensorType(DType::kF32, {1, 3, 8, 8}));
  const auto convolve = [&](const Extents& weights, int64_t groups, int64_t pad, const char* name) {
    x = graph
            .add_one(ops::Convolution{.pre_pads = {pad, pad}, .post_pads = {pad, pad}, .groups = groups},
                     {x, zeros(weights)})
            .value();
    graph.set_name(x, name);
  };
  convolve({64, 3, 7, 7}, 1, 3, "stem");
  convolve({64, 1, 3, 3}, 64, 1, "early depthwise");
  convolve({256, 64, 1, 1}, 1, 0, "wide");
  convolve({256, 1, 3, 3}, 256, 1, "wide depthwise");
  convolve({64, 256, 1, 1}, 1, 0, "last");
  graph.mark_output(x, "y");
  const auto of = [&](const Numerics& numerics) {
    ir::Graph copy = graph.clone();
    std::vector<std::string> reasons;
    EXPECT_TRUE(lower_floats(copy, numerics, reasons));
    return copy;
  };
  const ir::Graph fp16 = of({.fp16 = true}), bf16 = of({.bf16 = true});
  struct Expected {
    const char* name;
    DType type, fp16_weights, bf16_weights;
  };
  for (const Expected& e : {Expected{"stem", DType::kBF16, DType::kF16, DType::kF32},
                            {"early depthwise", DType::kBF16, DType::kF32, DType::kF32},
                            {"wide", DType::kBF16, DType::kF16, DType::kBF16},
                            {"wide depthwise", DType::kBF16, DType::kF16, DType::kF32},
                            {"last", DType::kF32, DType::kF16, DType::kF32}}) {
    const ir::Node &in_fp16 = node_of(fp16, e.name), &in_bf16 = node_of(bf16, e.name);
    EXPECT_EQ(fp16.type(in_fp16.outputs[0]).dtype, DType::kF16) << e.name;
    EXPECT_EQ(bf16.type(in_bf16.outputs[0]).dtype, e.type) << e.name;
    EXPECT_EQ(fp16.type(in_fp16.inputs[1]).dtype, e.fp16_weights) << e.name;
    EXPECT_EQ(bf16.type(in_bf16.inputs[1]).dtype, e.bf16_weights) << e.name;
  }
}

/// A network of x f32[1, 32, 8, 8] and a 1x1 convolution by `weight` everywhere, with a bias; its name is "y".
ir::Graph convolution_of(int64_t outputs, float weight) {
  ir::Graph graph;
  HostTensor::Fresh w = HostTensor::make(DType::kF32, {outputs, 32, 1, 1}).value(),
                    bias = HostTensor::make(DType::kF32, {outputs}).value();
  for (int64_t i = 0; i < outputs * 32; ++i) store_number(DType::kF32, w.data.data(), i, weight);
  for (int64_t i = 0; i < outputs; ++i) store_number(DType::kF32, bias.data.data(), i, 1);
  const ir::ValueId x = graph.add_input("x", TensorType(DType::kF32, {1, 32, 8, 8}));
  const ir::ValueId y =
      graph.add_one(ops::Convolution{}, {x, graph.add_constant(w.tensor, "w"), graph.add_constant(bias.tensor, "b")})
          .value();
  graph.set_name(y, "y");
  graph.mark_output(y, "out");
  return graph;
}
TEST(LowerFloats, KeepsFewWeightsInFloatInFp16) {
  for (const auto& [outputs, kept] : {std::pair{64, true}, {65, false}}) {
    ir::Graph graph = convolution_of(outputs, 0.5f);
    std::vector<std::string> reasons;
    ASSERT_TRUE(lower_floats(graph, {.fp16 = true}, reasons));
    const ir::Node& node = node_of(graph, "y");
    EXPECT_EQ(graph.type(node.inputs[0]).dtype, DType::kF16);
    EXPECT_EQ(graph.type(node.outputs[0]).dtype, DType::kF16);
    for (const size_t constant : {size_t{1}, size_t{2}})
      EXPECT_EQ(graph.type(node.inputs[constant]).dtype, kept ? DType::kF32 : DType::kF16) << outputs;
    EXPECT_TRUE(reasons.empty());
  }
  ir::Graph graph = convolution_of(64, 0.5f);
  std::vector<std::string> reasons;
  ASSERT_TRUE(lower_floats(graph, {.bf16 = true}, reasons));
  EXPECT_EQ(graph.type(node_of(graph, "y").inputs[0]).dtype, DType::kF32);  // first and last
}

TEST(LowerFloats, KeepsWhatFp16WouldLose) {
  for (const auto& [weight, kept] : {std::pair{65504.0f, false}, {65536.0f, true}, {6.2e-5f, false}, {6e-5f, true}})
    for (const bool fp16 : {true, false}) {
      ir::Graph graph = convolution_of(96, weight);
      std::vector<std::string> reasons;
      ASSERT_TRUE(lower_floats(graph, {.fp16 = fp16}, reasons));
      EXPECT_EQ(graph.type(node_of(graph, "y").outputs[0]).dtype, kept || !fp16 ? DType::kF32 : DType::kF16) << weight;
      ASSERT_EQ(reasons.size(), kept && fp16 ? 1u : 0u) << weight;
      if (!reasons.empty()) {
        EXPECT_NE(reasons[0].find("stays in FP32"), std::string::npos) << reasons[0];
      }
    }
  auto types = lowered(
      "x: f32[4, 64]; large = Constant{value=f32[1, 1](100000)}(); a = ElementWise{kind=prod}(x, large); "
      "b = ElementWise{kind=sum}(x, large); return a, b",
      {.fp16 = true});
  EXPECT_EQ(types["a"], DType::kF32);
  EXPECT_EQ(types["b"], DType::kF32);
}

/// Masks keep the numbers that hide keys up to the scores: sums of two would be infinite in halves.
TEST(LowerFloats, KeepsMasksInFloat) {
  const std::string least = str(std::numeric_limits<float>::lowest());
  const std::string text =
      str("seen: bool[1, 64]; bias: f32[1, 64]; given: f32[1, 64]; ",
          products(2, "",
                   "t = Transpose{perm=[1, 0]}(w); s = MatrixMultiply(v1, t); "
                   "none = Constant{value=f32[1, 1](0)}(); least = Constant{value=f32[1, 1](" +
                       least +
                       ")}(); m = Select(seen, none, least); sum = ElementWise{kind=sum}(m, bias); "
                       "a = ElementWise{kind=sum}(s, sum); both = ElementWise{kind=sum}(given, bias); "
                       "b = ElementWise{kind=sum}(s, both); "
                       "p = Softmax{axis=1}(a); q = Softmax{axis=1}(b); "
                       "two = Constant{value=f32[1, 1](2)}(); u = ElementWise{kind=sum}(s, sum); "
                       "f = ElementWise{kind=prod}(u, two); g = Softmax{axis=1}(f); h = MatrixMultiply(g, w); "
                       "low = ElementWise{kind=max}(s, least); c = MatrixMultiply(p, w); d = MatrixMultiply(q, w); "
                       "e = MatrixMultiply(low, w); return c, d, e, h"));
  for (const bool fp16 : {true, false}) {
    const DType half = fp16 ? DType::kF16 : DType::kBF16;
    const ir::Graph graph = lowered_graph(text, {.fp16 = fp16, .bf16 = !fp16});
    auto types = types_of(graph);
    for (const char* mask : {"m", "sum", "u", "f"}) EXPECT_EQ(types[mask], DType::kF32) << mask;
    for (const char* scores : {"a", "b", "p", "q", "low"}) EXPECT_EQ(types[scores], half) << scores;
    const HostTensor* least_half = graph.constant(node_of(graph, "low").inputs[1]);
    ASSERT_TRUE(least_half);
    EXPECT_EQ(View(*least_half)[0], fp16 ? -double{kLargestHalfMask} : -double{kLargestBf16});
    // Both masks are halves where they meet the scores, and what is no infinity stays a number.
    // So are scores that are scaled behind the mask.
    for (const char* reader : {"a", "b", "g"}) {
      const ir::Node& node = node_of(graph, reader);
      const ir::Node& cast = graph.node(graph.value(node.inputs.back()).producer);
      ASSERT_TRUE(cast.op.as<ops::Cast>()) << reader;
      const ir::ValueId kept = cast.inputs[0];
      EXPECT_TRUE(graph.producer_as<ops::Select>(kept)) << reader;
    }
  }
}

/// Scales of the run, which a model has from its extents, say how large the picture becomes.
TEST(LowerFloats, KeepsScalesOfAResizeInFloat) {
  const ir::Graph graph = lowered_graph(
      "x: f32[1, 4, 8, 8]; w: f32[4, 4, 1, 1]; r: f32[4]; y = Convolution(x, w); q = Unary{kind=sqrt}(r); "
      "s = Resize{dims=[1, 4, 16, 16]}(y, _, _, q); z = Convolution(s, w); return z",
      {.fp16 = true});
  auto types = types_of(graph);
  EXPECT_EQ(types["q"], DType::kF32);
  EXPECT_EQ(types["s"], DType::kF16);
}

/// Positions stay FP32 beside an image in halves, and so does what makes them, back to the contraction.
TEST(LowerFloats, KeepsPositionsInFloat) {
  const std::string text =
      "x: f32[1, 4, 8, 8]; w: f32[4, 4, 1, 1]; o: f32[1, 2, 8, 8]; v: f32[2, 2, 1, 1]; "
      "y = Convolution(x, w); p = Convolution(o, v); g = Transpose{perm=[0, 2, 3, 1]}(p); h = Unary{kind=sin}(g); "
      "s = GridSample(y, h); z = Convolution(s, w); return z";
  for (const bool fp16 : {true, false}) {
    const DType half = fp16 ? DType::kF16 : DType::kBF16;
    const ir::Graph graph = lowered_graph(text, {.fp16 = fp16, .bf16 = !fp16});
    auto types = types_of(graph);
    EXPECT_EQ(types["h"], DType::kF32);
    EXPECT_EQ(types["s"], half);
    const ir::Node& sample = node_of(graph, "s");
    EXPECT_EQ(graph.type(sample.inputs[0]).dtype, half);
    EXPECT_EQ(graph.type(sample.inputs[1]).dtype, DType::kF32);
  }
}

TEST(LowerFloats, KeepsWhatALogarithmIsTakenOf) {
  const std::string text =
      products(8, "",
               "p = ElementWise{kind=prod}(v7, v7); l = Unary{kind=log}(p); a = MatrixMultiply(l, w); "
               "b = MatrixMultiply(a, w); q = Unary{kind=exp}(b); o = Unary{kind=log}(q); return o");
  for (const bool fp16 : {true, false}) {
    auto types = lowered(text, {.fp16 = fp16, .bf16 = !fp16});
    for (const char* name : {"v5", "p", "l"}) EXPECT_EQ(types[name], DType::kF32) << name;
    EXPECT_EQ(types["a"], fp16 ? DType::kF16 : DType::kBF16);  // no contraction behind the last logarithm
  }
}

TEST(FrontEnds, DoWithoutTf32) {
  const auto graph =
      ir::parse(products(2, "", "l = Unary{kind=log}(v1); a = MatrixMultiply(l, w); o = Unary{kind=log}(a); return o"));
  ASSERT_TRUE(graph) << graph.error().message;
  std::vector<bool> products;
  const std::vector<ir::NodeId> order = graph->topological_order().value();
  for (const ir::NodeId id : order)
    if (graph->node(id).op.has(Trait::kContraction)) products.push_back(needs_all_digits(*graph, id));
  EXPECT_EQ(products, (std::vector<bool>{true, true, false}));
}

/// Which level of a pyramid has a box is a whole number, however it was found.
TEST(FrontEnds, EndWhereWholeNumbersAreMade) {
  for (const char* rounded :
       {"Unary{kind=floor}(l)", "Unary{kind=ceil}(l)", "Unary{kind=round}(l)", "Cast{to=i32}(l)"}) {
    const std::string level = str("l = Unary{kind=log}(v1); r = ", rounded, "; c = Cast{to=f32}(r); ");
    const auto graph = ir::parse(products(2, "", level + "a = MatrixMultiply(c, w); return a"));
    ASSERT_TRUE(graph) << graph.error().message;
    const std::vector<ir::NodeId> order = graph->topological_order().value();
    for (const ir::NodeId id : order) {
      const bool contracts = graph->node(id).op.has(Trait::kContraction);
      EXPECT_FALSE(contracts && needs_all_digits(*graph, id)) << rounded << ' ' << graph->node(id).name;
    }
    auto types = lowered(products(2, "", level + "a = MatrixMultiply(c, w); return a"), {.fp16 = true});
    EXPECT_EQ(types["v1"], DType::kF16) << rounded;
  }
}

TEST(LowerFloats, LeavesOthersAlone) {
  EXPECT_EQ(lowered(products(8, "", "return v7"), {})["v5"], DType::kF32);
  EXPECT_EQ(lowered(products(8, "", "return v7"), {.bf16 = true, .strongly_typed = true})["v5"], DType::kF32);
}

/// Positions of 2,049 and more are no halves.
TEST(LowerFloats, DoublesAndWhatTheyAreMadeOfStay) {
  const std::string text =
      "x: f32[1, 3]; i: i32[1, 3]; p = Cast{to=f32}(i); q = ElementWise{kind=sum}(p, x); w = Cast{to=f64}(q); "
      "c = Constant{value=f64[1, 1](0.5)}(); a = ElementWise{kind=prod}(w, c); s = Unary{kind=sin}(a); "
      "y = Cast{to=f32}(s); z = Unary{kind=neg}(y); return z";
  for (const Numerics& numerics : {Numerics{.fp16 = true}, Numerics{.bf16 = true}}) {
    auto types = lowered(text, numerics);
    EXPECT_EQ(types["p"], DType::kF32);
    EXPECT_EQ(types["q"], DType::kF32);
    for (const char* const name : {"w", "a", "s"}) EXPECT_EQ(types[name], DType::kF64) << name;
    EXPECT_NE(types["y"], DType::kF64);
  }
}

}  // namespace
}  // namespace kiln::cuda
