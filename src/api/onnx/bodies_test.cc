// If, Loop and Scan of ONNX models, as programs build and run them.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "api/onnx/bodies_program.h"
#include "onnx/test_nest.h"
#include "plan/reader.h"
#include "plan/writer.h"

namespace kiln::api {
namespace {

using namespace bodies;

/// A test of a network that cannot be built, or of a damaged plan, fails and says why; it does not end the process.
TEST(BodiesProgram, WithoutAnEngineRunsNothing) {
  ::testing::TestPartResultArray failures;
  std::string error, damaged_error;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(&failures);
    Program p(model(graph({{node("Gnarl", {"x"}, {"y"})}, {value("x", kFloat, {2})}, {value("y", kFloat, {2})}})));
    p.feed("x", {2}, Floats{1, 2});
    error = p.run();
    EXPECT_EQ(p.of<float>("y"), Floats{}) << "outputs are empty";
    EXPECT_EQ(p.shape("y"), Numbers{});
    Program damaged(std::vector<std::byte>(100));
    damaged_error = damaged.feed("x", {2}, Floats{1, 2}).run();
  }
  ASSERT_EQ(failures.size(), 3) << "of the parser, and of each program";
  EXPECT_NE(std::string(failures.GetTestPartResult(0).message()).find("Gnarl"), std::string::npos);
  EXPECT_EQ(error, "there is no plan");
  EXPECT_NE(damaged_error.find("deserializeCudaEngine"), std::string::npos) << damaged_error;
}

TEST(Bodies, TheBranchThatIsNotTakenMayBeWrong) {
  const Proto total = node("ReduceSum", {"x"}, {"s"}, "", {int_attribute("keepdims", 0)});
  const Proto then = branch({total, node("Cast", {"s"}, {"at"}, "", {int_attribute("to", kInt64)}),
                             node("Gather", {"x", "at"}, {"one"}, "pick")},
                            {"one"});
  const Proto otherwise = branch({node("ReduceMax", {"x"}, {"most"}, "", {int_attribute("keepdims", 0)})}, {"most"});
  Program p(model(graph(
      {{if_node({"y"}, then, otherwise)}, {value("x", kFloat, {3}), value("c", kBool)}, {value("y", kFloat, {})}})));
  p.feed("x", {3}, Floats{1, 2, 4}).feed_flag("c", false);
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), Floats{4});
  p.feed_flag("c", true);
  const std::string error = p.run();
  EXPECT_NE(error.find("the branch of true"), std::string::npos) << error;
  EXPECT_TRUE(says_that_an_index_is_outside(error, "pick", 7)) << error;
  p.feed("x", {3}, Floats{1, 1, 0});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), Floats{0});
}

Proto twice_or_first() {
  return model(graph(
      {{node("Identity", {"x"}, {"z"}),
        if_node({"y", "n"},
                branch({node("Concat", {"x", "x"}, {"t"}, "", {int_attribute("axis", 0)}), node("Neg", {"x"}, {"tn"})},
                       {"t", "tn"}),
                branch({node("Slice", {"x", "from", "to"}, {"e"}), node("Abs", {"x"}, {"en"})}, {"e", "en"}))},
       {value("x", kFloat, {-1}), value("c", kBool)},
       {value("y", kFloat, {-1}), value("n", kFloat, {-1}), value("z", kFloat, {-1})},
       {i64s("from", {0}), i64s("to", {1})}}));
}
const std::vector<Range> kUpToFour{{"x", {1}, {4}}};

