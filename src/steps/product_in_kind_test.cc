#include "steps/product_in_kind.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string error_of(DType a, DType b, DType y) {
  const StepTypes types{.inputs = {{.dtype = a, .rank = 2}, {.dtype = b, .rank = 2}},
                        .outputs = {{.dtype = y, .rank = 2}}};
  const Status checked = AnyStep(steps::ProductInKind{}).check(types);
  return checked ? "" : checked.error().message;
}

TEST(ProductInKindStep, IsOfOneType) {
  for (const DType type : {DType::kF64, DType::kI32, DType::kI64}) EXPECT_EQ(error_of(type, type, type), "");
  EXPECT_EQ(error_of(DType::kF64, DType::kF64, DType::kF32),
            "a product of f64 and f64 that makes f32; f64, i32 and i64 are computed in their own type");
  EXPECT_NE(error_of(DType::kI32, DType::kI64, DType::kI64), "");
  EXPECT_NE(error_of(DType::kF32, DType::kF32, DType::kF32), "");
  EXPECT_NE(error_of(DType::kI8, DType::kI8, DType::kI8), "");
}
TEST(ProductInKindStep, TakesOperandsThatFit) {
  const StepTensor matrix{.dtype = DType::kF64, .rank = 2};
  const StepTypes types{.inputs = {matrix, matrix}, .outputs = {matrix}};
  const auto fits = [&](const Extents& a, const Extents& b, const Extents& y) {
    const std::vector<Extents> inputs{a, b}, outputs{y};
    return AnyStep(steps::ProductInKind{}).check(types, {.inputs = inputs, .outputs = outputs, .params = {}});
  };
  EXPECT_TRUE(fits({2, 3}, {3, 4}, {2, 4}));
  EXPECT_FALSE(fits({2, 3}, {4, 3}, {2, 4}));
  EXPECT_FALSE(fits({2, 3}, {3, 4}, {4, 2}));
}

}  // namespace
}  // namespace kiln
