#include "steps/quantized_result.h"

#include <gtest/gtest.h>

#include <limits>

#include "steps/normalization.h"

namespace kiln {
namespace {

/// A normalisation of rows of halves to bytes.
struct Sample {
  steps::Normalization step{.rows = true};
  StepTypes types;
  std::vector<Extents> inputs{{2, 8}, {8}, {8}, {1, 1}, {1, 1}}, outputs{{2, 8}};

  Sample() {
    types.inputs.assign(3, {.dtype = DType::kF16, .rank = 2});
    types.inputs.push_back({.dtype = DType::kF32, .rank = 2});
    types.inputs.push_back({.dtype = DType::kI8, .rank = 2});
    types.outputs.assign(1, {.dtype = DType::kI8, .rank = 2});
  }
  std::string error() const {
    const auto check = [&]() -> Status {
      TRY(AnyStep(step).check(types));
      return AnyStep(step).check(types, {.inputs = inputs, .outputs = outputs, .params = {}});
    };
    return check() ? "" : check().error().message;
  }
};

TEST(QuantizedResult, IsOfBytesAndHasOneScale) {
  Sample sample;
  EXPECT_EQ(sample.error(), "");
  sample.types.inputs[4].dtype = DType::kU8;
  EXPECT_EQ(sample.error(), "the zero point of a result of i8 is u8; it has the type of the result, and FP8 has none");
  sample.types.inputs[4].present = false;
  EXPECT_EQ(sample.error(), "");
  sample.inputs[3] = {1, 8};
  EXPECT_EQ(sample.error(), "a scale or zero point of a result is [1, 8]; 1 elements are needed");
  sample.types.inputs[3].dtype = DType::kI32;
  EXPECT_EQ(sample.error(), "the scale of a quantized result is i32; f32, f16 and bf16 are possible");
  sample.types.inputs[3].present = false;
  EXPECT_EQ(sample.error(), "the scale of a quantized result is absent; f32, f16 and bf16 are possible");
  sample.types.outputs[0].dtype = DType::kF16;
  EXPECT_EQ(sample.error(), "a normalisation to f16 has 5 inputs; 3 are needed");
}
TEST(QuantizedResult, MayHaveFloatsBeside) {
  Sample sample;
  sample.types.outputs.insert(sample.types.outputs.begin(), sample.types.inputs[0]);
  sample.outputs.push_back({2, 8});
  EXPECT_EQ(sample.error(), "");
  sample.outputs[1] = {2, 4};
  EXPECT_NE(sample.error(), "");
  sample.types.outputs[0].dtype = DType::kF32;
  EXPECT_NE(sample.error(), "");
  sample.types.outputs.push_back(sample.types.outputs[1]);
  EXPECT_EQ(sample.error(), "a normalisation has 3 outputs");
}
TEST(QuantizedResult, IsOfRowsAlone) {
  Sample sample;
  sample.step.rows = false;
  EXPECT_EQ(sample.error(), "a normalisation of planes does not quantize its result");
  sample.step.rows = true;
  sample.types.inputs.pop_back();
  EXPECT_EQ(sample.error(), "a normalisation to i8 has 4 inputs; 5 are needed");
}
TEST(QuantizedResult, LiesAsWhatItIsMadeOf) {
  Sample sample;
  sample.types.outputs[0].format = Format::channels_last(4);
  EXPECT_EQ(sample.error().find("a quantized result is i8 in format "), 0u) << sample.error();
}
TEST(QuantizedResult, ScalesAreReadAsKernelsTakeThem) {
  const Sample sample;
  const HostTensor scale = HostTensor::scalar(DType::kF32, 0.25), zero = HostTensor::scalar(DType::kI8, -3);
  const HostTensor* constants[] = {nullptr, nullptr, nullptr, &scale, &zero};
  const auto read = steps::result_scale(sample.types, constants);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->inverse, 4);
  EXPECT_EQ(read->zero, -3);
  constants[4] = nullptr;
  EXPECT_FALSE(steps::result_scale(sample.types, constants));
  constants[4] = &zero;
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    const HostTensor other = HostTensor::scalar(DType::kF32, wrong);
    constants[3] = &other;
    EXPECT_FALSE(steps::result_scale(sample.types, constants)) << wrong;
  }
}

}  // namespace
}  // namespace kiln