TEST(Bodies, AllocatorsAreToldWhatTheBranchMade) {
  Program p(twice_or_first(), kUpToFour);
  p.feed("x", {3}, Floats{1, -2, 3}).feed_flag("c", true);
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.shape("y"), Numbers{6});
  EXPECT_EQ(p.of<float>("y"), (Floats{1, -2, 3, 1, -2, 3}));
  EXPECT_EQ(p.of<float>("n"), (Floats{-1, 2, -3}));
  p.feed_flag("c", false);
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), Floats{1});
  EXPECT_EQ(p.of<float>("n"), (Floats{1, 2, 3}));
  ASSERT_TRUE(p.context);
  EXPECT_EQ(list(p.context->getTensorShape("y")), Numbers{-1}) << "the run decides it";
  p.feed("x", {4}, Floats{5, 6, 7, 8}).feed_flag("c", true);
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.shape("y"), Numbers{8}) << "with the shape of another run";
}
TEST(Bodies, ABranchGivesAValueTwice) {
  Program p(model(graph({{if_node({"y", "z"}, branch({node("Neg", {"x"}, {"t"})}, {"t", "t"}), branch({}, {"x", "x"}))},
                         {value("x", kFloat, {2}), value("c", kBool)},
                         {value("y", kFloat, {2}), value("z", kFloat, {2})}})));
  for (const bool taken : {true, false}) {
    p.feed("x", {2}, Floats{1, 2}).feed_flag("c", taken);
    EXPECT_EQ(p.run(), "");
    for (const char* name : {"y", "z"}) EXPECT_EQ(p.of<float>(name), taken ? (Floats{-1, -2}) : (Floats{1, 2}));
  }
}
TEST(Bodies, AnAllocatorThatGivesNothingIsNamed) {
  Program p(twice_or_first(), kUpToFour);
  p.feed("x", {2}, Floats{1, 2}).feed_flag("c", true);
  for (const char* name : {"y", "n", "z"}) {
    p.outputs[name].refuses = true;
    const std::string error = p.run();
    EXPECT_NE(error.find(str("output '", name, "'")), std::string::npos) << error;
    EXPECT_NE(error.find("its allocator did not give"), std::string::npos) << error;
    p.outputs[name].refuses = false;
  }
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), (Floats{1, 2, 1, 2}));
}

/// An iteration: v1 = v * w + x, s is v1.
const std::vector<Proto> kAffine{kOn, node("Mul", {"v", "w"}, {"vw"}), node("Add", {"vw", "x"}, {"v1"}),
                                 node("Identity", {"v1"}, {"s"})};

TEST(Bodies, ACountOfTheProgram) {
  Program p(model(graph({{loop_node({"m", "", "x"}, {"y", "all"}, loop_body(kAffine, {"v"}, {"on", "v1", "s"}))},
                         {value("x", kFloat, {2}), value("m", kInt64)},
                         {value("y", kFloat, {2}), value("all", kFloat, {-1, 2})},
                         {floats("w", {2}, {2, -1})}})),
            {{"m", {-3}, {5}}});
  p.feed("x", {2}, Floats{1, 3});
  for (const int64_t count : {2, 0, -3, 5}) {
    p.feed("m", {}, Numbers{count});
    EXPECT_EQ(p.run(), "");
    Floats y{1, 3}, all;
    for (int64_t i = 0; i < count; ++i) {
      y = {y[0] * 2 + 1, -y[1] + 3};
      all.insert(all.end(), y.begin(), y.end());
    }
    EXPECT_EQ(p.of<float>("y"), y) << count;
    EXPECT_EQ(p.of<float>("all"), all) << count;
    EXPECT_EQ(p.shape("all"), (Numbers{std::max<int64_t>(count, 0), 2}));
  }
}
TEST(Bodies, ACountThatDataDecides) {
  const Proto count = node("Cast", {"f"}, {"m"}, "", {int_attribute("to", kInt64)});
  Program p(model(graph({{count, loop_node({"m", "", "x"}, {"y"}, loop_body(kAffine, {"v"}, {"on", "v1"}))},
                         {value("x", kFloat, {2}), value("f", kFloat)},
                         {value("y", kFloat, {2})},
                         {floats("w", {2}, {2, -1})}})));
  p.feed("x", {2}, Floats{1, 3});
  for (const auto& [f, expected] : {std::pair(3.0F, Floats{15, 0}), {-8.0F, {1, 3}}, {0.0F, {1, 3}}, {1.0F, {3, 0}}}) {
    p.feed("f", {}, Floats{f});
    EXPECT_EQ(p.run(), "");
    EXPECT_EQ(p.of<float>("y"), expected) << f;
  }
}

