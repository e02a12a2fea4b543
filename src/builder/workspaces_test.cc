#include "builder/workspaces.h"

#include <gtest/gtest.h>

#include "steps/if.h"
#include "steps/testing/named_step.h"
#include "steps/testing/stub_device.h"
#include "sym/table.h"

namespace kiln {
namespace {

/// Binds where its one extent is at most `most`, and takes as many bytes as that.
struct PickyStep final : LoadedStep {
  explicit PickyStep(int64_t most) : most(most) {}
  struct Bound final : BoundStep {
    explicit Bound(int64_t bytes) : bytes(bytes) {}
    int64_t workspace_bytes() const override { return bytes; }
    Status run(const RunArguments&) override { return {}; }
    int64_t bytes;
  };
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const int64_t extent = shapes.inputs[0][0];
    if (extent > most) return error(Code::kUnsupported, "no kernel for ", extent);
    return std::make_unique<Bound>(extent);
  }
  int64_t most;
};

class PickyDevice final : public StubDevice {
 public:
  explicit PickyDevice(int64_t most) : StubDevice("picky"), most_(most) {}
  Result<std::unique_ptr<LoadedStep>> load_checked(const StepSpec&, std::span<const HostTensor* const>) override {
    return std::make_unique<PickyStep>(most_);
  }

 private:
  int64_t most_;
};

/// One step that reads an input of `least` to `most` elements, 8 at the optimum.
plan::Plan plan_of(int64_t least, int64_t most) {
  sym::Table table;
  plan::Plan plan;
  plan.symbols.push_back({"n", 0, 0, -1});
  plan.inputs.emplace_back().extents = {sym::Program::compile(table.symbol("n"))};
  plan::Profile& profile = plan.profiles.emplace_back();
  profile.ranges = {{{least}, {8}, {most}}};
  profile.value_ranges.resize(1);
  plan::Tensor& x = profile.tensors.emplace_back();
  x.place = plan::Place::kInput, x.index = 0, x.extents = plan.inputs[0].extents;
  plan::Step& step = profile.steps.emplace_back();
  step.name = "the step", step.executor = "picky", step.step = named_step("any"), step.inputs = step.outputs = {0};
  return plan;
}

/// Odd extents alone: not the optimum, nor an even end.
void allow_odd_extents(plan::Plan& plan) {
  sym::Table table;
  const sym::Expr n = table.symbol("n");
  plan.guards.push_back(sym::Guard::compile({sym::Relation::kEqual, n - sym::floor_div(n, 2) * 2, sym::Expr(1), ""}));
}

TEST(Workspaces, AreTheLargestOfTheEnds) {
  plan::Plan plan = plan_of(2, 32);
  PickyDevice device(100);
  ASSERT_TRUE(measure_workspaces(plan, device, nullptr));
  EXPECT_EQ(plan.profiles[0].steps[0].workspace_bytes, 32);
  EXPECT_EQ(plan.profiles[0].workspace_bytes, 32);
}

TEST(Workspaces, AStepHasToWorkWhereShapesAreLargest) {
  plan::Plan plan = plan_of(2, 32);
  PickyDevice device(31);
  const Status measured = measure_workspaces(plan, device, nullptr);
  ASSERT_FALSE(measured);
  EXPECT_NE(measured.error().message.find("no kernel for 32"), std::string::npos) << measured.error().message;
}

/// The largest shapes are none that the network can have, so what fails there is not told; at the minimum it is.
TEST(Workspaces, AStepHasToWorkSomewhere) {
  plan::Plan plan = plan_of(3, 32);
  allow_odd_extents(plan);
  PickyDevice works_at_least(3), never(2);
  ASSERT_TRUE(measure_workspaces(plan, works_at_least, nullptr));
  EXPECT_EQ(plan.profiles[0].steps[0].workspace_bytes, 3);
  const Status measured = measure_workspaces(plan, never, nullptr);
  ASSERT_FALSE(measured);
  EXPECT_NE(measured.error().message.find("no kernel for 3"), std::string::npos) << measured.error().message;
  EXPECT_NE(measured.error().message.find("the step"), std::string::npos) << measured.error().message;
}

/// The step in a branch that needs extents of 12, which are none of the ends.
TEST(Workspaces, ABranchHasToWorkWhereItCanRun) {
  plan::Plan plan = plan_of(2, 32);
  sym::Table table;
  plan::Step choice = plan.profiles[0].steps[0];
  choice.step = steps::If{}, choice.bodies = {0};
  plan::Body& body = plan.bodies.emplace_back();
  static_cast<plan::Block&>(body) = plan.profiles[0];
  body.guards.push_back(sym::Guard::compile({sym::Relation::kEqual, table.symbol("n"), 12, ""}));
  plan.profiles[0].steps[0] = choice;
  PickyDevice works_at_least(12), never(11);
  ASSERT_TRUE(measure_workspaces(plan, works_at_least, nullptr));
  EXPECT_EQ(plan.bodies[0].steps[0].workspace_bytes, 12);
  const Status measured = measure_workspaces(plan, never, nullptr);
  ASSERT_FALSE(measured);
  EXPECT_NE(measured.error().message.find("no kernel for 12"), std::string::npos) << measured.error().message;
}

/// A size that the step in front decides, up to 32, and that the body assumes to be 12.
TEST(Workspaces, ASizeIsWhatItsBodyAssumes) {
  plan::Plan plan = plan_of(2, 32);
  plan::Step choice = plan.profiles[0].steps[0];
  choice.step = steps::If{}, choice.bodies = {0};
  plan.bodies.resize(2);
  plan::Body& body = plan.bodies[0];
  static_cast<plan::Block&>(body) = plan.profiles[0];
  plan::Step decides = choice;
  decides.bodies = {1}, decides.sizes = {{1, sym::Program::constant(32)}};
  sym::Table table;
  table.symbol("n");
  const sym::Expr decided = table.symbol("m");
  plan.symbols.push_back({"m"});
  body.tensors[0].extents = {sym::Program::compile(decided)};
  body.steps.push_back(decides);
  body.guards.push_back(sym::Guard::compile({sym::Relation::kEqual, decided, 12, ""}));
  plan.profiles[0].steps[0] = choice;
  PickyDevice works_at_twelve(12);
  const Status measured = measure_workspaces(plan, works_at_twelve, nullptr);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(plan.bodies[0].steps[0].workspace_bytes, 12);
}

/// 5 or 7 may do, which nobody tries.
TEST(Workspaces, WhereNoEndIsAllowedAStepMayWorkBetweenThem) {
  plan::Plan plan = plan_of(4, 32);
  allow_odd_extents(plan);
  PickyDevice device(3);
  EXPECT_TRUE(measure_workspaces(plan, device, nullptr));
}

}  // namespace
}  // namespace kiln
