// Sizes without a bound: loops that only a condition ends, values that change places, lengths that data decides.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "api/onnx/bodies_program.h"
#include "plan/reader.h"
#include "plan/writer.h"

namespace kiln::api {
namespace {

using namespace bodies;

/// v grows by an element, which is stacked, until its sum is not below a limit.
Proto grows_to(bool reads_extent) {
  const Proto concat = node("Concat", {"v", "one"}, {"v1"}, "", {int_attribute("axis", 0)});
  const Proto sum = node("ReduceSum", {"v1"}, {"s"}, "", {int_attribute("keepdims", 0)});
  const Proto row = node("Mul", {"w", "s"}, {"row"});
  const Proto body = loop_body({concat, sum, row, node("Less", {"s", "limit"}, {"on"})}, {"v"}, {"on", "v1", "row"});
  std::vector<Proto> nodes{loop_node({"m", "", "x"}, {"v_end", "rows"}, body)};
  // What is behind the loop is bound when its sizes are known.
  nodes.push_back(reads_extent ? node("Neg", {"v_end"}, {"y"}) : node("Identity", {"v_end"}, {"y"}));
  return model(graph({nodes,
                      {value("x", kFloat, {-1}), value("limit", kFloat)},
                      {value("y", kFloat, {-1}), value("rows", kFloat, {-1, 3})},
                      {scalar("m", INT64_MAX), floats("one", {1}, {1}), floats("w", {3}, {1, 10, 100})}}));
}

TEST(GrowingOutputs, ALoopThatOnlyItsConditionEnds) {
  Program p(grows_to(true), {{"x", {0}, {5}}});
  for (const int64_t limit : {3, 700, 0, 5, 700, 2}) {
    p.feed("x", {1}, Floats{2}).feed("limit", {}, Floats{static_cast<float>(limit)});
    EXPECT_EQ(p.run(), "") << limit;
    const auto trips = static_cast<size_t>(std::max<int64_t>(limit - 2, 1));
    Floats y(trips + 1, -1), rows;
    y[0] = -2;
    for (size_t i = 0; i < trips; ++i)
      for (const float w : {1, 10, 100}) rows.push_back(w * static_cast<float>(i + 3));
    EXPECT_EQ(p.of<float>("y"), y) << limit;
    EXPECT_EQ(p.shape("rows"), (Numbers{static_cast<int64_t>(trips), 3}));
    EXPECT_EQ(p.of<float>("rows"), rows) << limit;
  }
}
/// A counter goes on while it is not its end, and is stacked: nothing says before how often.
TEST(GrowingOutputs, ALoopWhoseCounterIsNotItsEnd) {
  const Proto body = loop_body(
      {node("Add", {"k", "step"}, {"k1"}), node("Equal", {"k1", "end"}, {"is_end"}), node("Not", {"is_end"}, {"on"}),
       node("Concat", {"v", "one"}, {"v1"}, "", {int_attribute("axis", 0)}), node("Identity", {"k1"}, {"s"})},
      {"k", "v"}, {"on", "k1", "v1", "s"});
  Program p(model(graph({{loop_node({"m", "", "zero", "x"}, {"last", "y", "numbers"}, body)},
                         {value("x", kFloat, {-1}), value("end", kInt64)},
                         {value("last", kInt64), value("y", kFloat, {-1}), value("numbers", kInt64, {-1})},
                         {scalar("m", INT64_MAX), scalar("zero", 0), scalar("step", 1), floats("one", {1}, {1})}})),
            {{"x", {0}, {5}}});
  for (const int64_t end : {1, 70, 4, 300}) {
    Numbers numbers(static_cast<size_t>(end));
    std::iota(numbers.begin(), numbers.end(), 1);
    p.feed("x", {1}, Floats{1}).feed("end", {}, Numbers{end});
    EXPECT_EQ(p.run(), "") << end;
    EXPECT_EQ(p.of<int64_t>("numbers"), numbers);
    EXPECT_EQ(p.of<float>("y"), Floats(static_cast<size_t>(end) + 1, 1)) << end;
    EXPECT_EQ(p.of<int64_t>("last"), Numbers{end});
  }
}
/// v doubles while it has fewer than ten elements, which looks constant before v is found to grow.
TEST(GrowingOutputs, ALoopThatTheExtentOfItsResultEnds) {
  const Proto body = loop_body({node("Concat", {"v", "v"}, {"v1"}, "", {int_attribute("axis", 0)}),
                                node("Size", {"v1"}, {"elements"}), node("Less", {"elements", "ten"}, {"on"})},
                               {"v"}, {"on", "v1"});
  for (const int64_t declared : {int64_t{3}, int64_t{-1}})
    for (const char* count : {"m", ""}) {
      Program p(model(graph({{loop_node({count, "", "x"}, {"y"}, body)},
                             {value("x", kFloat, {declared})},
                             {value("y", kFloat, {-1})},
                             {scalar("m", 5), scalar("ten", 10)}})),
                {{"x", {declared < 0 ? 1 : declared}, {declared < 0 ? 16 : declared}}});
      const auto grown = [&](size_t elements) {
        p.feed("x", {static_cast<int64_t>(elements)}, Floats(elements, 7));
        EXPECT_EQ(p.run(), "") << declared << count;
        return p.of<float>("y").size();
      };
      EXPECT_EQ(grown(3), 12U) << declared << count;
      if (declared > 0) continue;
      EXPECT_EQ(grown(1), 16U);
      EXPECT_EQ(grown(16), 32U) << "a first iteration always runs";
    }
}
/// Nothing bounds n, so nothing bounds how many slices there would be.
TEST(GrowingOutputs, AStackThatNobodyReadsTakesNoMemory) {
  const Proto body =
      loop_body({kOn, node("Add", {"v", "v"}, {"v1"}), node("Neg", {"v"}, {"slice"})}, {"v"}, {"on", "v1", "slice"});
  Program p(model(graph({{loop_node({"n", "", "x"}, {"y", "unread"}, body)},
                         {value("x", kFloat, {-1}), value("n", kInt64)},
                         {value("y", kFloat, {-1})},
                         {}})),
            {{"x", {1}, {8}}});
  for (const int64_t n : {3, 0}) {
    p.feed("x", {2}, Floats{1, 5}).feed("n", {}, Numbers{n});
    EXPECT_EQ(p.run(), "") << n;
    EXPECT_EQ(p.of<float>("y"), n == 0 ? (Floats{1, 5}) : (Floats{8, 40}));
  }
}
TEST(GrowingOutputs, WantAnAllocator) {
  Program p(grows_to(false), {{"x", {0}, {5}}});
  ASSERT_TRUE(p.context);
  p.feed("x", {1}, Floats{2}).feed("limit", {}, Floats{9});
  EXPECT_EQ(p.context->getMaxOutputSize("y"), -1);
  EXPECT_EQ(p.run(), "");
  testing::Shared<float> memory(64);
  p.context->setOutputAllocator("y", nullptr);
  p.context->setTensorAddress("y", memory.data());
  const std::string error = p.run();
  EXPECT_NE(error.find("output 'y': nothing bounds its size, which data decides; give it an IOutputAllocator"),
            std::string::npos)
      << error;
}
/// A context that never had an allocator refuses, too, and writes nothing.
TEST(GrowingOutputs, AreNotWrittenToPlainAddresses) {
  Program p(grows_to(false), {{"x", {0}, {5}}});
  ASSERT_TRUE(p.context);
  for (const char* name : {"y", "rows"}) p.context->setOutputAllocator(name, nullptr);
  p.feed("x", {1}, Floats{2}).feed("limit", {}, Floats{9});
  testing::Shared<float> y(64, -7), rows(64, -7);
  p.context->setTensorAddress("y", y.data());
  p.context->setTensorAddress("rows", rows.data());
  EXPECT_FALSE(p.context->enqueueV3(nullptr));
  ASSERT_FALSE(p.logger.errors.empty());
  EXPECT_NE(p.logger.errors.back().find("output 'y': nothing bounds its size, which data decides"), std::string::npos)
      << p.logger.errors.back();
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(y[i], -7) << i;
}
TEST(GrowingOutputs, ALoopWithoutIterationsGivesWhatItWasGiven) {
  const Proto body = loop_body(
      {kOn, node("Concat", {"v", "v"}, {"v1"}, "", {int_attribute("axis", 0)}), node("Identity", {"v1"}, {"s"})}, {"v"},
      {"on", "v1", "s"});
  const Proto count = node("Cast", {"f"}, {"m"}, "", {int_attribute("to", kInt64)});
  Program p(model(graph({{count, loop_node({"m", "", "x"}, {"y"}, body)},
                         {value("x", kFloat, {-1}), value("f", kFloat)},
                         {value("y", kFloat, {-1})},
                         {}})),
            {{"x", {0}, {5}}});
  for (const float trips : {0.0F, 1.0F, 0.0F}) {  // its slices differ, but nobody reads them
    p.feed("x", {2}, Floats{3, 4}).feed("f", {}, Floats{trips});
    EXPECT_EQ(p.run(), "") << trips;
    EXPECT_EQ(p.of<float>("y"), trips > 0 ? (Floats{3, 4, 3, 4}) : (Floats{3, 4}));
  }
}

/// Two carried values of other extents change places.
TEST(GrowingOutputs, ValuesThatChangePlaces) {
  const Proto body =
      loop_body({kOn, node("Neg", {"b"}, {"a1"}), node("Identity", {"a"}, {"b1"})}, {"a", "b"}, {"on", "a1", "b1"});
  Program p(model(graph({{loop_node({"m", "", "x", "z"}, {"y", "u"}, body)},
                         {value("x", kFloat, {-1}), value("z", kFloat, {-1}), value("m", kInt64)},
                         {value("y", kFloat, {-1}), value("u", kFloat, {-1})},
                         {}})),
            {{"x", {0}, {5}}, {"z", {0}, {9}}});
  Floats a{1, 2}, b{3, 4, 5};
  p.feed("x", {2}, a).feed("z", {3}, b);
  for (const int64_t trips : {0, 1, 2, 3}) {
    p.feed("m", {}, Numbers{trips});
    EXPECT_EQ(p.run(), "") << trips;
    EXPECT_EQ(p.of<float>("y"), a) << trips;
    EXPECT_EQ(p.of<float>("u"), b) << trips;
    for (float& v : b) v = -v;
    std::swap(a, b);
  }
}

/// In each of two iterations an inner loop grows a value until its sum reaches a limit that the iteration decides.
TEST(GrowingOutputs, LoopsInLoops) {
  GraphParts inner{.nodes = {node("Concat", {"u", "one"}, {"u1"}, "", {int_attribute("axis", 0)}),
                             node("ReduceSum", {"u1"}, {"s"}, "", {int_attribute("keepdims", 0)}),
                             node("Less", {"s", "limit"}, {"on2"})},
                   .inputs = {value("i2", kInt64), value("go2", kBool), value_of_any("u")},
                   .outputs = {value("on2", kBool), value_of_any("u1")}};
  const Proto outer = loop_body(
      {kOn, node("Cast", {"i"}, {"fi"}, "", {int_attribute("to", kFloat)}), node("Mul", {"fi", "step"}, {"limit"}),
       loop_node({"m", "", "x"}, {"grown"}, graph(inner, "inner")),
       node("ReduceSum", {"grown"}, {"sum"}, "", {int_attribute("keepdims", 0)}), node("Add", {"v", "sum"}, {"v1"})},
      {"v"}, {"on", "v1", "sum"});
  Program p(
      model(graph({{loop_node({"three", "", "zero"}, {"y", "sums"}, outer)},
                   {value("x", kFloat, {-1}), value("step", kFloat)},
                   {value("y", kFloat, {}), value("sums", kFloat, {3})},
                   {scalar("m", INT64_MAX), scalar("three", 3), floats("zero", {}, {0}), floats("one", {1}, {1})}})),
      {{"x", {0}, {5}}});
  for (const float step : {300.0F, 4.0F}) {
    p.feed("x", {1}, Floats{1}).feed("step", {}, Floats{step});
    EXPECT_EQ(p.run(), "");
    EXPECT_EQ(p.of<float>("sums"), (Floats{2, step, 2 * step}));
    EXPECT_EQ(p.of<float>("y"), Floats{2 + 3 * step});
  }
}

/// A branch's result is as long as a loop in it makes it; the other one's as x is.
TEST(GrowingOutputs, ABranchOfAnyLength) {
  GraphParts inner{.nodes = {node("Concat", {"u", "u"}, {"u1"}, "", {int_attribute("axis", 0)}),
                             node("ReduceSum", {"u1"}, {"s"}, "", {int_attribute("keepdims", 0)}),
                             node("Less", {"s", "limit"}, {"on2"})},
                   .inputs = {value("i2", kInt64), value("go2", kBool), value_of_any("u")},
                   .outputs = {value("on2", kBool), value_of_any("u1")}};
  const Proto then =
      branch({loop_node({"m", "", "x"}, {"grown"}, graph(inner, "inner")), node("Neg", {"grown"}, {"a"})}, {"a"});
  Program p(model(graph({{if_node({"b"}, then, branch({node("Abs", {"x"}, {"e"})}, {"e"})), node("Sign", {"b"}, {"y"})},
                         {value("x", kFloat, {-1}), value("c", kBool), value("limit", kFloat)},
                         {value("y", kFloat, {-1})},
                         {scalar("m", INT64_MAX)}})),
            {{"x", {0}, {5}}});
  p.feed("x", {2}, Floats{1, 1});
  for (const auto& [taken, limit, size, element] : {std::tuple(true, 500.0F, 512, -1.0F),
                                                    {false, 0.0F, 2, 1.0F},
                                                    {true, 3.0F, 4, -1.0F},
                                                    {true, 2000.0F, 2048, -1.0F}}) {
    p.feed_flag("c", taken).feed("limit", {}, Floats{limit});
    EXPECT_EQ(p.run(), "") << limit;
    EXPECT_EQ(p.of<float>("y"), Floats(static_cast<size_t>(size), element)) << limit;
  }
}

/// x is resized to what the numbers in b say, pasted into a row of 10 elements, and stacked.
Proto pastes() {
  const auto pick = [](const char* index, const char* name) {
    return node("Gather", {"box", index}, {name}, "", {int_attribute("axis", 0)});
  };
  const Proto body =
      loop_body({kOn,
                 node("Gather", {"b", "i"}, {"fbox"}, "", {int_attribute("axis", 0)}),
                 node("Cast", {"fbox"}, {"box"}, "", {int_attribute("to", kInt64)}),
                 pick("zero", "from"),
                 pick("one", "to"),
                 node("Sub", {"to", "from"}, {"width"}),
                 node("Concat", {"one", "width"}, {"sizes"}, "", {int_attribute("axis", 0)}),
                 node("Resize", {"x", "", "", "sizes"}, {"large"}, "", {text_attribute("mode", "nearest")}),
                 node("Max", {"from", "zero"}, {"begin"}),
                 node("Min", {"to", "ten"}, {"end"}),
                 node("Sub", {"begin", "from"}, {"first"}),
                 node("Sub", {"end", "from"}, {"last"}),
                 node("Slice", {"large", "first", "last", "one"}, {"part"}),
                 node("Concat", {"one", "begin"}, {"before_shape"}, "", {int_attribute("axis", 0)}),
                 node("ConstantOfShape", {"before_shape"}, {"before"}),
                 node("Sub", {"ten", "end"}, {"rest"}),
                 node("Concat", {"one", "rest"}, {"behind_shape"}, "", {int_attribute("axis", 0)}),
                 node("ConstantOfShape", {"behind_shape"}, {"behind"}),
                 node("Concat", {"before", "part", "behind"}, {"pasted"}, "", {int_attribute("axis", 1)}),
                 node("Concat", {"v", "pasted"}, {"v1"}, "", {int_attribute("axis", 0)})},
                {"v"}, {"on", "v1"});
  const auto list = [](const char* name, int64_t number) {
    return tensor(name, kInt64, {1}).text(onnx::field::tensor::kRawData, Proto().append_raw(number).bytes);
  };
  return model(
      graph({{node("Shape", {"b"}, {"b_shape"}), node("Gather", {"b_shape", "none"}, {"m"}),
              loop_node({"m", "", "v0"}, {"y"}, body)},
             {value("x", kFloat, {1, 2}), value("b", kFloat, {-1, 2})},
             {value("y", kFloat, {-1, 10})},
             {scalar("none", 0), list("zero", 0), list("one", 1), list("ten", 10), floats("v0", {0, 10}, {})}}));
}
TEST(GrowingOutputs, ResizesThatDataDecides) {
  Program p(pastes(), {{"b", {0, 2}, {7, 2}}});
  const std::vector<Floats> boxes{{1, 5}, {-3, 3}, {8, 14}, {0, 10}, {-90, 110}};
  for (const size_t count : {5, 0, 2}) {
    Floats b, y;
    for (size_t k = 0; k < count; ++k) {
      b.insert(b.end(), boxes[k].begin(), boxes[k].end());
      for (float at = 0; at < 10; ++at) {
        const bool inside = at >= boxes[k][0] && at < boxes[k][1];
        y.push_back(!inside ? 0 : at - boxes[k][0] < (boxes[k][1] - boxes[k][0]) / 2 ? 7 : 9);
      }
    }
    p.feed("x", {1, 2}, Floats{7, 9}).feed("b", {static_cast<int64_t>(count), 2}, b);
    EXPECT_EQ(p.run(), "") << count;
    EXPECT_EQ(p.of<float>("y"), y) << count;
  }
}

TEST(GrowingOutputs, ARangeWhoseLimitsDataDecides) {
  const Proto sum = node("ReduceSum", {"x"}, {"limit"}, "", {int_attribute("keepdims", 0)});
  Program p(model(graph({{sum, node("Range", {"start", "limit", "delta"}, {"r"}), node("Neg", {"r"}, {"y"})},
                         {value("x", kFloat, {-1})},
                         {value("y", kFloat, {-1})},
                         {floats("start", {}, {1}), floats("delta", {}, {0.5})}})),
            {{"x", {0}, {5}}});
  for (const float limit : {3.0F, 1.0F, -4.0F, 1000.25F, 3.1F}) {
    p.feed("x", {1}, Floats{limit});
    EXPECT_EQ(p.run(), "") << limit;
    Floats y;
    for (float at = 1; at < limit; at += 0.5F) y.push_back(-at);
    EXPECT_EQ(p.of<float>("y"), y) << limit;
  }
}
TEST(GrowingOutputs, NumbersOfDataLieIn32Bits) {
  const Proto whole = node("Cast", {"x"}, {"n"}, "", {int_attribute("to", kInt64)});
  Program p(model(graph(
      {{whole, node("ConstantOfShape", {"n"}, {"y"})}, {value("x", kFloat, {1})}, {value("y", kFloat, {-1})}, {}})));
  p.feed("x", {1}, Floats{3});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), (Floats{0, 0, 0}));
  p.feed("x", {1}, Floats{1e12F});
  const std::string error = p.run();
  EXPECT_NE(error.find("which lies in [0, 2147483647]"), std::string::npos) << error;
  p.feed("x", {1}, Floats{-3});
  EXPECT_NE(p.run(), "") << "no shape has a negative extent";
}

