#include "backend/cpu/tactics/pointwise_depthwise.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backend/cpu/kernels/testing.h"
#include "backend/cpu/tactics/testing.h"
#include "ir/interpret.h"
#include "ops/activation.h"
#include "ops/convolution.h"
#include "ops/element_wise.h"
#include "steps/pointwise_depthwise.h"

namespace kiln::cpu {
namespace {

/// Whole numbers, whose sums are exact in any order.
HostTensor whole_numbers(Extents extents, int modulus) {
  std::vector<float> values(static_cast<size_t>(volume(extents)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i * 7 % 1009) % modulus - modulus / 2);
  return tensor_of(std::move(extents), values);
}

/// x[1, 8, edge, edge] to 64 channels, relu, 3x3 depthwise, [hard sigmoid,] + a residual.
struct Block {
  explicit Block(int64_t edge, int64_t groups = 64, bool function = true) {
    x = graph.add_input("x", tensor_type(DType::kF32, Extents{1, 8, edge, edge}));
    r = graph.add_input("r", tensor_type(DType::kF32, Extents{1, 64, edge, edge}));
    const auto constant = [&](Extents extents) { return graph.add_constant(whole_numbers(std::move(extents), 5)); };
    ops::Convolution taps;
    taps.pre_pads = taps.post_pads = {1, 1};
    taps.groups = groups;
    const ir::ValueId between = *graph.add_one(ops::Convolution{}, {x, constant({64, 8, 1, 1}), constant({64})});
    relu = *graph.add_one(ops::Activation{ops::ActivationKind::kRelu}, {between});
    ir::ValueId y = *graph.add_one(taps, {relu, constant({64, 64 / groups, 3, 3}), constant({64})});
    if (function) y = *graph.add_one(ops::Activation{ops::ActivationKind::kHardSigmoid, 0.25, 0.5}, {y});
    out = *graph.add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, {y, r});
  }
  Match match() {
    graph.mark_output(out, "y");
    const auto device = test_device(1);
    return pointwise_depthwise_tactic().match({graph, numerics, *device}, graph.value(out).producer);
  }
  std::string reason() {
    const Match region = match();
    return region ? "" : region.error().reason;
  }
  ir::Graph graph;
  ir::ValueId x, r, relu, out;
  Numerics numerics;
};

TEST(PointwiseDepthwiseTactic, TakesTwoConvolutionsWithWhatFollows) {
  for (const bool function : {false, true}) {
    Block block(32, 64, function);
    const Match region = block.match();
    ASSERT_TRUE(region) << region.error().reason;
    EXPECT_EQ(region->nodes.size(), function ? 5u : 4u);
    const std::vector<HostTensor> inputs{whole_numbers({1, 8, 32, 32}, 9), whole_numbers({1, 64, 32, 32}, 7)};
    const auto expected = ir::interpret(block.graph, inputs);
    ASSERT_TRUE(expected) << expected.error().message;
    for_each_target([&] {
      const auto device = test_device(2);
      const TacticContext cx{block.graph, block.numerics, *device};
      const Tactic& tactic = pointwise_depthwise_tactic();
      const auto y = run_variant(cx, tactic, *region, tactic.variants(cx, *region)[0], inputs, {1, 64, 32, 32});
      ASSERT_TRUE(y) << y.error().message;
      EXPECT_TRUE(std::ranges::equal(y->bytes(), in_memory_order(Format::channels_last(4), (*expected)[0])->bytes()));
    });
  }
}

/// A plan says what types are; the kernel reads floats.
TEST(PointwiseDepthwiseTactic, PlansOfHalvesAreRefused) {
  Block block(32);
  const Match region = block.match();
  ASSERT_TRUE(region);
  const auto device = test_device(1);
  const TacticContext cx{block.graph, block.numerics, *device};
  const Tactic& tactic = pointwise_depthwise_tactic();
  const Variant variant = tactic.variants(cx, *region)[0];
  StepSpec spec = spec_of(block.graph, *region, variant, *tactic.compile(cx, *region, variant));
  auto step = *spec.step.as<steps::PointwiseDepthwise>();
  const size_t bias = step.second_w() + 1;
  step.depthwise.epilogue.bias = spec.inputs[bias].dtype = DType::kF16;
  spec.step = step;
  std::vector<const HostTensor*> constants;
  for (const ir::ValueId input : region->inputs)
    constants.push_back(input == ir::ValueId::kNone ? nullptr : block.graph.constant(input));
  const auto loaded = device->executor("cpu")->get().load(spec, constants);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "one of two convolutions in one step has a bias of f16; f32 is needed");
}

TEST(PointwiseDepthwiseTactic, SaysWhyNot) {
  EXPECT_EQ(Block(31).reason(), "what lies between the convolutions takes 246016 bytes, which stay in cache");
  EXPECT_EQ(Block(32, 32).reason(), "weights [64, 2, 3, 3] are not those of a depthwise convolution of 64 channels");
  Block read_twice(32);
  read_twice.graph.mark_output(read_twice.relu, "z");
  EXPECT_EQ(read_twice.reason(), "what the depthwise convolution reads is an input, or others read it, too");
}

}  // namespace
}  // namespace kiln::cpu
