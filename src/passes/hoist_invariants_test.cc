#include "passes/hoist_invariants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ir/copy.h"
#include "ir/interpret.h"
#include "ops/activation.h"
#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/loop.h"
#include "ops/matrix_multiply.h"
#include "ops/reduce.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/softmax.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "ops/unsqueeze.h"
#include "passes/testing/random_graph.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

using ops::ElementWiseKind;
using ops::UnaryKind;

std::string problem_of(const Status& status) { return status ? "" : status.error().message; }

/// A loop of three iterations over the carried value "v", which captures all other inputs of the network.
class TestLoop {
 public:
  TestLoop() = default;
  explicit TestLoop(std::shared_ptr<sym::Table> table) : graph(std::move(table)) {}

  /// Adds an input of the network, and returns what it is in the body. The first one is the loop's initial value.
  ir::ValueId input(std::string name, const TensorType& type) {
    if (inputs_.empty()) {
      inputs_.push_back(graph.add_constant(HostTensor::of_ints(DType::kI64, {}, std::array<int64_t, 1>{3}), "count"));
      inputs_.push_back(ir::ValueId::kNone);
      body->add_input("i", {DType::kI64, {}});
    }
    inputs_.push_back(graph.add_input(name, type));
    return body->add_input(std::move(name), type);
  }
  ir::ValueId add(Op op, std::initializer_list<ir::ValueId> inputs, std::string name) {
    const auto made = body->add_one(std::move(op), inputs);
    EXPECT_TRUE(made) << made.error().message;
    if (!made) return ir::ValueId::kNone;
    body->set_name(*made, std::move(name));
    return *made;
  }
  ir::ValueId add(ElementWiseKind kind, ir::ValueId a, ir::ValueId b, std::string name) {
    return add(ops::ElementWise{kind}, {a, b}, std::move(name));
  }
  ir::ValueId add(UnaryKind kind, ir::ValueId x, std::string name) {
    return add(ops::Unary{kind}, {x}, std::move(name));
  }
  /// Adds the loop, whose body gives these values: the carried one, and those that are stacked.
  Status finish(std::initializer_list<ir::ValueId> results, ops::Loop loop = {.carried = 1},
                std::vector<DecidedSize> sizes = {}) {
    for (const ir::ValueId result : results) body->mark_output(result, body->value(result).name);
    loop.stacks.assign(body->outputs().size() - static_cast<size_t>(loop.carried), 1);
    for (const ir::ValueId output : TRY(graph.add(loop, inputs_, "loop", {body}, std::move(sizes))))
      graph.mark_output(output, str("y", graph.outputs().size()));
    return {};
  }
  Status hoist() {
    NullLog log;
    PassContext cx{log};
    TRY(hoist_invariants(graph, cx));
    return ir::verify(graph);
  }
  /// The names of what the body's nodes make, and of what nodes in front of the loop make, in their order.
  std::string made_inside() { return made_by(*loop().bodies[0]); }
  std::string made_in_front() { return made_by(graph); }
  const ir::Node& loop() { return graph.node(graph.value(graph.outputs()[0].value).producer); }

  ir::Graph graph;
  std::shared_ptr<ir::Graph> body = graph.new_body();

 private:
  static std::string made_by(const ir::Graph& graph) {
    std::string text;
    const auto order = graph.topological_order();
    EXPECT_TRUE(order);
    for (const ir::NodeId id : *order)
      if (const ir::Node& node = graph.node(id); node.bodies.empty() && graph.num_uses(node.outputs[0]) > 0)
        text += str(text.empty() ? "" : " ", graph.value(node.outputs[0]).name);
    return text;
  }
  std::vector<ir::ValueId> inputs_;
};

TensorType floats(Shape shape) { return {DType::kF32, std::move(shape)}; }
HostTensor numbers(Extents extents, std::vector<double> elements) {
  return HostTensor::of(DType::kF32, std::move(extents), elements);
}