/// The number of data that an extent needs has a step of its own kind, not the reference of its op.
TEST(GrowingOutputs, NumbersOfDataAreReadByAStep) {
  const auto kinds_of = [](const std::vector<std::byte>& bytes) {
    std::vector<std::string> kinds;
    const auto read = plan::read_plan(bytes);
    EXPECT_TRUE(read) << read.error().message;
    if (read)
      for (const plan::Step& step : (*read)->profiles[0].steps) kinds.emplace_back(step.step.name());
    return kinds;
  };
  const Proto whole = node("Cast", {"x"}, {"n"}, "", {int_attribute("to", kInt64)});
  const auto bytes = build(
      model(graph(
          {{whole, node("ConstantOfShape", {"n"}, {"y"})}, {value("x", kFloat, {1})}, {value("y", kFloat, {-1})}, {}})),
      {});
  const std::vector<std::string> kinds = kinds_of(bytes);
  EXPECT_EQ(std::ranges::count(kinds, "read_values"), 1);
  EXPECT_EQ(std::ranges::count(kinds, "reference"), 0);
  Program p(bytes);
  for (const int n : {4, 1, 0, 70}) {
    p.feed("x", {1}, Floats{static_cast<float>(n)});
    EXPECT_EQ(p.run(), "") << n;
    EXPECT_EQ(p.of<float>("y"), Floats(static_cast<size_t>(n), 0)) << n;
  }
}

TEST(GrowingOutputs, DamagedPlansDoNotWriteBeyondTheirMemory) {
  const auto read = plan::read_plan(build(grows_to(true), {{"x", {0}, {5}}}));
  ASSERT_TRUE(read) << read.error().message;
  plan::Plan damaged = **read;
  for (plan::Tensor& t : damaged.profiles[0].tensors)
    if (t.place == plan::Place::kGrowing && t.extents.size() == 1) t.extents = {sym::Program::constant(2)};
  Program p(*plan::write_plan(damaged));
  p.feed("x", {1}, Floats{2}).feed("limit", {}, Floats{700});
  const std::string error = p.run();
  EXPECT_NE(error.find("beyond the 8 that its bound leaves it"), std::string::npos) << error;
}

}  // namespace
}  // namespace kiln::api
