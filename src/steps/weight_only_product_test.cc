#include "steps/weight_only_product.h"

#include <gtest/gtest.h>

namespace kiln::steps {
namespace {

constexpr StepTensor kNone{.present = false};

StepTypes types_of(DType b) {
  const StepTensor x{DType::kF16, {}, 2}, weights{b, {}, 2}, scale{DType::kF32, {}, 2};
  return {.inputs = {x, weights, kNone, kNone, scale, weights}, .outputs = {x}};
}
std::string refused(const WeightOnlyProduct& step, const StepTypes& types) {
  const Status status = AnyStep(step).check(types);
  return status ? "nothing" : status.error().message;
}
std::string refused(const WeightOnlyProduct& step, std::vector<Extents> inputs, const Extents& y) {
  StepTypes types = types_of(DType::kI4);
  types.inputs[5].present = !inputs[5].empty();
  const std::vector<Extents> outputs{y};
  const Status status = AnyStep(step).check(types, {inputs, outputs, {}});
  return status ? "nothing" : status.error().message;
}

TEST(WeightOnlyProduct, TakesFloatsAndIntegersWithScales) {
  const WeightOnlyProduct step;
  for (const DType type : {DType::kI4, DType::kI8, DType::kU8}) EXPECT_EQ(refused(step, types_of(type)), "nothing");
  EXPECT_EQ(refused(step, types_of(DType::kI32)), "a product of f16 by quantized weights i32 cannot make f16");
  StepTypes types = types_of(DType::kI4);
  types.inputs[4].present = false;
  EXPECT_EQ(refused(step, types), "a product by quantized weights has no scales");
  types = types_of(DType::kI4);
  types.inputs[4].dtype = DType::kE8M0;
  EXPECT_EQ(refused(step, types), "a product by quantized weights has scales of e8m0");
  types = types_of(DType::kI4);
  types.inputs[5].dtype = DType::kU8;
  EXPECT_EQ(refused(step, types), "quantized weights i4 have zero points of u8");
  EXPECT_FALSE(from_record<WeightOnlyProduct>(to_record(WeightOnlyProduct{.op = {.a = ops::MatrixOp::kTranspose}})));
}
TEST(WeightOnlyProduct, TakesScalesOfBlocksAlongK) {
  const WeightOnlyProduct plain, turned{.op = {.b = ops::MatrixOp::kTranspose}};
  const Extents x{3, 64}, y{3, 10}, none;
  const auto with = [&](const Extents& scale, const Extents& zero = {}) {
    return refused(plain, {x, {64, 10}, none, none, scale, zero}, y);
  };
  for (const Extents& scale : {Extents{1, 1}, {1, 10}, {4, 10}, {8, 1}}) EXPECT_EQ(with(scale), "nothing");
  EXPECT_EQ(with({4, 10}, {4, 10}), "nothing");
  EXPECT_NE(with({4, 10}, {4, 1}), "nothing");
  EXPECT_EQ(with({4, 5}), "scales [4, 5] do not lie over weights [64, 10]");
  EXPECT_EQ(with({3, 10}), "scales [3, 10] do not lie over weights [64, 10]");
  EXPECT_EQ(with({16, 10}), "weights in blocks of 4; a multiple of 8 is needed");
  EXPECT_EQ(with({10}), "weights [64, 10] have scales [10]; as many axes are needed, at least two");
  EXPECT_EQ(refused(turned, {x, {10, 64}, none, none, {10, 4}, none}, y), "nothing");
  EXPECT_EQ(refused(turned, {{2, 3, 64}, {10, 64}, none, none, {10, 4}, none}, {2, 3, 10}), "nothing");
  EXPECT_EQ(refused(turned, {x, {64, 10}, none, none, {1, 1}, none}, y),
            "the axes of a product of [3, 64] by quantized weights [64, 10] do not agree");
  EXPECT_NE(refused(turned, {x, {10, 64}, none, none, {10, 4}, none}, {3, 9}), "nothing");
  EXPECT_EQ(refused(turned, {x, {10, 64}, none, none, {5, 4}, none}, y),
            "scales [5, 4] do not lie over weights [10, 64]");
}
TEST(WeightOnlyProduct, FindsTheScaleOfAnElement) {
  const auto of = [](ops::MatrixOp op, const Extents& b, const Extents& scale) {
    const auto found = weight_scales(op, b, scale);
    return found ? std::vector{found->block, found->k_stride, found->n_stride} : std::vector<int64_t>{};
  };
  using ops::MatrixOp;
  EXPECT_EQ(of(MatrixOp::kNone, {64, 10}, {4, 10}), (std::vector<int64_t>{16, 10, 1}));
  EXPECT_EQ(of(MatrixOp::kTranspose, {10, 64}, {10, 4}), (std::vector<int64_t>{16, 1, 4}));
  EXPECT_EQ(of(MatrixOp::kTranspose, {1, 10, 64}, {1, 10, 1}), (std::vector<int64_t>{64, 0, 1}));
  EXPECT_EQ(of(MatrixOp::kNone, {64, 10}, {4, 1}), (std::vector<int64_t>{16, 1, 0}));
  EXPECT_EQ(of(MatrixOp::kNone, {2, 64, 10}, {1, 1, 1}), (std::vector<int64_t>{}));
}

}  // namespace
}  // namespace kiln::steps