TEST(HoistInvariants, WorkOnCapturesStandsInFrontOfTheLoop) {
  TestLoop made;
  const ir::ValueId v = made.input("v", floats({2})), x = made.input("x", floats({2}));
  const ir::ValueId a = made.add(UnaryKind::kExp, x, "a");
  ASSERT_EQ(problem_of(made.finish({made.add(ElementWiseKind::kSum, v, a, "w")})), "");
  ASSERT_EQ(problem_of(made.hoist()), "");
  EXPECT_EQ(ir::print(made.graph),
            "v: f32[2]\nx: f32[2]\n"
            "count = Constant{value=i64[](3)}()  # i64[]\n"
            "a = Unary{kind=exp}(x)  # f32[2]\n"
            "%3 = Loop{carried=1, scans=[], stacks=[], tests=false, decided=[], most=[], elements=[]}"
            "(count, _, v, x, a) {  # iteration\n"
            "  i: i64[]\n  v: f32[2]\n  x: f32[2]\n  a%5: f32[2]\n"
            "  a%3 = Unary{kind=exp}(x)  # f32[2]\n"
            "  w = ElementWise{kind=sum}(v, a%5)  # f32[2]\n"
            "  return w\n"
            "}  # f32[2]\n"
            "return %3 as y0\n");
}
TEST(HoistInvariants, WhatIsMadeOfEachOtherMovesTogether) {
  TestLoop made;
  const ir::ValueId v = made.input("v", floats({2})), x = made.input("x", floats({2}));
  const ir::ValueId a = made.add(UnaryKind::kExp, x, "a"), b = made.add(UnaryKind::kNeg, a, "b");
  const ir::ValueId w = made.add(ElementWiseKind::kSum, made.add(ElementWiseKind::kSum, v, a, "va"), b, "w");
  ASSERT_EQ(problem_of(made.finish({w})), "");
  ASSERT_EQ(problem_of(made.hoist()), "");
  EXPECT_EQ(made.made_in_front(), "count a b");
  EXPECT_EQ(made.made_inside(), "va w");
}
TEST(HoistInvariants, ViewsStayWithTheirReaders) {
  TestLoop made;
  const ir::ValueId v = made.input("v", floats({2, 1})), x = made.input("x", floats({2}));
  const ir::ValueId a = made.add(UnaryKind::kExp, x, "a"), r = made.add(ops::Unsqueeze{{1}}, {a}, "r");
  ASSERT_EQ(problem_of(made.finish({made.add(ElementWiseKind::kSum, v, r, "w")})), "");
  ASSERT_EQ(problem_of(made.hoist()), "");
  EXPECT_EQ(made.made_in_front(), "count a");
  EXPECT_EQ(made.made_inside(), "r w");
}
TEST(HoistInvariants, WorkOnConstantsAloneIsLeftToFolding) {
  TestLoop made;
  const ir::ValueId v = made.input("v", floats({2}));
  const ir::ValueId one = made.body->add_constant(numbers({2}, {1, 2}), "one");
  const ir::ValueId a = made.add(UnaryKind::kExp, one, "a");
  ASSERT_EQ(problem_of(made.finish({made.add(ElementWiseKind::kSum, v, a, "w")})), "");
  ASSERT_EQ(problem_of(made.hoist()), "");
  EXPECT_EQ(made.made_in_front(), "count");
  EXPECT_EQ(made.made_inside(), "one a w");
}
TEST(HoistInvariants, OutputsAreMadeByNodesOfTheBody) {
  TestLoop made;
  const ir::ValueId v = made.input("v", floats({2})), x = made.input("x", floats({2}));
  const ir::ValueId w = made.add(UnaryKind::kNeg, v, "w"), a = made.add(UnaryKind::kExp, x, "a");
  ASSERT_EQ(problem_of(made.finish({w, a})), "");
  ASSERT_EQ(problem_of(made.hoist()), "");
  EXPECT_EQ(made.made_in_front(), "count");
  EXPECT_EQ(made.made_inside(), "w a");
}
TEST(HoistInvariants, WhatAssumesExtentsStays) {  // the loop may run no iteration, and x and z be of any extents then
  TestLoop made;
  sym::Table& table = made.graph.table();
  const sym::Expr n = table.symbol("n", {1, 2, 8}), m = table.symbol("m", {1, 2, 8});
  const ir::ValueId v = made.input("v", floats({n})), x = made.input("x", floats({n})),
                    z = made.input("z", floats({m}));
  const ir::ValueId a = made.add(UnaryKind::kExp, x, "a"), b = made.add(UnaryKind::kExp, z, "b");
  const ir::ValueId one = made.add(ops::Concatenation{.axis = 0}, {a, b}, "one");
  const ir::ValueId total = made.add(ops::Reduce{.kind = ops::ReduceKind::kSum, .axes = {0}, .keep = true}, {one}, "t");
  const ir::ValueId dot = made.add(ops::MatrixMultiply{ops::MatrixOp::kVector, ops::MatrixOp::kVector}, {x, z},
                                   "dot");  // n and m are equal
  const ir::ValueId row = made.add(ops::Unsqueeze{{0}}, {dot}, "row");
  const ir::ValueId both = made.add(ElementWiseKind::kSum, total, row, "both");
  ASSERT_EQ(problem_of(made.finish({made.add(ElementWiseKind::kSum, v, both, "w")})), "");
  ASSERT_EQ(problem_of(made.hoist()), "");
  EXPECT_EQ(made.made_in_front(), "count a b one t");
  EXPECT_EQ(made.made_inside(), "a b one dot row both w");
  EXPECT_TRUE(made.graph.beliefs().empty()) << "the network works where n and m differ and no iteration runs";
}
TEST(HoistInvariants, CarriedValuesThatNoIterationChangesAreCaptures) {
  TestLoop made;
  const ir::ValueId v = made.input("v", floats({2})), x = made.input("x", floats({2}));
  const ir::ValueId w = made.add(ElementWiseKind::kSum, v, x, "w");
  ASSERT_EQ(problem_of(made.finish({w, x}, {.carried = 2})), "");
  ASSERT_EQ(problem_of(made.hoist()), "");
  EXPECT_EQ(made.loop().op.as<ops::Loop>()->carried, 1);
  EXPECT_EQ(made.loop().inputs.size(), 4U);
  EXPECT_EQ(made.graph.outputs()[1].value, made.graph.inputs()[1]) << "x behind the loop is x in front of it";
}
TEST(HoistInvariants, CarriedValuesOfDecidedExtentsStayCarried) {  // their extent is a symbol of the loop
  TestLoop made;
  const sym::Expr extent = made.graph.table().fresh("extent", {0, 2, 2});
  const ir::ValueId v = made.input("v", floats({2})), x = made.input("x", floats({2}));
  made.body->set_input_type(x, floats({extent}));
  const ir::ValueId w = made.add(UnaryKind::kNeg, v, "w");
  ASSERT_EQ(problem_of(made.finish({w, x}, {.carried = 2, .decided = {{1, 0}}, .most = {2}}, {{extent, 2}})), "");
  ASSERT_EQ(problem_of(made.hoist()), "");
  EXPECT_EQ(made.loop().op.as<ops::Loop>()->carried, 2);
  EXPECT_EQ(str(made.graph.type(made.graph.outputs()[1].value)), str("f32[", extent, "]"));
}
TEST(HoistInvariants, WhatLeavesALoopLeavesTheOneAroundIt) {
  TestLoop made;
  const ir::ValueId v = made.input("v", floats({2})), x = made.input("x", floats({2}));
  const auto inner = made.body->new_body();
  inner->add_input("j", {DType::kI64, {}});
  const ir::ValueId u = inner->add_input("u", floats({2})), captured = inner->add_input("x", floats({2}));
  const ir::ValueId a = inner->add_one(ops::Unary{UnaryKind::kExp}, {captured}).value();
  inner->set_name(a, "a");
  inner->mark_output(inner->add_one(ops::ElementWise{ElementWiseKind::kSum}, {u, a}).value(), "u1");
  const ir::ValueId two = made.body->add_constant(HostTensor::scalar(DType::kI64, 2), "two");
  const std::array inputs{two, ir::ValueId::kNone, v, x};
  const auto outputs = made.body->add(ops::Loop{.carried = 1}, inputs, "inner", {inner});
  ASSERT_TRUE(outputs) << outputs.error().message;
  made.body->set_name((*outputs)[0], "w");
  ASSERT_EQ(problem_of(made.finish({(*outputs)[0]})), "");
  ASSERT_EQ(problem_of(made.hoist()), "");
  EXPECT_EQ(made.made_in_front(), "count a");
}
/// A number whose elements shapes follow is another one for them in each iteration, whatever it is.
TEST(HoistInvariants, NumbersThatShapesFollowStayCarried) {
  for (const bool is_followed : {false, true}) {
    TestLoop made;
    const ir::ValueId v = made.input("v", floats({2})), k = made.input("k", {DType::kI64, {1}});
    ASSERT_EQ(problem_of(made.finish({made.add(UnaryKind::kNeg, v, "w"), k},
                                     {.carried = 2, .elements = is_followed ? std::vector{2} : std::vector<int>{}})),
              "");
    ASSERT_EQ(problem_of(made.hoist()), "");
    EXPECT_EQ(made.loop().op.as<ops::Loop>()->carried, is_followed ? 2 : 1);
  }
}
TEST(HoistInvariants, WhatIsCapturedLeavesTheOthersTheirNumbers) {
  TestLoop made;
  const sym::Expr extent = made.graph.table().fresh("extent", {0, 2, 9});
  const ir::ValueId v = made.input("v", floats({2})), x = made.input("x", floats({2})),
                    k = made.input("k", {DType::kI64, {1}}), z = made.input("z", floats({2}));
  made.body->set_input_type(z, floats({extent}));
  const ir::ValueId w = made.add(ElementWiseKind::kSum, v, x, "w"),
                    next = made.add(ElementWiseKind::kSum, k, k, "next");
  const ir::ValueId longer = made.add(ops::Concatenation{.axis = 0}, {z, x}, "longer");
  ASSERT_EQ(problem_of(made.finish({w, x, next, longer},
                                   {.carried = 4, .decided = {{3, 0}}, .most = {9}, .elements = {3}}, {{extent, 9}})),
            "");
  ASSERT_EQ(problem_of(made.hoist()), "");
  const auto& loop = *made.loop().op.as<ops::Loop>();
  EXPECT_EQ(loop.carried, 3);
  EXPECT_EQ(loop.elements, std::vector{2}) << "k is the second carried value now";
  EXPECT_EQ(loop.decided, (std::vector<DecidedAxis>{{2, 0}}));
}
TEST(HoistInvariants, WhatFollowsTheIterationsNumberStays) {  // though all that it reads is captured or constant
  TestLoop made;
  const sym::Expr number = made.graph.table().fresh("iteration", {0, 1, 2});
  const ir::ValueId v = made.input("v", floats({1})), x = made.input("x", floats({1}));
  const ir::ValueId d = made.add(ops::DimValues{{number}, DType::kI64, {1}}, {}, "d");
  const ir::ValueId f = made.add(ops::Cast{DType::kF32}, {d}, "f"), a = made.add(ElementWiseKind::kSum, x, f, "a");
  const ir::ValueId b = made.add(UnaryKind::kExp, x, "b");
  const ir::ValueId w = made.add(ElementWiseKind::kSum, made.add(ElementWiseKind::kSum, v, a, "va"), b, "w");
  ASSERT_EQ(problem_of(made.finish({w}, {.carried = 1, .elements = {0}}, {{number, 2, true}})), "");
  ASSERT_EQ(problem_of(made.hoist()), "");
  EXPECT_EQ(made.made_in_front(), "count b");
}