/// v doubles while the sum of its elements is below a limit; i is 0 at first.
TEST(Bodies, ACountWithoutEndEndsByItsCondition) {
  const Proto body =
      loop_body({node("Add", {"v", "v"}, {"v1"}), node("ReduceSum", {"v1"}, {"s"}, "", {int_attribute("keepdims", 0)}),
                 node("Less", {"s", "limit"}, {"on"})},
                {"v"}, {"on", "v1"});
  Program p(model(graph({{loop_node({"m", "", "x"}, {"y"}, body)},
                         {value("x", kFloat, {2}), value("limit", kFloat)},
                         {value("y", kFloat, {2})},
                         {scalar("m", INT64_MAX)}})));
  p.feed("x", {2}, Floats{1, 1});
  for (const auto& [limit, expected] : {std::pair(100.0F, 64.0F), {0.0F, 2.0F}, {1e6F, 524288.0F}}) {
    p.feed("limit", {}, Floats{limit});
    EXPECT_EQ(p.run(), "");
    EXPECT_EQ(p.of<float>("y"), (Floats{expected, expected}));
  }
}

/// In each of 3 iterations, twice: v = v * w + i. The weights and the outer iteration's number are captured.
Proto loops_in_loops() {
  GraphParts inner{
      .nodes = {node("Identity", {"go2"}, {"on2"}), node("Mul", {"u", "w"}, {"uw"}), node("Add", {"uw", "fi"}, {"u1"})},
      .inputs = {value("i2", kInt64), value("go2", kBool), value_of_any("u")},
      .outputs = {value("on2", kBool), value_of_any("u1")}};
  const Proto outer = loop_body({kOn, node("Cast", {"i"}, {"fi"}, "", {int_attribute("to", kFloat)}),
                                 loop_node({"two", "", "v"}, {"v1"}, graph(inner, "inner")),
                                 node("ReduceSum", {"v1"}, {"s"}, "", {int_attribute("keepdims", 0)})},
                                {"v"}, {"on", "v1", "s"});
  return model(graph({{loop_node({"three", "", "x"}, {"y", "sums"}, outer)},
                      {value("x", kFloat, {2})},
                      {value("y", kFloat, {2}), value("sums", kFloat, {3})},
                      {scalar("two", 2), scalar("three", 3), floats("w", {2}, {2, -1})}}));
}
TEST(Bodies, LoopsInLoops) {
  Program p(loops_in_loops());
  p.feed("x", {2}, Floats{1, 5});
  EXPECT_EQ(p.run(), "");
  Floats v{1, 5}, sums;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) v = {v[0] * 2 + static_cast<float>(i), -v[1] + static_cast<float>(i)};
    sums.push_back(v[0] + v[1]);
  }
  EXPECT_EQ(p.of<float>("y"), v);
  EXPECT_EQ(p.of<float>("sums"), sums);
}

