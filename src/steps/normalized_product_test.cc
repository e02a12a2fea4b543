#include "steps/normalized_product.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using steps::NormalizedProduct;

constexpr DType kF16 = DType::kF16;

NormalizedProduct gated() {
  return {{}, {}, NestProgram{{{ScalarFn::kProd, kF16, kF16, {~0, ~1}}}, {kF16, kF16}, {kF16}, {0}}};
}
StepTypes example_types() {
  const StepTensor matrix{kF16, {}, 2}, none{kF16, {}, 0, false};
  return {{matrix, matrix, none, none}, {matrix}, 0};
}
std::string type_error(const NormalizedProduct& step, const StepTypes& types) {
  Status checked = step.check();
  if (checked) checked = AnyStep(step).check(types);
  return checked ? "" : checked.error().message;
}
std::string shape_error(const NormalizedProduct& step, const Extents& a, const Extents& b, const Extents& y) {
  const std::vector<Extents> inputs{a, b, {}, {}}, outputs{y};
  const Status checked = AnyStep(step).check(example_types(), {.inputs = inputs, .outputs = outputs, .params = {}});
  return checked ? "" : checked.error().message;
}

TEST(NormalizedProductStep, SaysWhatIsWrong) {
  EXPECT_EQ(type_error({}, example_types()), "");
  EXPECT_EQ(type_error(gated(), example_types()), "");
  NormalizedProduct step;
  step.epsilon = -1;
  EXPECT_EQ(type_error(step, example_types()), "a normalized product has the epsilon -1");
  step = {};
  step.op.a = ops::MatrixOp::kTranspose;
  EXPECT_EQ(type_error(step, example_types()), "a normalized product takes a as it is, and a matrix b");
  step = gated();
  step.epilogue.residual = kF16;
  EXPECT_EQ(type_error(step, example_types()), "the sums of a gated product have more than a bias before their gate");
  step = gated();
  step.gate = NestProgram{{}, {kF16}, {kF16}, {~0}};
  EXPECT_EQ(type_error(step, example_types()),
            "the function of a gated product does not make one float of two of one type");
  StepTypes types = example_types();
  types.inputs[1].dtype = DType::kF32;
  EXPECT_EQ(type_error({}, types), "a product of f16 and f32 cannot make f16");
}

TEST(NormalizedProductStep, HasOneMatrixAndARowOfResultsEach) {
  EXPECT_EQ(shape_error({}, {2, 3, 8}, {1, 8, 10}, {2, 3, 10}), "");
  EXPECT_EQ(shape_error(gated(), {2, 3, 8}, {8, 10}, {2, 3, 5}), "");
  EXPECT_EQ(shape_error({}, {2, 3, 8}, {2, 8, 10}, {2, 3, 10}),
            "a normalized product of [2, 3, 8] and [2, 8, 10] is not of matrices of which the second is one");
  EXPECT_EQ(shape_error({}, {3, 8}, {8, 10}, {3, 5}), "a product is [3, 5]; the step's other tensors imply [3, 10]");
  EXPECT_EQ(shape_error(gated(), {3, 8}, {8, 10}, {3, 10}),
            "a gated product is [3, 10]; the step's other tensors imply [3, 5]");
}

}  // namespace
}  // namespace kiln
