#include "steps/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "steps/attention_layout.h"

namespace kiln {
namespace {

/// Attention of one head, of 2 queries and 3 keys of 4 channels, to a mask.
struct Sample {
  StepTypes types;
  std::vector<Extents> inputs{{2, 4}, {3, 4}, {3, 4}, {2, 3}}, outputs{{2, 4}};
  std::vector<int64_t> params{1, 1, 2, 3, 4, 4};

  Sample() {
    types.inputs.assign(4, {.dtype = DType::kF16, .rank = 2});
    types.outputs.assign(1, {.dtype = DType::kF16, .rank = 2});
    for (const int64_t columns : {4, 4, 4, 3, 4}) params.insert(params.end(), {0, 0, 0, columns, 1});
    params.push_back(1);
  }
  steps::Attention step;
  Status check() const {
    TRY(AnyStep(step).check(types));
    return AnyStep(step).check(types, {.inputs = inputs, .outputs = outputs, .params = params});
  }
  std::string error() const { return check() ? "" : check().error().message; }
};

TEST(AttentionStep, TakesWhatLiesInItsTensors) {
  Sample sample;
  EXPECT_EQ(sample.error(), "");
  sample.inputs[3] = {2, 2};
  EXPECT_EQ(sample.error(), "the mask of attention lies outside of its 4 elements");
  sample.types.inputs[3].present = false;
  EXPECT_EQ(sample.error(), "");
  sample.params.pop_back();
  EXPECT_EQ(sample.error(), "an attention step has 31 parameters; it takes 32");
}
TEST(AttentionStep, JoinsKeysOfTwoTensors) {
  Sample sample;
  sample.types.inputs.resize(6, {.dtype = DType::kF16, .rank = 2});
  sample.inputs = {{2, 4}, {2, 4}, {2, 4}, {2, 3}, {1, 4}, {1, 4}};
  EXPECT_EQ(sample.error(), "an attention step has 32 parameters; it takes 43");
  sample.params.push_back(2);  // keys of the first tensors
  for (int i = 0; i < 2; ++i) sample.params.insert(sample.params.end(), {0, 0, 0, 4, 1});
  EXPECT_EQ(sample.error(), "");
  sample.inputs[5] = {1, 3};
  EXPECT_EQ(sample.error(), "what follows v of attention lies outside of its 3 elements");
  sample.inputs[5] = {1, 4};
  sample.params[32] = 1;
  EXPECT_EQ(sample.error(), "what follows k of attention lies outside of its 4 elements");
  sample.params[32] = 4;
  EXPECT_EQ(sample.error(), "attention of 3 keys has 4 of them in its first tensor");
  sample.params[32] = -1;
  EXPECT_EQ(sample.error(), "attention has 6 inputs, and -1 keys in the first of two tensors");
  sample.types.inputs[4].present = false;
  EXPECT_EQ(sample.error(), "attention has 6 inputs; it takes 4, or 6 that are there but for the mask");
}
TEST(AttentionStep, IsOfOneFloatType) {
  Sample sample;
  sample.types.inputs[3].dtype = DType::kF32;
  EXPECT_NE(sample.error(), "");
  for (StepTensor& input : sample.types.inputs) input.dtype = DType::kI32;
  EXPECT_EQ(sample.error(), "attention of i32; f32, f16 and bf16 are possible");
}
TEST(AttentionStep, QuantizesItsResult) {
  Sample sample;
  sample.types.inputs.resize(6, {.dtype = DType::kF32, .rank = 4});
  sample.types.inputs[5].present = false;
  sample.inputs.resize(6, {1, 1, 1, 1});
  sample.types.outputs[0].dtype = DType::kF8E4M3;
  EXPECT_EQ(sample.error(), "");
  sample.types.outputs[0].dtype = DType::kF16;  // floats: what follows the mask is then of keys and values
  EXPECT_EQ(sample.error(), "attention has 6 inputs; it takes 4, or 6 that are there but for the mask");
  sample.types.outputs[0].dtype = DType::kI8;
  sample.types.inputs[2].dtype = DType::kF32;
  EXPECT_EQ(sample.error(), "attention of f16 has an operand of f32");
  sample.types.inputs.pop_back();
  sample.inputs.pop_back();
  EXPECT_EQ(sample.error(), "attention to i8 has 5 inputs; 6 are needed");
}

TEST(AttentionStep, ReadsBytes) {
  for (const DType type : {DType::kI8, DType::kF8E4M3}) {
    Sample sample;
    for (size_t i = 0; i < 3; ++i) sample.types.inputs[i].dtype = type;
    sample.step.value_scale = 0.5;
    EXPECT_EQ(sample.error(), "");
    sample.step.weight_scale = 0.25;
    EXPECT_EQ(sample.error(), "");
    sample.types.inputs[1].dtype = DType::kF16;
    EXPECT_NE(sample.error(), "");
    sample.types.inputs[1].dtype = type;
    sample.types.inputs[3].dtype = DType::kF32;
    EXPECT_EQ(sample.error(), str("attention of ", type, " with a mask of f32 makes f16"));
    sample.types.inputs[3].dtype = DType::kI32;
    EXPECT_EQ(sample.error().find("the mask of attention is i32"), 0u) << sample.error();
    sample.types.inputs[3].present = false;
    EXPECT_EQ(sample.error(), "");
    sample.types.inputs.resize(6, {.dtype = DType::kF32, .rank = 4});
    sample.inputs.resize(6, {1, 1, 1, 1});
    EXPECT_EQ(sample.error(), str("attention of ", type, " to f16 has 6 inputs; 4 are needed"));
    sample.types.inputs[5].present = false;
    sample.types.outputs[0].dtype = DType::kI8;
    EXPECT_EQ(sample.error(), "");
    for (const double damage : {0.0, -1.0, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
      Sample damaged = sample;
      damaged.step.value_scale = damage;
      EXPECT_NE(damaged.error(), "") << damage;
      if (damage == 0) continue;
      damaged = sample;
      damaged.step.weight_scale = damage;
      EXPECT_NE(damaged.error(), "") << damage;
    }
  }
  Sample floats;
  floats.step.weight_scale = 0.5;
  EXPECT_EQ(floats.error(), "attention of f16 has scales of bytes");
  Sample unsigned_bytes;
  for (StepTensor& input : unsigned_bytes.types.inputs) input.dtype = DType::kU8;
  EXPECT_EQ(unsigned_bytes.error(), "attention of u8; f32, f16 and bf16 are possible");
}

}  // namespace
}  // namespace kiln