/// How many elements of x are above i, i = 0, 1, 2; what is above, in the last iteration.
Proto above_each(bool stacks_elements) {
  const Proto body = loop_body(
      {kOn, node("Cast", {"i"}, {"fi"}, "", {int_attribute("to", kFloat)}), node("Greater", {"x", "fi"}, {"above"}),
       node("Compress", {"x", "above"}, {"found"}, "", {int_attribute("axis", 0)}),
       node("ReduceSum", {"found"}, {"sum"}, "", {int_attribute("keepdims", 0)})},
      {"last"}, {"on", "found", stacks_elements ? "found" : "sum"});
  // A body's two outputs of one name would be one: the stacked one is a copy.
  return model(graph({{loop_node({"three", "", "x"}, {"y", "all"}, body)},
                      {value("x", kFloat, {-1})},
                      {value("y", kFloat, {-1}), value("all", kFloat, {})},
                      {scalar("three", 3)}}));
}
TEST(Bodies, SizesThatDataDecidesInIterations) {
  Program p(above_each(false), {{"x", {0}, {9}}});
  p.feed("x", {5}, Floats{3, 0.5, -1, 2.5, 1.5});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), (Floats{3, 2.5}));
  EXPECT_EQ(p.of<float>("all"), (Floats{7.5, 7, 5.5}));
  p.feed("x", {3}, Floats{-1, -2, -3});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.shape("y"), Numbers{0});
  EXPECT_EQ(p.of<float>("all"), (Floats{0, 0, 0}));
  p.feed("x", {0}, Floats{});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.shape("y"), Numbers{0});
}
TEST(Bodies, SlicesOfOtherSizesCannotBeStacked) {
  Program p(above_each(true), {{"x", {0}, {9}}});
  p.feed("x", {3}, Floats{5, 6, 7});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.shape("all"), (Numbers{3, 3}));
  EXPECT_EQ(p.of<float>("all"), (Floats{5, 6, 7, 5, 6, 7, 5, 6, 7}));
  p.feed("x", {3}, Floats{5, 6, 1});
  const std::string error = p.run();
  EXPECT_NE(error.find("gives a slice of [2] to stack, and those before it were [3]"), std::string::npos) << error;
}
/// A branch that no shape of this run allows says why, and nothing of what stands for it.
TEST(Bodies, ABranchThatCannotRunSaysWhy) {
  const Proto then =
      graph({{node("Reshape", {"x", "sh"}, {"a"}, "fold")}, {}, {value_of_any("a")}, {i64s("sh", {2, 3})}});
  const Proto otherwise = branch({node("Neg", {"z"}, {"b"})}, {"b"});
  Program p(model(graph({{if_node({"y"}, then, otherwise)},
                         {value("x", kFloat, {-1}), value("z", kFloat, {2, 2}), value("c", kBool)},
                         {value("y", kFloat, {-1, -1})}})),
            {{"x", {1}, {9}}});
  p.feed("x", {6}, Floats(6, 1)).feed("z", {2, 2}, Floats(4, 1)).feed_flag("c", true);
  EXPECT_EQ(p.run(), "");
  p.feed("x", {4}, Floats(4, 1));
  const std::string error = p.run();
  EXPECT_NE(error.find("Reshape 'fold': element counts"), std::string::npos) << error;
  EXPECT_EQ(error.find("0 = 1"), std::string::npos) << error;
}
/// Slices of [1, 6], [2, 3], [3, 2] have as many bytes each.
TEST(Bodies, SlicesOfOtherShapesCannotBeStacked) {
  const Proto body =
      loop_body({kOn, node("Add", {"i", "m"}, {"rows"}), node("Div", {"six", "rows"}, {"columns"}),
                 node("Unsqueeze", {"rows", "zero"}, {"r"}), node("Unsqueeze", {"columns", "zero"}, {"c"}),
                 node("Concat", {"r", "c"}, {"shape"}, "", {int_attribute("axis", 0)}),
                 node("Reshape", {"x", "shape"}, {"slice"})},
                {}, {"on", "slice"});
  // Iterations and rows are shape inputs, or data: then nothing bounds the slices.
  for (const bool are_shapes : {true, false}) {
    const int type = are_shapes ? kInt64 : kFloat;
    Program p(model(graph({{node("Cast", {"count"}, {"n"}, "", {int_attribute("to", kInt64)}),
                            node("Cast", {"most"}, {"m"}, "", {int_attribute("to", kInt64)}),
                            loop_node({"n", ""}, {"all"}, body)},
                           {value("x", kFloat, {6}), value("count", type), value("most", type)},
                           {value("all", kFloat, {-1, -1, -1})},
                           {scalar("six", 6), i64s("zero", {0})}})),
              are_shapes ? std::vector<Range>{{"count", {0}, {3}}, {"most", {1}, {3}}} : std::vector<Range>{});
    const auto run = [&](int64_t count) {
      if (are_shapes)
        p.feed("count", {}, Numbers{count}).feed("most", {}, Numbers{2});
      else
        p.feed("count", {}, Floats{static_cast<float>(count)}).feed("most", {}, Floats{2});
      return p.run();
    };
    p.feed("x", {6}, Floats{1, 2, 3, 4, 5, 6});
    EXPECT_EQ(run(1), "");
    EXPECT_EQ(p.shape("all"), (Numbers{1, 2, 3}));
    const std::string error = run(2);
    EXPECT_NE(
        error.find("iteration 1: output 'slice' gives a slice of [3, 2] to stack, and those before it were [2, 3]"),
        std::string::npos)
        << error;
  }
}

/// A list that grows by one element an iteration, at most 4 times, until its sum is not below a limit.
TEST(Bodies, AListThatGrowsUpToItsBound) {
  const Proto body = loop_body(
      {node("Concat", {"v", "one"}, {"v1"}, "", {int_attribute("axis", 0)}),
       node("ReduceSum", {"v1"}, {"s"}, "", {int_attribute("keepdims", 0)}), node("Less", {"s", "limit"}, {"on"})},
      {"v"}, {"on", "v1"});
  Program p(model(graph({{loop_node({"four", "", "x"}, {"y"}, body)},
                         {value("x", kFloat, {-1}), value("limit", kFloat)},
                         {value("y", kFloat, {-1})},
                         {scalar("four", 4), floats("one", {1}, {1})}})),
            {{"x", {0}, {3}}});

  for (const auto& [limit, expected] : {std::pair(4.0F, Floats{2, 1, 1}), {1e9F, {2, 1, 1, 1, 1}}, {0.0F, {2, 1}}}) {
    p.feed("x", {1}, Floats{2}).feed("limit", {}, Floats{limit});
    EXPECT_EQ(p.run(), "");
    EXPECT_EQ(p.of<float>("y"), expected);
  }
  p.feed("x", {3}, Floats{0, 0, 0}).feed("limit", {}, Floats{1e9F});
  ASSERT_TRUE(p.context);
  EXPECT_EQ(p.context->getMaxOutputSize("y"), 7 * 4);
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.shape("y"), Numbers{7});
}

