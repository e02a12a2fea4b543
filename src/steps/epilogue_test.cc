#include "steps/epilogue.h"

#include <gtest/gtest.h>

namespace kiln::steps {
namespace {

constexpr StepTensor kNone{.present = false};
const Format kLast = Format::channels_last(4);

/// sum + bias + residual, clamped at zero, then times a number a channel.
Epilogue epilogue() {
  Epilogue e{.bias = DType::kF32, .residual = DType::kF16, .lo = 0, .hook = Hook()};
  e.hook->program = {.code = {{ScalarFn::kProd, DType::kF16, DType::kF16, {~0, ~1}}},
                     .inputs = {DType::kF16, DType::kF16},
                     .outputs = {DType::kF16},
                     .output_regs = {0}};
  e.hook->operands = {HookOperand::kChannel};
  return e;
}
StepTypes types() {
  const StepTensor x{DType::kF16, kLast, 4}, bias{DType::kF32, {}, 1}, factor{DType::kF16, {}, 4};
  return {.inputs = {x, x, bias, x, factor}, .outputs = {x}, .num_params = 0};
}

TEST(Epilogue, IsReadAsItIsWritten) {
  EXPECT_EQ(*from_record<Epilogue>(to_record(epilogue())), epilogue());
  EXPECT_EQ(*from_record<Epilogue>(to_record(Epilogue())), Epilogue());
  Epilogue damaged = epilogue();
  damaged.hook->operands.clear();
  EXPECT_EQ(from_record<Epilogue>(to_record(damaged)).error().message,
            "field 'hook': a hook of 0 operands has a program of 2 inputs and 1 outputs");
}

TEST(Epilogue, ReadsInputsOfItsTypes) {
  EXPECT_TRUE(epilogue().check(types()));
  const auto refused = [](auto change, size_t behind = 0) {
    StepTypes t = types();
    change(t);
    const Status status = epilogue().check(t, behind);
    return status ? "nothing" : status.error().message;
  };
  EXPECT_EQ(refused([](StepTypes&) {}, 1), "a contraction whose epilogue reads 3 tensors has 5 inputs");
  EXPECT_EQ(refused([](StepTypes& t) { t.inputs.push_back(kNone); }, 1), "nothing");
  EXPECT_EQ(refused([](StepTypes& t) { t.inputs[2] = kNone; }),
            "input 2 of a contraction is absent; its epilogue reads f32");
  EXPECT_EQ(refused([](StepTypes& t) { t.inputs[4].dtype = DType::kF32; }),
            "input 4 of a contraction is f32; its epilogue reads f16");
  EXPECT_EQ(refused([](StepTypes& t) { t.inputs[3].format = {}; }),
            str("an epilogue's operand has format ", Format(), ", its result format ", kLast));
  EXPECT_EQ(refused([](StepTypes& t) { t.outputs[0].dtype = DType::kF32; }), "a contraction's residual is f16 for f32");
  Epilogue hooked = epilogue();
  hooked.residual.reset();
  StepTypes other = types();
  other.inputs[3] = kNone, other.outputs[0].dtype = DType::kF32;
  EXPECT_EQ(hooked.check(other).error().message, "a contraction makes f32; its hook makes another type");
}

TEST(Epilogue, ReadsInputsOfTheResultsExtents) {
  const Extents y{1, 8, 5, 5};
  const auto takes = [&](const Extents& bias, const Extents& residual, const Extents& factor) {
    const std::vector<Extents> inputs{{1, 3, 5, 5}, {8, 3, 1, 1}, bias, residual, factor}, outputs{y};
    return epilogue().check(StepShapes{inputs, outputs, {}}, y[1]).has_value();
  };
  EXPECT_TRUE(takes({8}, y, {8, 1, 1}));
  EXPECT_FALSE(takes({4}, y, {8, 1, 1}));
  EXPECT_FALSE(takes({8}, {1, 8, 5, 1}, {8, 1, 1}));
  EXPECT_FALSE(takes({8}, y, {1}));
}

}  // namespace
}  // namespace kiln::steps
