#include "steps/step_tensors.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

StepTypes spec(int inputs, int outputs, int absent = -1) {
  StepTypes result;
  result.inputs.resize(static_cast<size_t>(inputs));
  result.outputs.resize(static_cast<size_t>(outputs));
  if (absent >= 0) result.inputs[static_cast<size_t>(absent)].present = false;
  return result;
}

TEST(StepTensors, Counts) {
  const StepTensors product{2, 3, 4, 1};
  const auto passes = [&](const StepTypes& s) { return product.check("product", s).has_value(); };
  EXPECT_TRUE(passes(spec(3, 1)));
  EXPECT_TRUE(passes(spec(4, 1, 2)));
  EXPECT_FALSE(passes(spec(2, 1)));
  EXPECT_FALSE(passes(spec(5, 1)));
  EXPECT_FALSE(passes(spec(3, 0)));
  EXPECT_FALSE(passes(spec(3, 2)));
  EXPECT_FALSE(passes(spec(4, 1, 1)));
  EXPECT_EQ(product.check("product", spec(2, 1)).error().message,
            "a step of kind 'product' has 2 inputs and 1 outputs, which it does not take");
}

TEST(StepTensors, AnyNumber) {
  const StepTensors nest{StepTensors::kAll, 0, StepTensors::kAny, StepTensors::kAny};
  EXPECT_TRUE(nest.check("nest", spec(0, 1)));
  EXPECT_TRUE(nest.check("nest", spec(7, 3)));
  for (const int count : {255, 256, 100'000}) EXPECT_TRUE(nest.check("nest", spec(count, count))) << count;
  EXPECT_FALSE(nest.check("nest", spec(2, 0)));
  EXPECT_FALSE(nest.check("nest", spec(2, 1, 1)));
}

TEST(StepTensors, BlocksAreForCopies) {
  constexpr StepTensors nest{.present = 1, .least_inputs = 2, .most_inputs = 2, .outputs = 1};
  StepTensors copy = nest;
  copy.blocked = true;
  StepTypes s = spec(2, 1);
  EXPECT_TRUE(nest.check("nest", s));
  s.inputs[1].format = Format().blocked(1, 32);
  EXPECT_TRUE(copy.check("copy", s));
  const Status refused = nest.check("nest", s);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("a tensor of a step of kind 'nest' has format"), std::string::npos)
      << refused.error().message;
  s.inputs[1].present = false;
  EXPECT_TRUE(nest.check("nest", s)) << "an absent input has no memory";
}

}  // namespace
}  // namespace kiln