Proto scan_of_two(std::initializer_list<int64_t> directions) {
  GraphParts body{
      .nodes = {node("Add", {"s", "a"}, {"sa"}), node("Mul", {"sa", "b"}, {"s1"}), node("Identity", {"s1"}, {"out"})},
      .inputs = {value_of_any("s"), value_of_any("a"), value_of_any("b")},
      .outputs = {value_of_any("s1"), value_of_any("out")}};
  return model(graph({{node("Scan", {"start", "x", "z"}, {"y", "all"}, "scan",
                            {graph_attribute("body", graph(body, "body")), int_attribute("num_scan_inputs", 2),
                             ints_attribute("scan_input_directions", directions)})},
                      {value("x", kFloat, {-1}), value("z", kFloat, {-1})},
                      {value("y", kFloat, {}), value("all", kFloat, {-1})},
                      {floats("start", {}, {1})}}));
}
/// The elements of x that each row of flags has, the last row's first: data decides how many there are.
TEST(Bodies, SlicesOfDataInReverse) {
  GraphParts body{.nodes = {node("Compress", {"x", "row"}, {"found"}, "", {int_attribute("axis", 0)})},
                  .inputs = {value_of_any("row", kBool)},
                  .outputs = {value_of_any("found")}};
  Program p(model(graph({{node("Greater", {"f", "none"}, {"flags"}),
                          node("Scan", {"flags"}, {"y"}, "scan",
                               {graph_attribute("body", graph(body, "body")), int_attribute("num_scan_inputs", 1),
                                ints_attribute("scan_output_directions", {1})})},
                         {value("x", kFloat, {4}), value("f", kFloat, {-1, 4})},
                         {value("y", kFloat, {-1, -1})},
                         {floats("none", {}, {0})}})),
            {{"f", {0, 4}, {5, 4}}});
  for (int run = 0; run < 2; ++run) {
    p.feed("x", {4}, Floats{1, 2, 3, 4}).feed("f", {3, 4}, Floats{1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 1});
    EXPECT_EQ(p.run(), "");
    EXPECT_EQ(p.shape("y"), (Numbers{3, 3}));
    EXPECT_EQ(p.of<float>("y"), (Floats{2, 3, 4, 1, 2, 4, 1, 2, 3}));
    p.feed("f", {2, 4}, Floats{1, 0, 0, 0, 0, 0, 0, 1});
    EXPECT_EQ(p.run(), "");
    EXPECT_EQ(p.of<float>("y"), (Floats{4, 1}));
  }
}
TEST(Bodies, ScansOfOneLength) {
  Program p(scan_of_two({0, 1}), {{"x", {1}, {4}}, {"z", {1}, {4}}});
  p.feed("x", {3}, Floats{1, 2, 3}).feed("z", {3}, Floats{4, 5, 6});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("all"), (Floats{12, 70, 292}));
  EXPECT_EQ(p.of<float>("y"), Floats{292});
  p.feed("x", {3}, Floats{1, 2, 3}).feed("z", {4}, Floats{4, 5, 6, 7});
  const std::string error = p.run();
  EXPECT_NE(error.find("3"), std::string::npos) << error;
  EXPECT_NE(error.find("4"), std::string::npos) << error;
  EXPECT_NE(error.find("scanned"), std::string::npos) << error;
}

