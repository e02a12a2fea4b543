#include "runtime/step_loader.h"

#include <gtest/gtest.h>

#include "plan/testing/sample_plan.h"
#include "steps/testing/named_step.h"
#include "steps/testing/stub_device.h"
#include "sym/table.h"

namespace kiln::runtime {
namespace {

/// Binds to anything, and says what it was given.
struct Step final : LoadedStep {
  struct Bound final : BoundStep {
    explicit Bound(const StepShapes& shapes) : params(shapes.params.begin(), shapes.params.end()) {}
    Status run(const RunArguments&) override { return error(Code::kInternal, "it has run"); }
    Extents params;
  };
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    return std::make_unique<Bound>(shapes);
  }
};

/// Keeps three bytes.
struct Counter final : KeepsState {
  struct Bound final : BoundStep {
    explicit Bound(std::byte* state) : state(state) {}
    Status run(const RunArguments&) override { return {}; }
    std::byte* state;
  };
  std::vector<std::byte> initial_state() const override { return std::vector<std::byte>(3); }
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes&, std::byte* state) const override {
    return std::make_unique<Bound>(state);
  }
};

class Recorder final : public StubDevice {
 public:
  Recorder() : StubDevice("recorder") {}
  Result<std::unique_ptr<LoadedStep>> load_checked(const StepSpec& spec,
                                                   std::span<const HostTensor* const> constants) override {
    kernel = as_named(spec.step).text;
    if (kernel == "broken") return error(Code::kUnsupported, "no such kernel");
    binary_bytes = std::ssize(spec.binary);
    inputs = spec.inputs;
    given.assign(constants.begin(), constants.end());
    return std::make_unique<Step>();
  }
  std::string kernel;
  int64_t binary_bytes = 0;
  std::vector<StepTensor> inputs;
  std::vector<const HostTensor*> given;
};

struct Sample {
  Sample() : plan(plan::sample_plan()), weights(plan), loader(plan, weights, device, nullptr) {
    CHECK(weights.order().has_value());
    profile().steps[0].step = named_step("gemm");
  }
  plan::Profile& profile() { return plan.profiles[0]; }
  Hash128 key(const plan::Step& step, int kernel = kOwnKernel) const {
    return loader.key(plan.profiles[0], step, kernel);
  }

  plan::Plan plan;
  OrderedWeights weights;
  Recorder device;
  StepLoader loader;
};

TEST(StepLoader, GivesAnExecutorItsWeightsAndItsCode) {
  Sample sample;
  ASSERT_TRUE(sample.loader.load(sample.profile(), sample.profile().steps[0], kOwnKernel));
  EXPECT_EQ(sample.device.kernel, "gemm");
  EXPECT_EQ(sample.device.binary_bytes, 5);
  ASSERT_EQ(sample.device.given.size(), 3u);
  EXPECT_EQ(sample.device.given[0], nullptr);
  EXPECT_EQ(sample.device.given[1], &sample.weights.at(sample.profile().tensors[1]));
  EXPECT_FALSE(sample.device.inputs[2].present);
  EXPECT_EQ(sample.loader.constants(sample.profile(), sample.profile().steps[0]), sample.device.given);
  sample.profile().steps[0].step = named_step("broken");
  const auto broken = sample.loader.load(sample.profile(), sample.profile().steps[0], kOwnKernel);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "step 'matmul': no such kernel");
}

/// Two steps of one key are loaded once: whatever `load` hands on has to be in it.
TEST(StepLoader, AKeyIsOfAllThatIsLoaded) {
  Sample sample;
  const plan::Step step = sample.profile().steps[0];
  const Hash128 key = sample.key(step);
  plan::Step same = step;
  same.name = "another", same.provenance = {}, same.workspace_bytes = 7, same.outputs = {4};
  sample.profile().tensors[4].extents.push_back(sym::Program::constant(1));  // of rank 2, as the other output
  EXPECT_EQ(sample.key(same), key);
  const auto differs = [&](auto change) {
    plan::Step other = step;
    change(other);
    return sample.key(other) != key;
  };
  EXPECT_TRUE(differs([](plan::Step& s) { s.executor = "elsewhere"; }));
  EXPECT_TRUE(differs([](plan::Step& s) { s.step = named_step("conv"); }));
  EXPECT_TRUE(differs([](plan::Step& s) { s.step = NamedStep{"gemm", 0.2}; }));
  EXPECT_TRUE(differs([](plan::Step& s) { s.tuning.set("tile", 8); }));
  EXPECT_TRUE(differs([](plan::Step& s) { s.binary = -1; }));
  EXPECT_TRUE(differs([](plan::Step& s) { s.params.push_back(s.params[0]); }));
  EXPECT_TRUE(differs([](plan::Step& s) { s.inputs = {0, 0, 2}; }));  // no weight
  EXPECT_TRUE(differs([](plan::Step& s) { s.inputs = {0, 1, 0}; }));  // nothing absent
  EXPECT_TRUE(differs([](plan::Step& s) { s.inputs = {0, 1}; }));
  const plan::Step& nest = sample.profile().steps[1];
  EXPECT_NE(sample.key(nest, 0), sample.key(nest));  // an alternative
  sample.profile().tensors[1].format = Format::linear();
  EXPECT_NE(sample.key(step), key);
  sample.profile().tensors[1].index = 1;
  const Hash128 of_other_weight = sample.key(step);
  sample.profile().tensors[1].index = 0;
  EXPECT_NE(sample.key(step), of_other_weight);
}

TEST(StepLoader, BindsToWhatSymbolsMakeOfParameters) {
  Sample sample;
  const Extents symbols{2, 0};
  const auto extents = tensor_extents(sample.profile(), symbols);
  ASSERT_TRUE(extents);
  EXPECT_EQ((*extents)[3], (Extents{2, 5}));
  const auto bound = runtime::bind(Step(), sample.profile().steps[0], kOwnKernel, *extents, symbols);
  ASSERT_TRUE(bound);
  EXPECT_EQ(static_cast<const Step::Bound&>(**bound).params, Extents{6});  // 3 times the batch
  EXPECT_FALSE((*bound)->run({}));
}

/// No step is asked to make nothing: beside an extent of 0 others may be of any size.
TEST(StepLoader, AStepOfEmptyOutputsDoesNothing) {
  Sample sample;
  const Extents symbols{0, 0};
  const auto extents = tensor_extents(sample.profile(), symbols);
  ASSERT_TRUE(extents);
  const auto bound = runtime::bind(Step(), sample.profile().steps[0], kOwnKernel, *extents, symbols);
  ASSERT_TRUE(bound);
  EXPECT_TRUE((*bound)->run({}));
}

TEST(StepLoader, AStepWithAMemoryIsGivenIt) {
  Sample sample;
  const Extents symbols{2, 0};
  const auto extents = tensor_extents(sample.profile(), symbols);
  ASSERT_TRUE(extents);
  std::byte memory[3];
  const Counter counter;
  const auto here = [&](const KeepsState& step) -> Result<std::byte*> {
    EXPECT_EQ(&step, &counter);
    return memory;
  };
  const plan::Step& step = sample.profile().steps[0];
  EXPECT_EQ(
      static_cast<const Counter::Bound&>(**runtime::bind(counter, step, kOwnKernel, *extents, symbols, here)).state,
      memory);
  EXPECT_EQ(static_cast<const Counter::Bound&>(**runtime::bind(counter, step, kOwnKernel, *extents, symbols)).state,
            nullptr);
}

}  // namespace
}  // namespace kiln::runtime
