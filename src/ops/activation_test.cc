#include "ops/activation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/reference_context.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

using enum ops::ActivationKind;

const CaseTable<ops::Activation> kCases{
    {"relu", {kRelu}, {{{3, 7}}}},
    {"relu: special values", {kRelu}, {{{4, 33}, DType::kF32, Fill::kSpecial}}},
    {"relu: i32", {kRelu}, {{{5, 3}, DType::kI32}}},
    {"relu: half", {kRelu}, {{{2, 17}, DType::kF16}}},
    {"relu: bfloat", {kRelu}, {{{2, 17}, DType::kBF16}}},
    {"relu: empty", {kRelu}, {{{0, 4}}}},
    {"relu: one element", {kRelu}, {{{}}}},
    {"sigmoid", {kSigmoid}, {{{3, 41}}}},
    {"sigmoid: huge", {kSigmoid}, {{{64}, DType::kF32, Fill::kHuge}}},
    {"sigmoid: special values", {kSigmoid}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"tanh", {kTanh}, {{{2, 3, 5, 7}}}},
    {"tanh: special values", {kTanh}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"leaky relu", {kLeakyRelu, 0.1}, {{{100}}}},
    {"elu", {kElu, 1.5}, {{{100}}}},
    {"selu", {kSelu, 1.67326, 1.0507}, {{{100}}}},
    {"softsign", {kSoftsign}, {{{100}}}},
    {"softplus", {kSoftplus, 2, 0.5}, {{{100}}}},
    {"softplus: huge", {kSoftplus, 1, 1}, {{{100}, DType::kF32, Fill::kHuge}}},
    {"clip", {kClip, -0.5, 0.25}, {{{100}}}},
    {"clip: special values", {kClip, 0, 6}, {{{64}, DType::kF32, Fill::kSpecial}}},
    {"hard sigmoid", {kHardSigmoid, 0.2, 0.5}, {{{100}}}},
    {"scaled tanh", {kScaledTanh, 1.7159, 0.6667}, {{{100}}}},
    {"thresholded relu", {kThresholdedRelu, 0.5}, {{{100}}}},
    {"gelu", {kGeluErf}, {{{3, 1001}}}},
    {"gelu by tanh", {kGeluTanh}, {{{3, 1001}}}},
    {"gelu by tanh: half", {kGeluTanh}, {{{3, 101}, DType::kF16}}},
    {"relu: f64", {kRelu}, {{{3, 37}, DType::kF64, Fill::kSpecial}}},
    {"sigmoid: f64", {kSigmoid}, {{{3, 37}, DType::kF64}}},
    {"tanh: f64", {kTanh}, {{{3, 37}, DType::kF64}}},
    {"leaky relu: f64", {kLeakyRelu, 0.1}, {{{3, 37}, DType::kF64}}},
    {"elu: f64", {kElu, 1.1}, {{{3, 37}, DType::kF64}}},
    {"softplus: f64", {kSoftplus, 1.1, 0.9}, {{{3, 37}, DType::kF64}}},
    {"clip: f64", {kClip, -0.1, 0.7}, {{{3, 37}, DType::kF64, Fill::kSpecial}}},
    {"clip: f64, bounds that floats lack", {kClip, 1e-60, 1e-50}, {{{3}, DType::kF64, Fill::kNormal, {0, 1e-55, 1}}}},
    {"thresholded relu: f64",
     {kThresholdedRelu, 0.1},
     {{{3}, DType::kF64, Fill::kNormal, {0.1, 0.1 + 1e-10, 0.1 - 1e-10}}}},
    {"selu: f64", {kSelu, 1.67326, 1.0507}, {{{3, 37}, DType::kF64}}},
    {"scaled tanh: f64", {kScaledTanh, 1.7159, 0.6667}, {{{3, 37}, DType::kF64}}},
    {"hard sigmoid: f64", {kHardSigmoid, 0.2, 0.3}, {{{3, 37}, DType::kF64}}},
    {"gelu: f64", {kGeluErf}, {{{3, 37}, DType::kF64}}},
    {"gelu tanh: f64", {kGeluTanh}, {{{3, 37}, DType::kF64}}},
};