TEST(Bodies, APlanHasTheSameBitsInEveryEngine) {
  const std::vector<std::byte> plan = build(above_each(false), {{"x", {0}, {9}}});
  ASSERT_FALSE(plan.empty());
  Program first(plan), second(plan);
  const Floats x{0.1F, 3.7F, 1e-8F, 2.2F, 1.1F, 0.7F};
  std::vector<uint32_t> bits;
  for (Program* p : {&first, &second, &first}) {
    p->feed("x", {6}, x);
    EXPECT_EQ(p->run(), "");
    const std::vector<uint32_t> all = p->of<uint32_t>("all");
    EXPECT_EQ(all.size(), 3u);
    if (bits.empty()) bits = all;
    EXPECT_EQ(all, bits);
    EXPECT_EQ(p->of<float>("y"), (Floats{3.7F, 2.2F}));
  }
}

TEST(Bodies, TakeTheWorkspaceThatTheirPlanLacks) {
  const auto read = plan::read_plan(build(loops_in_loops(), {}));
  ASSERT_TRUE(read) << read.error().message;
  plan::Plan damaged = **read;
  damaged.bodies[0].workspace_bytes = 0;
  for (plan::Step& step : damaged.bodies[0].steps) step.workspace_bytes = 0;
  Program p(*plan::write_plan(damaged));
  p.feed("x", {2}, Floats{1, 5});
  EXPECT_EQ(p.run(), "");
}
/// A product of few rows may be made by a kernel that wants more workspace than that of many rows.
TEST(Bodies, MayWantMoreWorkspaceForLess) {
  const Proto from = node("Slice", {"x", "zero", "end", "one"}, {"part"}),
              turned = node("Transpose", {"part"}, {"rows"}, "", {ints_attribute("perm", {1, 0})});
  const Proto body = loop_body(
      {kOn, node("Unsqueeze", {"i", "zero"}, {"i1"}), node("Add", {"i1", "one"}, {"end"}), from, turned,
       node("MatMul", {"rows", "x"}, {"product"}),
       node("ReduceSum", {"product"}, {"sum"}, "", {int_attribute("keepdims", 0)}), node("Add", {"a", "sum"}, {"a1"})},
      {"a"}, {"on", "a1"});
  const auto list = [](std::string_view name, int64_t number) {
    return tensor(name, kInt64, {1}).text(onnx::field::tensor::kRawData, Proto().append_raw(number).bytes);
  };
  constexpr int64_t kRows = 4, kColumns = 40;
  Program p(model(graph({{loop_node({"m", "", "start"}, {"y"}, body)},
                         {value("x", kFloat, {kRows, kColumns})},
                         {value("y", kFloat)},
                         {scalar("m", kColumns), floats("start", {}, {0}), list("zero", 0), list("one", 1)}})));
  Floats x(kRows * kColumns, 1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 3);
  double expected = 0;
  for (int64_t trip = 0; trip < kColumns; ++trip)
    for (int64_t row = 0; row <= trip; ++row)
      for (int64_t k = 0; k < kRows; ++k)
        for (int64_t column = 0; column < kColumns; ++column)
          expected += x[static_cast<size_t>(k * kColumns + row)] * x[static_cast<size_t>(k * kColumns + column)];
  p.feed("x", {kRows, kColumns}, x);
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), Floats{static_cast<float>(expected)});
}

/// A step that did its work once for each level above it, and then again, would not end: 2^40 times.
TEST(Bodies, NestForFortyLevels) {
  using enum Level;
  Program p(nested_model(40, {.levels = {kIfOfShapes, kGrowingLoop, kLoopOfData, kIfOfData}, .trips = 1}),
            {{"x", {1, 3}, {4, 3}}});
  p.feed_flag("c", true).feed("limit", {}, Floats{100});
  const auto rows_for = [&](int64_t rows) {
    p.feed("x", {rows, 3}, Floats(static_cast<size_t>(3 * rows), 5));
    EXPECT_EQ(p.run(), "");
    Floats expected(static_cast<size_t>(3 * rows), -5);
    while (expected.size() < p.of<float>("y40").size()) expected.insert(expected.end(), {1, 2, 3});
    EXPECT_EQ(p.of<float>("y40"), expected);
    return p.shape("y40");
  };
  EXPECT_EQ(rows_for(1), (Numbers{11, 3})) << "a row for each of ten loops";
  EXPECT_EQ(rows_for(4), (Numbers{13, 3})) << "the innermost loop is in a branch that is not taken";
  p.feed_flag("c", false);
  EXPECT_EQ(rows_for(4), (Numbers{4, 3})) << "the second level from outside takes its other branch";
}

}  // namespace
}  // namespace kiln::api
