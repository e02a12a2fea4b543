// Networks whose shapes are arithmetic on shapes: what exporters write around axes that vary. Extents stay as small as
// a person would write them; where they cannot, they are right all the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "onnx/test_import.h"
#include "ops/convolution.h"

namespace kiln::onnx {
namespace {

using namespace test;

struct Network {
  std::vector<Proto> nodes, inputs, initializers;
  int count = 0;

  std::string add(std::string_view type, Texts reads, std::initializer_list<Proto> attributes = {}) {
    std::string y = str("v", count++);
    nodes.push_back(node(type, reads, {y}, str(y, "_", type), attributes));
    return y;
  }
  std::string ints(std::initializer_list<int64_t> values) {
    std::string name = str("c", count++);
    initializers.push_back(i64s(name, values));
    return name;
  }
  Imported import(std::string_view y) const {
    return import_proto(model(graph({nodes, inputs, {value(y)}, initializers})));
  }
};

/// y = zeros of as many elements as the extents of `count` inputs add up to, x<i> of [n<i>, 3]: as integers, by way of
/// floats, or repeated as a table.
Imported of_all_shapes(int count, std::string_view kind) {
  Network net;
  Proto concat = node("Concat", {}, {"all"}, "", {int_attribute("axis", 0)});
  for (int i = 0; i < count; ++i) {
    net.inputs.push_back(value(str("x", i), kFloat, {-1, 3}));
    std::string shape = net.add("Shape", {str("x", i)});
    if (kind == "floats") shape = net.add("Cast", {shape}, {int_attribute("to", kFloat)});
    concat.text(field::node::kInput, shape);
  }
  net.nodes.push_back(concat);
  std::string joined = "all";
  if (kind == "floats") joined = net.add("Cast", {joined}, {int_attribute("to", kInt64)});
  if (kind == "table") joined = net.add("Tile", {joined, net.ints({1000})});
  const std::string sum = net.add("ReduceSum", {joined}, {int_attribute("keepdims", 1)});
  return net.import(net.add("ConstantOfShape", {sum}));
}
TEST(DynamicShapes, FollowFromShapesOfHundredsOfInputs) {
  for (const char* kind : {"integers", "floats"}) {
    const Imported got = of_all_shapes(300, kind);
    ASSERT_TRUE(got.status) << text_of(got);
    const sym::Expr y = got.graph.type(got.graph.outputs()[0].value).shape[0];
    std::vector<int64_t> lengths(300);
    std::iota(lengths.begin(), lengths.end(), 0);
    EXPECT_EQ(sym::evaluate(y, lengths), 300 * 299 / 2 + 900) << kind;
  }
}
TEST(DynamicShapes, NameTheLimitOfWhatIsFollowed) {
  const Imported got = of_all_shapes(10, "table");
  EXPECT_TRUE(got.status && text_of(got).find("ReadValues") != std::string::npos)
      << "the host reads a sum of more elements than are followed: " << text_of(got);
  EXPECT_EQ(
      import_node(node("ConstantOfShape", {"n"}, {"y"}, "c"), {value("n", kInt64, {100})}),
      "node 'c' (ConstantOfShape) of n i64[100]: shape 'n' (i64[100]) must follow from constants, shapes or shape "
      "inputs; it follows from input 'n' (i64[100]), and 64 elements of a shape input are possible\n");
}

/// What ConstantOfShape of the number that `add` makes is imported to.
template <class F>
std::string filled_with(std::initializer_list<int64_t> x_shape, int64_t x_type, F add) {
  Network net;
  net.inputs = {value("x", x_type, x_shape)};
  const std::string number = add(net);
  const std::string y = net.add("ConstantOfShape", {net.add("Unsqueeze", {number, net.ints({0})})});
  return text_of(net.import(y));
}
/// The host reads the number, not the input: of that nobody needs every element.
TEST(DynamicShapes, FollowFromANumberThatANodeMakesOfAnInput) {
  for (const int64_t rows : {3, 300}) {
    const std::string text = filled_with(
        {rows, 2}, kInt64, [](Network& net) { return net.add("ReduceMax", {"x"}, {int_attribute("keepdims", 0)}); });
    EXPECT_NE(text.find("v0 = Reduce"), std::string::npos) << text;
    EXPECT_NE(text.find("ReadValues(v0)"), std::string::npos) << text;
  }
}
/// ArgMax is several nodes, of which those in the middle have no name to be read by, and only the first reads floats.
TEST(DynamicShapes, FollowFromWhereTheLargestFloatIs) {
  for (const char* kind : {"ArgMax", "ArgMin"})
    for (const int64_t keepdims : {0, 1}) {
      const std::string text = filled_with({6}, kFloat, [&](Network& net) {
        const std::string at = net.add(kind, {"x"}, {int_attribute("axis", 0), int_attribute("keepdims", keepdims)});
        const std::string next = net.add("Add", {at, net.ints({1})});
        return net.add("Squeeze", {next, net.ints({0})});
      });
      EXPECT_NE(text.find("ReadValues(v0)"), std::string::npos) << kind << ' ' << keepdims << ": " << text;
    }
}
TEST(DynamicShapes, FollowFromDataInABranchThatIsKnown) {
  const std::string text = filled_with({2}, kFloat, [](Network& net) {
    const std::vector<Proto> nodes{node("ReduceSum", {"x"}, {"s"}, "", {int_attribute("keepdims", 0)}),
                                   node("Cast", {"s"}, {"n"}, "", {int_attribute("to", kInt64)}),
                                   node("Unsqueeze", {"n", "at"}, {"list"}),
                                   node("ConstantOfShape", {"list"}, {"zeros"}), node("Size", {"zeros"}, {"size"})};
    const Proto branch = graph({nodes, {}, {Proto().text(field::value_info::kName, "size")}, {i64s("at", {0})}}, "b");
    net.initializers.push_back(tensor("yes", kBool, {}).text(field::tensor::kRawData, std::string_view("\1", 1)));
    return net.add("If", {"yes"}, {graph_attribute("then_branch", branch), graph_attribute("else_branch", branch)});
  });
  EXPECT_NE(text.find("ReadValues"), std::string::npos) << text;
}

/// GroupNorm as torch.onnx writes it: x as [n, groups, rest], normalised, back to x's shape.
std::string group_norm(Network& net, std::string_view x) {
  const std::string grouped = net.add("Reshape", {x, net.ints({0, 2, -1})});
  const std::string normal = net.add("InstanceNormalization", {grouped, "scale", "bias"});
  return net.add("Reshape", {normal, net.add("Shape", {x})});
}

std::string extent(Network& net, std::string_view x, int64_t axis) {
  return net.add("Gather", {net.add("Shape", {x}), net.ints({axis})});
}

/// The convolutions of wav2vec2 and its kin, their norms, and the heads of attention behind them.
Network speech() {
  Network net;
  net.inputs = {value("x", kFloat, {-1, 4, -1})};
  net.initializers = {floats("scale", {2}, {1, 1}), floats("bias", {2}, {0, 0})};
  std::string y = "x";
  for (const auto& [kernel, stride] : {std::pair{10, 5}, {3, 2}, {3, 2}, {3, 2}, {3, 2}, {2, 2}, {2, 2}}) {
    net.initializers.push_back(
        tensor(str("w", net.count), kFloat, {4, 4, kernel})
            .text(field::tensor::kRawData, std::string(static_cast<size_t>(4 * 4 * 4 * kernel), '\0')));
    y = net.add("Conv", {y, str("w", net.count)}, {ints_attribute("strides", {stride})});
    y = group_norm(net, y);
  }
  const std::string rows = net.add("Transpose", {y}, {ints_attribute("perm", {0, 2, 1})});
  const std::string to =
      net.add("Concat", {extent(net, rows, 0), extent(net, rows, 1), net.ints({2, -1})}, {int_attribute("axis", 0)});
  const std::string heads = net.add("Reshape", {rows, to});
  const std::string whole = net.add("Concat", {extent(net, heads, 0), net.ints({-1, 4})}, {int_attribute("axis", 0)});
  net.add("Add", {rows, net.add("Reshape", {heads, whole})});
  return net;
}

TEST(DynamicShapes, NormsBetweenStridedConvolutionsLeaveOneQuotient) {
  const Network net = speech();
  const Imported got = net.import(str("v", net.count - 1));
  ASSERT_TRUE(got.status) << text_of(got);
  EXPECT_EQ(str(got.graph.type(got.graph.outputs()[0].value)), "f32[x_0, floor_div(x_2 + 240, 320) - 1, 4]");
  for (const sym::Assumption& assumption : got.graph.assumptions())
    EXPECT_LT(str(assumption).size(), 120U) << str(assumption);
  // The last of seven windows' assumptions implies the others.
  const sym::Guard last = sym::Guard::compile(got.graph.assumptions().back());
  EXPECT_TRUE(last.check(std::vector<int64_t>{1, 400}));
  EXPECT_FALSE(last.check(std::vector<int64_t>{1, 399}));
  EXPECT_EQ(got.graph.assumptions().size(), 7U);
  EXPECT_TRUE(str(got.graph.assumptions()[0]).starts_with("10 <= x_2 (Convolution 'v0_Conv': the window must fit"))
      << str(got.graph.assumptions()[0]);
}

TEST(DynamicShapes, WhatIsKnownGoesWithWhatSaidIt) {
  Network net;
  net.inputs = {value("x", kFloat, {1, 4, -1})};
  net.initializers = {tensor("w", kFloat, {4, 4, 5}).text(field::tensor::kRawData, std::string(4 * 4 * 5 * 4, '\0'))};
  const std::string y = net.add("Conv", {"x", "w"});
  Imported got = net.import(y);
  ASSERT_TRUE(got.status) << text_of(got);
  const sym::Expr t = got.graph.type(got.graph.inputs()[0]).shape[2];
  EXPECT_EQ(t.min(), 5);
  const ir::NodeId conv = got.graph.value(got.graph.outputs()[0].value).producer;
  ir::Graph copy = got.graph.clone();
  ASSERT_TRUE(copy.infer(ir::Graph::Which::kAll));
  ASSERT_EQ(copy.assumptions().size(), 1U);  // still said, although the table knew it
  EXPECT_TRUE(str(copy.assumptions()[0]).starts_with("5 <= x_2 (")) << str(copy.assumptions()[0]);
  ops::Convolution padded = *copy.node(conv).op.as<ops::Convolution>();
  padded.pre_pads = padded.post_pads = {2};
  copy.set_op(conv, padded);
  ASSERT_TRUE(copy.infer(ir::Graph::Which::kAll));
  EXPECT_EQ(t.min(), 1);
  ASSERT_EQ(copy.assumptions().size(), 1U);
  EXPECT_TRUE(str(copy.assumptions()[0]).starts_with("5 <= x_2 + 4")) << str(copy.assumptions()[0]);
}

/// The extents that ONNX gives `dims` for a tensor of `from`; nothing if they are impossible.
std::optional<Extents> reshaped(const Extents& from, const Extents& dims) {
  Extents to = dims;
  int64_t others = 1;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0) to[i] = from[i];
    if (to[i] > 0) others *= to[i];
  }
  for (int64_t& extent : to)
    if (extent == -1) extent = volume(from) / others;
  return volume(to) == volume(from) ? std::optional(to) : std::nullopt;
}