/// A body that makes so many values, each by `step` of the one before, of a capture or of a constant.
enum class Root { kCapture, kConstant };
TestLoop chain(int length, Root root, auto step) {
  TestLoop made;
  const ir::ValueId v = made.input("v", floats({2})), x = made.input("x", floats({2}));
  ir::ValueId last = root == Root::kCapture ? x : made.body->add_constant(numbers({2}, {1, 2}), "one");
  for (int k = 0; k < length; ++k) last = step(made, last);
  EXPECT_TRUE(made.finish({made.add(ElementWiseKind::kSum, v, last, "w")}));
  return made;
}
TEST(HoistInvariants, ValuesThatAreReadTwiceAreLookedAtOnce) {  // 2^60 paths lead to the first one
  for (const Root root : {Root::kCapture, Root::kConstant}) {
    TestLoop work =
        chain(60, root, [](TestLoop& made, ir::ValueId x) { return made.add(ElementWiseKind::kSum, x, x, "t"); });
    ASSERT_EQ(problem_of(work.hoist()), "");
    TestLoop views = chain(60, root, [](TestLoop& made, ir::ValueId x) {
      const ir::ValueId a = made.add(ops::Unsqueeze{{0}}, {x}, "a"), b = made.add(ops::Unsqueeze{{0}}, {x}, "b");
      const ir::ValueId both = made.add(ops::Concatenation{.axis = 0}, {a, b}, "both");
      return made.add(ops::Reduce{.kind = ops::ReduceKind::kMax, .axes = {0}, .keep = false}, {both}, "t");
    });
    ASSERT_EQ(problem_of(views.hoist()), "");
    EXPECT_EQ(work.loop().inputs.size(), root == Root::kCapture ? 5U : 4U) << "what stays reads the last one";
  }
}
TEST(HoistInvariants, LongChainsNeedNoStack) {
  constexpr int kLength = 100'000;
  TestLoop made =
      chain(kLength, Root::kCapture, [](TestLoop& m, ir::ValueId x) { return m.add(UnaryKind::kNeg, x, "t"); });
  ASSERT_EQ(problem_of(made.hoist()), "");
  EXPECT_EQ(made.loop().inputs.size(), 5U);
  EXPECT_GT(made.graph.num_nodes(), kLength);
}