std::vector<double> run(ops::Activation op, std::vector<double> x) {
  const auto count = static_cast<int64_t>(x.size());
  return run_reference_numbers(op, {{{count}, DType::kF64, Fill::kNormal, std::move(x)}});
}
void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << "element " << i;
}

TEST(Activation, KnownAnswers) {  // by hand, where the formulas have simple values
  const double ln2 = std::log(2.0), ln3 = std::log(3.0);
  expect_near(run({kRelu}, {-2, 0, 3}), {0, 0, 3});
  expect_near(run({kSigmoid}, {0, ln3, -ln3}), {0.5, 0.75, 0.25});
  expect_near(run({kTanh}, {0, ln2, -ln2}), {0, 0.6, -0.6});
  expect_near(run({kLeakyRelu, 0.25}, {-4, 4}), {-1, 4});
  expect_near(run({kElu, 2}, {-ln2, 1}), {-1, 1});
  expect_near(run({kSelu, 2, 3}, {-ln2, 1}), {-3, 3});
  expect_near(run({kSoftsign}, {-1, 3}), {-0.5, 0.75});
  expect_near(run({kSoftplus, 3, 2}, {0, ln3 / 2}), {3 * ln2, 3 * std::log(4.0)});
  expect_near(run({kClip, -1, 2}, {-3, 0.5, 9}), {-1, 0.5, 2});
  expect_near(run({kHardSigmoid, 0.25, 0.5}, {-9, -1, 9}), {0, 0.25, 1});
  expect_near(run({kScaledTanh, 10, 2}, {ln2 / 2}), {6});
  expect_near(run({kThresholdedRelu, 1}, {1, 1.5, -7}), {0, 1.5, 0});
  expect_near(run({kGeluErf}, {0, std::sqrt(2.0)}), {0, (1 + 0.8427007929497149) / std::sqrt(2.0)});  // erf(1)
  expect_near(run({kGeluTanh}, {0, 1}), {0, 0.8411919906082768});  // ONNX's Gelu, approximate=tanh
}
TEST(Activation, NanStaysNan) {
  for (int kind = 0; kind <= static_cast<int>(kGeluTanh); ++kind) {
    const ops::Activation op{static_cast<ops::ActivationKind>(kind), 0.5, 2};
    const double y = run(op, {NAN})[0];
    if (op.kind == kThresholdedRelu)
      EXPECT_EQ(y, 0);
    else
      EXPECT_TRUE(std::isnan(y)) << str(Op(op)) << " gives " << y;
  }
}
TEST(Activation, SigmoidKeepsItsTails) {
  EXPECT_DOUBLE_EQ(run({kSigmoid}, {-700})[0], std::exp(-700));
  EXPECT_EQ(run({kSigmoid}, {800})[0], 1);
}
TEST(Activation, ReluOfIntegersHasValues) {
  sym::Table table;
  const sym::Expr n = table.symbol("n", {-4, 1, 9});
  const TensorType x(DType::kI64, {2}, {n, -3});
  const InferInput input{&x};
  const auto y = infer_types(ops::Activation{kRelu}, {&input, 1}, table);
  ASSERT_TRUE(y);
  EXPECT_EQ(*(*y)[0].values, (SymbolicValues{sym::max(n, 0), 0}));
}
TEST(Activation, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Activation{kTanh}, {{{2, 3}, DType::kI32}}),
            "x is i32[2, 3]; Activation tanh takes f32, f16 or bf16");
  EXPECT_EQ(infer_error(ops::Activation{kRelu}, {{{2}, DType::kBool}}),
            "x is bool[2]; Activation relu takes f32, f16 or bf16, or an integer");
}

}  // namespace
}  // namespace kiln
