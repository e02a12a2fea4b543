// Plans whose bytes say something else of a body than what was built.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "api/onnx/bodies_program.h"
#include "plan/reader.h"
#include "plan/writer.h"
#include "steps/loop.h"

namespace kiln::api {
namespace {

using namespace bodies;

sym::Program constant(int64_t number) { return sym::Program::constant(number); }

/// The plan of a model, and what becomes of it when it is changed.
class Damage {
 public:
  explicit Damage(const Proto& model, const std::vector<Range>& ranges) {
    const auto read = plan::read_plan(build(model, ranges));
    EXPECT_TRUE(read) << read.error().message;
    if (read) plan_ = **read;
  }
  /// Why the changed plan cannot be read; empty where it can.
  template <class Change>
  std::string refusal(Change change) const {
    const auto bytes = plan::write_plan(changed(change));
    if (!bytes) return bytes.error().message;
    const auto read = plan::read_plan(*bytes);
    return read ? "" : read.error().message;
  }
  /// Why a run of the changed plan fails; empty where it does not. The plan can be read.
  template <class Change>
  std::string failure(Change change, const std::function<void(Program&)>& feed) const {
    Program p(*plan::write_plan(changed(change)));
    feed(p);
    return p.run();
  }

 private:
  template <class Change>
  plan::Plan changed(Change change) const {
    plan::Plan damaged = plan_;
    change(damaged);
    return damaged;
  }
  plan::Plan plan_;
};

/// The step of kind "loop" of the network.
plan::Step& loop_of(plan::Plan& plan) {
  const auto found =
      std::ranges::find_if(plan.profiles[0].steps, [](const plan::Step& s) { return !s.bodies.empty(); });
  EXPECT_NE(found, plan.profiles[0].steps.end());
  return *found;
}

void expect_says(const std::string& error, std::string_view what) {
  EXPECT_NE(error.find(what), std::string::npos) << error;
}

TEST(DamagedBodies, BranchesStayWithinTheirMemory) {
  const Proto then = branch({node("Concat", {"x", "x"}, {"t"}, "", {int_attribute("axis", 0)})}, {"t"});
  const Proto otherwise = branch({node("Neg", {"x"}, {"e"})}, {"e"});
  const Damage plan(model(graph({{if_node({"y"}, then, otherwise)},
                                 {value("x", kFloat, {-1}), value("c", kBool)},
                                 {value("y", kFloat, {-1})}})),
                    {{"x", {1}, {4}}});
  const auto feed = [](Program& p) { p.feed("x", {3}, Floats{1, 2, 3}).feed_flag("c", true); };
  EXPECT_EQ(plan.failure([](plan::Plan&) {}, feed), "");
  expect_says(plan.failure([](plan::Plan& p) { p.bodies[0].inputs[0].extents = {constant(1000)}; }, feed),
              "takes 4000 bytes, and the step around it gives 12");
  expect_says(plan.failure([](plan::Plan& p) { p.bodies[0].outputs[0].extents = {constant(1000)}; }, feed),
              "takes 4000 bytes, beyond the");
}

/// v grows by z in each of three iterations, at most.
Proto list_that_grows() {
  const Proto body = loop_body(
      {node("Concat", {"v", "z"}, {"v1"}, "", {int_attribute("axis", 0)}),
       node("ReduceSum", {"v1"}, {"s"}, "", {int_attribute("keepdims", 0)}), node("Less", {"s", "limit"}, {"on"})},
      {"v"}, {"on", "v1"});
  return model(graph({{loop_node({"three", "", "x"}, {"y"}, body)},
                      {value("x", kFloat, {-1}), value("z", kFloat, {1}), value("limit", kFloat)},
                      {value("y", kFloat, {-1})},
                      {scalar("three", 3)}}));
}
TEST(DamagedBodies, LoopsStayWithinTheirMemory) {
  const Damage plan(list_that_grows(), {{"x", {0}, {4}}});
  const auto feed = [](Program& p) {
    p.feed("x", {2}, Floats{1, 2}).feed("z", {1}, Floats{1}).feed("limit", {}, Floats{100});
  };
  EXPECT_EQ(plan.failure([](plan::Plan&) {}, feed), "");
  // The carried value's place has room for seven elements, and the program's x for two.
  const auto body_reads = [](int64_t extent) {
    return [extent](plan::Plan& p) {
      plan::Body& body = p.bodies[0];
      body.inputs[1].extents = {constant(extent)};
      for (plan::Tensor& tensor : body.tensors)
        if (tensor.place == plan::Place::kInput && tensor.index == 1) tensor.extents = {constant(extent)};
    };
  };
  expect_says(plan.failure(body_reads(7), feed), "takes 28 bytes, and the step around it gives 8");
  expect_says(plan.failure(body_reads(1000), feed), "takes 4000 bytes, and the step around it gives 8");
  const auto ends_with = [](int64_t most) {
    return [most](plan::Plan& p) {
      for (plan::DecidedSize& size : loop_of(p).sizes) size.most = constant(most);
    };
  };
  EXPECT_EQ(plan.failure(ends_with(5), feed), "");
  expect_says(plan.failure(ends_with(1), feed), "carried value 0 begins with 8 bytes, beyond the 4 that its bound");
}
/// A symbol that moves to an input whose extents the loop does not tell its body.
TEST(DamagedBodies, SymbolsAreOfExtentsThatTheLoopTells) {
  const Damage plan(list_that_grows(), {{"x", {0}, {4}}});
  EXPECT_EQ(plan.refusal([](plan::Plan&) {}), "");
  expect_says(plan.refusal([](plan::Plan& p) { p.bodies[0].symbols.at(0).input = 2; }),
              "by axis 0 of input 2, whose extent the loop does not decide");
}
/// The elements of a list say how much of x to add up; one behind its end is not read.
TEST(DamagedBodies, ElementsAreOfTheirInput) {
  const Proto body = loop_body({kOn, node("Add", {"k", "k"}, {"k1"}), node("Slice", {"x", "zero", "k"}, {"part"}),
                                node("ReduceSum", {"part"}, {"s"}, "", {int_attribute("keepdims", 0)})},
                               {"k"}, {"on", "k1", "s"}, kInt64);
  const Damage plan(model(graph({{loop_node({"m", "", "one"}, {"k_end", "sums"}, body)},
                                 {value("x", kFloat, {4}), value("m", kInt64)},
                                 {value("sums", kFloat, {-1})},
                                 {i64s("one", {1}), i64s("zero", {0})}})),
                    {{"m", {0}, {9}}});
  const auto feed = [](Program& p) { p.feed("x", {4}, Floats{1, 2, 3, 4}).feed("m", {}, Numbers{3}); };
  EXPECT_EQ(plan.failure([](plan::Plan&) {}, feed), "");
  expect_says(plan.failure([](plan::Plan& p) { p.bodies[0].symbols.at(0).element = 7; }, feed),
              "input 'k' has no element 7");
}

}  // namespace
}  // namespace kiln::api