/// A random graph as a loop's body: the first input is carried and changes its sign, others are captured, and all
/// outputs are stacked.
Status wrap(const ir::Graph& inner, TestLoop& made) {
  ir::Places places(static_cast<size_t>(inner.num_values()), ir::ValueId::kNone);
  for (const ir::ValueId input : inner.inputs())
    places[ir::index(input)] = made.input(inner.value(input).name, inner.type(input));
  const ir::ValueId carried = places[ir::index(inner.inputs()[0])];
  places = TRY(ir::splice(*made.body, inner, std::move(places), {}));
  made.body->mark_output(TRY(made.body->add_one(ops::Unary{UnaryKind::kNeg}, {carried})), "next");
  for (const ir::Output& output : inner.outputs()) {
    const ir::ValueId result = TRY(made.body->add_one(ops::Unary{UnaryKind::kNeg}, {places[ir::index(output.value)]}));
    made.body->mark_output(result, output.name);
  }
  return made.finish({});
}
TEST(HoistInvariants, KeepsValuesAndSettles) {
  const OpInfo* const kinds[] = {
      &op_info<ops::Unary>(),         &op_info<ops::ElementWise>(), &op_info<ops::Activation>(),
      &op_info<ops::Softmax>(),       &op_info<ops::Transpose>(),   &op_info<ops::Reshape>(),
      &op_info<ops::Expand>(),        &op_info<ops::Reduce>(),      &op_info<ops::MatrixMultiply>(),
      &op_info<ops::Concatenation>(), &op_info<ops::Slice>(),       &op_info<ops::Unsqueeze>()};
  int changed = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const RandomGraph random = random_graph(seed, 8, kinds);
    TestLoop made(random.graph.shared_table());
    const Status wrapped = wrap(random.graph, made);
    ASSERT_TRUE(wrapped) << "seed " << seed << ": " << wrapped.error().message;
    const auto before = ir::interpret(made.graph, random.inputs);
    if (!before) continue;  // the inputs break an assumption
    const std::string text = ir::print(made.graph);
    ASSERT_EQ(problem_of(made.hoist()), "") << "seed " << seed << "\n" << text;
    const std::string once = ir::print(made.graph);
    changed += once != text;
    const auto after = ir::interpret(made.graph, random.inputs);
    ASSERT_TRUE(after) << "seed " << seed << ": " << after.error().message << "\n" << text << "became\n" << once;
    for (size_t i = 0; i < before->size(); ++i)
      ASSERT_TRUE(std::ranges::equal((*before)[i].bytes(), (*after)[i].bytes()))
          << "seed " << seed << ", output " << i << "\n"
          << text << "became\n"
          << once;
    ASSERT_EQ(problem_of(made.hoist()), "");
    ASSERT_EQ(ir::print(made.graph), once) << "seed " << seed << ": a second run changes the graph";
  }
  EXPECT_GE(changed, 50) << "the random graphs do not try this pass";
}

}  // namespace
}  // namespace kiln::passes
