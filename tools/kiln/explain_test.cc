#include "explain.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kiln {
namespace {

plan::Plan two_steps() {
  plan::Plan plan;
  plan::Profile& p = plan.profiles.emplace_back();
  for (const char* name : {"x", "w", "h", "y"}) {
    plan::Tensor& t = p.tensors.emplace_back();
    t.name = name, t.extents = {sym::Program::constant(2), sym::Program::constant(3)}, t.place = plan::Place::kArena;
  }
  p.tensors[1].place = plan::Place::kWeight;
  plan::Step& conv = p.steps.emplace_back();
  conv.name = "conv1 + relu1", conv.inputs = {0, 1}, conv.outputs = {2}, conv.workspace_bytes = 512;
  conv.provenance = {"ONNX node 'conv1' (Conv)", "ONNX node 'relu1' (Relu)"};
  conv.info = {.ops = "Convolution + Activation",
               .tactic = "convolution",
               .variant = "direct, 2 nodes",
               .time_us = 12.5,
               .candidates = {"convolution (direct): 12.5 us; chosen", "gemm: refused: no product"}};
  plan::Step& sum = p.steps.emplace_back();
  sum.name = "conv10", sum.inputs = {2}, sum.outputs = {3};
  return plan;
}

TEST(Explain, TellsWhatAPlanRecords) {
  EXPECT_EQ(*explain(two_steps(), "relu1"),
            "'conv1 + relu1': step 1 of 2\n"
            "  ops     Convolution + Activation\n"
            "  from    ONNX node 'conv1' (Conv)\n"
            "  from    ONNX node 'relu1' (Relu)\n"
            "  reads   x f32[2, 3], w f32[2, 3] (weight)\n"
            "  writes  h f32[2, 3]\n"
            "  run by  convolution (direct, 2 nodes), 12.5 us, 512 bytes of workspace\n"
            "  candidates\n"
            "    convolution (direct): 12.5 us; chosen\n"
            "    gemm: refused: no product\n");
}

TEST(Explain, FindsWholeNamesBeforeParts) {
  const plan::Plan plan = two_steps();
  EXPECT_EQ(explain(plan, "conv1")->find("conv10"), std::string::npos);
  EXPECT_TRUE(explain(plan, "conv10")->starts_with("'conv10': step 2 of 2"));
  const std::string both = *explain(plan, "onv");
  EXPECT_NE(both.find("'conv1 + relu1'"), std::string::npos);
  EXPECT_NE(both.find("'conv10'"), std::string::npos);
  const auto none = explain(plan, "pool");
  ASSERT_FALSE(none);
  EXPECT_TRUE(none.error().message.starts_with("no step of the plan runs a layer called 'pool'"))
      << none.error().message;
}

TEST(Explain, TakesANumberBeforePartsOfNames) {
  plan::Plan plan = two_steps();
  plan.profiles[0].steps[0].name = "conv2 + relu2";
  const std::string first = *explain(plan, "1");
  EXPECT_TRUE(first.starts_with("'conv2 + relu2': step 1 of 2")) << first;
  EXPECT_EQ(first.find("step 2 of 2"), std::string::npos) << "conv10 only contains a 1: " << first;
  const std::string part = *explain(plan, "10");
  EXPECT_TRUE(part.starts_with("'conv10': step 2 of 2")) << "there is no step 10: " << part;
  plan.profiles[0].steps[1].name = std::string("1");
  EXPECT_TRUE(explain(plan, "1")->starts_with("'1': step 2 of 2")) << "a whole name goes before a number";
}

TEST(Explain, AStepWithoutInfoIsTold) {
  const plan::Plan plan = two_steps();
  EXPECT_NE(explain(plan, "conv10")->find("not timed"), std::string::npos);
  EXPECT_NE(explain(plan, "conv10")->find("records no other candidates"), std::string::npos);
  EXPECT_EQ(std::ranges::count(list_steps(plan), '\n'), 2);
}

// A loop whose iteration has a branch.
plan::Plan with_bodies() {
  plan::Plan plan = two_steps();
  plan.profiles[0].steps[1].bodies = {0};
  plan.bodies.resize(2);
  plan.bodies[0].name = "iteration of Loop 'conv10'";
  plan.bodies[1].name = "branch of true of If 'choice'";
  for (plan::Body& body : plan.bodies) body.tensors = plan.profiles[0].tensors;
  for (const char* name : {"add", "choice"}) plan.bodies[0].steps.emplace_back().name = name;
  plan.bodies[0].steps[1].bodies = {1};
  plan::Step& inner = plan.bodies[1].steps.emplace_back();
  inner.name = "mul", inner.inputs = {2}, inner.outputs = {3}, inner.provenance = {"ONNX node 'mul' (Mul)"};
  return plan;
}

TEST(Explain, FindsStepsInBodies) {
  plan::Plan plan = with_bodies();
  plan.device_kind = "cpu";
  for (const char* name : {"mul", "2.1.2.1.1"})
    EXPECT_TRUE(explain(plan, name)
                    ->starts_with("'mul': step 1 of 1 of the branch of true of If 'choice'\n"
                                  "  ops     \n"
                                  "  from    ONNX node 'mul' (Mul)\n"
                                  "  reads   h f32[2, 3]\n"))
        << *explain(plan, name);
  EXPECT_EQ(explain(plan, "conv10")->find("  steered "), std::string::npos);  // on a CPU
  plan::Plan on_gpu = plan;
  on_gpu.device_kind = "cuda";
  EXPECT_NE(explain(on_gpu, "conv10")->find("  steered the device steers within one graph"), std::string::npos);
  on_gpu.bodies[0].symbols.resize(1);
  EXPECT_NE(explain(on_gpu, "conv10")->find("  steered the host steers, and waits for the device each time"),
            std::string::npos);
  EXPECT_NE(explain(plan, "conv10")->find("  holds   iteration of Loop 'conv10', 2 steps\n"), std::string::npos);
  EXPECT_TRUE(explain(plan, "2")->starts_with("'conv10': step 2 of 2\n"));
}

TEST(Explain, ListsStepsOfBodiesBehindTheirStep) {
  std::string starts;
  std::string_view list;
  const std::string text = list_steps(with_bodies());
  for (list = text; !list.empty(); list.remove_prefix(list.find('\n') + 1))
    starts += str(list.substr(0, list.find_first_of(" \n", list.find_first_not_of(' '))), '|');
  EXPECT_EQ(starts, "        1|        2|           iteration|    2.1.1|    2.1.2|           branch|2.1.2.1.1|")
      << text;
}

}  // namespace
}  // namespace kiln
