#include "runtime/shape_state.h"

#include <gtest/gtest.h>

#include "sym/table.h"

namespace kiln::runtime {
namespace {

std::string message_of(const Status& status) { return status ? "" : status.error().message; }

/// x f32[n, 2] with n of 1 to 4, the shape input k f32[1] of 0 to 9, y f32[n, k[0]], and the shape output z = [k[0] +
/// 1].
struct Sample {
  Sample() : state((make_plan(), plan)), fixed(plan, plan.profiles[0]) { state.select_profile(0, fixed); }
  void make_plan() {
    const sym::Expr n = table.symbol("n"), k = table.symbol("k");
    const auto program = [](const sym::Expr& e) { return sym::Program::compile(e); };
    plan.symbols = {{"n", 0, 0, -1}, {"k", 1, -1, 0}};
    plan.inputs = {{"x", DType::kF32, {}, {program(n), program(2)}, {"n", ""}, false},
                   {"k", DType::kF32, {}, {program(1)}, {""}, true}};
    plan.outputs = {{"y", DType::kF32, {}, {program(n), program(k)}, {"", ""}, false},
                    {"z", DType::kI64, {}, {program(1)}, {""}, true, {program(k + 1)}}};
    plan::Profile& p = plan.profiles.emplace_back();
    p.ranges = {{{1, 2}, {2, 2}, {4, 2}}, {{1}, {1}, {1}}};
    p.value_ranges = {{}, {{0}, {1}, {9}}};
  }
  std::string refusal(const Extents& extents) { return message_of(state.set_input_extents(0, extents)); }
  std::string failure() { return message_of(state.infer(addresses)); }
  Extents y() const { return state.known_extents(plan.outputs[0].extents); }

  sym::Table table;
  plan::Plan plan;
  ShapeState state;
  FixedSymbols fixed;
  IoAddresses addresses{2, 2};
};

TEST(ShapeState, RefusesWhatTheProfileDoesNotAllow) {
  Sample sample;
  EXPECT_EQ(sample.refusal({0, 2}), "input 'x': extent 0 of axis 0 is below profile 0's minimum 1");
  EXPECT_EQ(sample.refusal({5, 2}), "input 'x': extent 5 of axis 0 is above profile 0's maximum 4");
  EXPECT_EQ(sample.refusal({2}), "input 'x': [2] has rank 1; the network's has 2");
  EXPECT_EQ(sample.failure(), "the shape of input 'x' is not set");
}

TEST(ShapeState, KnowsWhatIsSetAndWhatFollows) {
  Sample sample;
  float k = 3;
  EXPECT_EQ(sample.state.input_extents(0), (Extents{-1, 2}));
  EXPECT_EQ(sample.state.unset_inputs(sample.addresses), (std::vector<int>{0, 1}));
  sample.addresses.set_input(1, &k);
  ASSERT_TRUE(sample.state.set_input_extents(0, Extents{2, 2}));
  EXPECT_TRUE(sample.state.all_inputs_set(sample.addresses));
  EXPECT_EQ(sample.y(), (Extents{-1, -1}));
  int64_t z = 0;
  sample.addresses.set_output(1, &z);
  ASSERT_TRUE(sample.state.infer(sample.addresses));
  EXPECT_EQ(sample.y(), (Extents{2, 3}));
  EXPECT_EQ(z, 4);
  sample.state.select_profile(0, sample.fixed);
  EXPECT_EQ(sample.y(), (Extents{-1, -1}));
  EXPECT_FALSE(sample.state.all_inputs_set(sample.addresses));
}

/// The cache of bindings finds those of some shapes by the version.
TEST(ShapeState, ItsVersionChangesWithShapesAndValuesAlone) {
  Sample sample;
  float k = 3;
  sample.addresses.set_input(1, &k);
  uint64_t last = sample.state.version();
  const auto changed = [&] { return std::exchange(last, sample.state.version()) != last; };
  ASSERT_TRUE(sample.state.set_input_extents(0, Extents{2, 2}));
  EXPECT_TRUE(changed());
  ASSERT_TRUE(sample.state.infer(sample.addresses));
  EXPECT_TRUE(changed());  // the values are read for the first time
  ASSERT_TRUE(sample.state.set_input_extents(0, Extents{2, 2}));
  ASSERT_TRUE(sample.state.infer(sample.addresses));
  EXPECT_FALSE(changed());
  k = 4;
  ASSERT_TRUE(sample.state.infer(sample.addresses));
  EXPECT_TRUE(changed());
  EXPECT_EQ(sample.y(), (Extents{2, 4}));
}

TEST(ShapeState, ChecksTheValuesOfShapeInputs) {
  Sample sample;
  float k = 10;
  ASSERT_TRUE(sample.state.set_input_extents(0, Extents{2, 2}));
  EXPECT_EQ(sample.failure(), "shape input 'k' has no address");
  sample.addresses.set_input(1, &k);
  EXPECT_EQ(sample.failure(), "shape input 'k': element 0 is 10; profile 0 allows [0, 9]");
  k = 1.5;
  EXPECT_EQ(sample.failure(), "shape input 'k': element 0 is 1.5; shapes are made of it, so it must be a whole number");
}

TEST(ShapeState, WantsAddressesOfTensorsThatHaveElements) {
  Sample sample;
  float k = 0;
  int64_t z = 0;
  const auto missing = [&] { return message_of(sample.state.check_addresses(sample.addresses)); };
  sample.addresses.set_input(1, &k), sample.addresses.set_output(1, &z);
  ASSERT_TRUE(sample.state.set_input_extents(0, Extents{2, 2}));
  ASSERT_TRUE(sample.state.infer(sample.addresses));
  EXPECT_EQ(missing(), "input 'x' has no address: call setTensorAddress");
  sample.addresses.set_input(0, &k);
  EXPECT_TRUE(sample.state.check_addresses(sample.addresses));  // y has none
  k = 1;
  ASSERT_TRUE(sample.state.infer(sample.addresses));
  EXPECT_EQ(missing(), "output 'y' has no address: call setTensorAddress");
  sample.addresses.source = AddressSource::kBindings;
  EXPECT_EQ(missing(), "output 'y' has no address: binding 2 is null, and it has no allocator (setOutputAllocator)");
}

}  // namespace
}  // namespace kiln::runtime
