#include "steps/gated_product.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using steps::GatedProduct;

constexpr DType kF16 = DType::kF16;

GatedProduct example() { return {{}, {}, {{{ScalarFn::kProd, kF16, kF16, {~0, ~1}}}, {kF16, kF16}, {kF16}, {0}}}; }
StepTypes example_types() {
  const StepTensor matrix{kF16, {}, 2}, none{kF16, {}, 0, false};
  return {{matrix, matrix, none, none}, {matrix}, 0};
}
std::string type_error(const GatedProduct& step, const StepTypes& types) {
  Status checked = step.check();
  if (checked) checked = AnyStep(step).check(types);
  return checked ? "" : checked.error().message;
}
std::string shape_error(const Extents& a, const Extents& b, const Extents& y) {
  const std::vector<Extents> inputs{a, b, {}, {}}, outputs{y};
  const Status checked =
      AnyStep(example()).check(example_types(), {.inputs = inputs, .outputs = outputs, .params = {}});
  return checked ? "" : checked.error().message;
}

TEST(GatedProductStep, SaysWhatIsWrong) {
  EXPECT_EQ(type_error(example(), example_types()), "");
  GatedProduct step = example();
  step.gate = {{}, {kF16}, {kF16}, {~0}};
  EXPECT_EQ(type_error(step, example_types()),
            "the function of a gated product does not make one float of two of one type");
  step = example();
  step.epilogue.residual = kF16;
  EXPECT_EQ(type_error(step, example_types()), "the sums of a gated product have more than a bias before their gate");
  step = example();
  step.op.a = ops::MatrixOp::kTranspose;
  EXPECT_EQ(type_error(step, example_types()), "a gated product takes a as it is, and a matrix b");
  StepTypes types = example_types();
  types.outputs[0].dtype = DType::kF32;
  EXPECT_EQ(type_error(example(), types), "a gated product of f16 and f16 cannot make f32");
}

TEST(GatedProductStep, HasAResultForTwoColumns) {
  EXPECT_EQ(shape_error({2, 3, 8}, {8, 10}, {2, 3, 5}), "");
  EXPECT_EQ(shape_error({3, 8}, {1, 8, 10}, {3, 5}), "");
  EXPECT_NE(shape_error({3, 8}, {8, 10}, {3, 10}), "");
  EXPECT_NE(shape_error({3, 8}, {8, 9}, {3, 4}), "");
  EXPECT_NE(shape_error({3, 8}, {7, 10}, {3, 5}), "");
  EXPECT_NE(shape_error({2, 3, 8}, {2, 8, 10}, {2, 3, 5}), "");
}

}  // namespace
}  // namespace kiln
