#include "steps/byte_operands.h"

#include <gtest/gtest.h>

#include "steps/quantized_convolution.h"
#include "steps/quantized_matrix_multiply.h"

namespace kiln::steps {
namespace {

constexpr StepTensor kNone{.present = false};

StepTypes types_of(int rank, const Format& format) {
  const StepTensor x{DType::kU8, format, rank}, w{DType::kI8, {}, rank}, scale{DType::kF32, {}, rank};
  const StepTensor y{DType::kI8, format, rank};
  return {.inputs = {x, w, kNone, kNone, scale, kNone, scale, scale, kNone}, .outputs = {y}};
}
std::string refused(const AnyStep& step, const StepTypes& types) {
  const Status status = step.check(types);
  return status ? "nothing" : status.error().message;
}
std::string refused(const AnyStep& step, const StepTypes& types, std::vector<Extents> inputs, const Extents& y) {
  const std::vector<Extents> outputs{y};
  const Status status = step.check(types, {inputs, outputs, {}});
  return status ? "nothing" : status.error().message;
}

TEST(QuantizedConvolution, TakesBytesAndScales) {
  const QuantizedConvolution step{.window = {{3, 3}, {1, 1}, {1, 1}, {1, 1}}};
  const StepTypes good = types_of(4, Format::channels_last(4));
  EXPECT_EQ(refused(step, good), "nothing");
  StepTypes types = good;
  types.inputs[1].dtype = DType::kU8;
  EXPECT_EQ(refused(step, types), "a product of bytes u8 and u8 cannot make i8");
  types = good;
  types.inputs[4].present = false;
  EXPECT_EQ(refused(step, types), "a product of bytes has no input 4, a scale");
  types = good;
  types.inputs[5] = {DType::kI8, {}, 4};
  EXPECT_EQ(refused(step, types), "input 5 of a product of bytes, a zero point of u8, is i8");
  types = good;
  types.inputs[7].present = false;
  EXPECT_EQ(refused(step, types), "a product of bytes has no input 7, a scale");
  types.outputs[0].dtype = DType::kF32;
  EXPECT_EQ(refused(step, types), "nothing");
  types = good;
  types.inputs[0].rank = 3;
  EXPECT_EQ(refused(step, types), "a convolution of 2 axes has tensors of ranks 3, 4 and 4");
}
TEST(QuantizedConvolution, TakesFp8AndHalves) {
  const QuantizedConvolution step{.window = {{3, 3}, {1, 1}, {1, 1}, {1, 1}}};
  StepTypes types = types_of(4, Format::channels_last(4));
  types.inputs[0].dtype = types.inputs[1].dtype = types.outputs[0].dtype = DType::kF8E4M3;
  types.inputs[4].dtype = DType::kF16;
  EXPECT_EQ(refused(step, types), "nothing");
  types.inputs[5] = {DType::kF8E4M3, {}, 4};
  EXPECT_EQ(refused(step, types), "input 5 of a product of bytes, a zero point of f8e4m3, is f8e4m3");
  types.inputs[5] = kNone;
  types.inputs[1].dtype = DType::kI8;
  EXPECT_EQ(refused(step, types), "a product of bytes f8e4m3 and i8 cannot make f8e4m3");
}
TEST(QuantizedConvolution, TakesItsFilterAndScales) {
  const QuantizedConvolution step{.window = {{3, 3}, {1, 1}, {1, 1}, {1, 1}}};
  const StepTypes types = types_of(4, Format::channels_last(4));
  const Extents x{1, 8, 9, 9}, w{6, 8, 3, 3}, y{1, 6, 9, 9}, one{1, 1, 1, 1}, none;
  EXPECT_EQ(refused(step, types, {x, w, none, none, one, none, {6, 1, 1, 1}, one, none}, y), "nothing");
  EXPECT_NE(refused(step, types, {x, w, none, none, one, none, {5, 1, 1, 1}, one, none}, y), "nothing");
  EXPECT_NE(refused(step, types, {x, w, none, none, {2, 1, 1, 1}, none, one, one, none}, y), "nothing");
  EXPECT_NE(refused(step, types, {x, {6, 4, 3, 3}, none, none, one, none, one, one, none}, y), "nothing");
}
TEST(QuantizedConvolution, OfEachChannelByItself) {
  const QuantizedConvolution step{.window = {{3, 3}, {1, 1}, {1, 1}, {1, 1}}, .is_depthwise = true};
  const StepTypes types = types_of(4, Format::channels_last(4));
  const Extents x{1, 8, 9, 9}, w{8, 1, 3, 3}, one{1, 1, 1, 1}, none;
  EXPECT_EQ(refused(step, types, {x, w, none, none, one, none, {8, 1, 1, 1}, one, none}, x), "nothing");
  EXPECT_EQ(refused(step, types, {x, {8, 8, 3, 3}, none, none, one, none, one, one, none}, x),
            "a convolution by [3, 3] of 8 to 8 channels in 8 groups has weights [8, 8, 3, 3]");
  EXPECT_EQ(refused(step, types, {x, {4, 2, 3, 3}, none, none, one, none, one, one, none}, {1, 4, 9, 9}),
            "a depthwise convolution of bytes makes 4 channels of 8");
}
TEST(QuantizedMatrixMultiply, AddsUpWhat32BitsHave) {
  const QuantizedMatrixMultiply step;
  const StepTypes types = types_of(2, {});
  const Extents one{1, 1}, none;
  const auto with = [&](int64_t k) {
    return refused(step, types, {{3, k}, {k, 2}, none, none, one, none, one, one, none}, {3, 2});
  };
  EXPECT_EQ(with(kMostBytesOfSum), "nothing");
  EXPECT_EQ(with(kMostBytesOfSum + 1),
            "weights of bytes [65537, 2] have 65537 a channel; sums of more than 65536 "
            "products may leave 32 bits");
}
TEST(QuantizedMatrixMultiply, TakesOneMatrix) {
  const QuantizedMatrixMultiply step;
  const StepTypes types = types_of(3, {});
  const Extents one{1, 1, 1}, none;
  EXPECT_EQ(refused(step, types), "nothing");
  EXPECT_EQ(refused(step, types, {{2, 3, 8}, {1, 8, 4}, none, none, one, none, {1, 1, 4}, one, none}, {2, 3, 4}),
            "nothing");
  EXPECT_EQ(refused(step, types, {{2, 3, 8}, {2, 8, 4}, none, none, one, none, one, one, none}, {2, 3, 4}),
            "a product of bytes has one matrix b, not [2, 8, 4]");
  EXPECT_FALSE(
      from_record<QuantizedMatrixMultiply>(to_record(QuantizedMatrixMultiply{.op = {.a = ops::MatrixOp::kTranspose}})));
}

}  // namespace
}  // namespace kiln::steps