/// Reshapes by shape tensors of the run, of which each entry may be -1 or 0: as trees, extents double in each.
TEST(DynamicShapes, ShapesOfTheRunAreNeverTooLarge) {
  constexpr int kReshapes = 40;
  Network net;
  net.inputs = {value("x", kFloat, {-1, -1, -1})};
  std::string y = "x";
  for (int i = 0; i < kReshapes; ++i) {
    net.inputs.push_back(value(str("s", i), kInt64, {3}));
    y = net.add("Transpose", {net.add("Reshape", {y, str("s", i)})}, {ints_attribute("perm", {1, 2, 0})});
  }
  const Imported got = net.import(y);
  ASSERT_TRUE(got.status) << text_of(got);
  const Shape& shape = got.graph.type(got.graph.outputs()[0].value).shape;
  std::vector<sym::Program> programs;
  for (const sym::Expr& e : shape) programs.push_back(sym::Program::compile(e));
  EXPECT_LT(str(got.graph.type(got.graph.outputs()[0].value)).size(), 400U);
  uint64_t random = 1;
  const auto pick = [&](uint64_t count) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int64_t>((random >> 33) % count);
  };
  for (int trial = 0; trial < 20; ++trial) {
    Extents at{2 * (1 + pick(3)), 1 + pick(4), 6}, symbols = at;
    for (int i = 0; i < kReshapes; ++i) {
      Extents dims;
      do {
        dims = {at[static_cast<size_t>(pick(3))], at[static_cast<size_t>(pick(3))], at[static_cast<size_t>(pick(3))]};
        if (pick(2)) dims[static_cast<size_t>(pick(3))] = 0;
        if (pick(2)) dims[static_cast<size_t>(pick(3))] = -1;
      } while (!reshaped(at, dims));
      symbols.insert(symbols.end(), dims.begin(), dims.end());
      at = *reshaped(at, dims);
      std::ranges::rotate(at, at.begin() + 1);
    }
    Extents found;
    for (const sym::Program& program : programs) found.push_back(program.run(symbols).value_or(-1));
    EXPECT_EQ(found, at) << "trial " << trial;
    for (const sym::Assumption& assumption : got.graph.assumptions()) {
      const Status held = sym::Guard::compile(assumption).check(symbols);
      EXPECT_TRUE(held) << held.error().message;
    }
  }
}

/// A group norm of x f32[1, 4, any] whose coefficients have as many elements as the run says.
std::string group_norm_by_the_run(int64_t opset) {
  return text_of(import_proto(
      model(graph({{node("GroupNormalization", {"x", "s", "s"}, {"y"}, "g", {int_attribute("num_groups", 2)})},
                   {value("x", kFloat, {1, 4, -1}), value("s", kFloat, {-1})},
                   {value("y", kFloat, {1, 4, -1})},
                   {}}),
            {}, opset)));
}
TEST(DynamicShapes, GroupNormRepeatsCoefficientsAsOftenAsMakesChannels) {
  const std::string old = group_norm_by_the_run(18);
  EXPECT_NE(old.find("floor_div(4, s_0)"), std::string::npos) << old;
  EXPECT_NE(old.find("Normalization{"), std::string::npos) << old;
  const std::string now = group_norm_by_the_run(21);  // a channel each
  EXPECT_EQ(now.find("floor_div"), std::string::npos) << now;
  EXPECT_NE(now.find("Normalization{"), std::string::npos) << now;
}

TEST(DynamicShapes, ExpandRefusesExtentsThatDoNotBroadcast) {
  const Proto expand = node("Expand", {"x", "s"}, {"y"}, "wide");
  EXPECT_EQ(import_node(expand, {value("x", kFloat, {4, 1})}, {i64s("s", {2, 3})}),
            "node 'wide' (Expand) of x f32[4, 1], s i64[2]: expanding f32[4, 1] to [2, 3]: broadcast extents: 4 and 2 "
            "differ\n");
  const Imported of_run = import_proto(model(
      graph({{expand}, {value("x", kFloat, {4, 1}), value("s", kInt64, {2})}, {value("y", kFloat, {4, -1})}, {}})));
  ASSERT_FALSE(of_run.graph.assumptions().empty()) << text_of(of_run);
  EXPECT_EQ(str(of_run.graph.assumptions()[0]),
            "\"s[0]\" is 1 or 4 (Expand 'wide': axis 0 of [4, 1] and [\"s[0]\", \"s[1]\"])");
}

}  // namespace
}  // namespace kiln::onnx
