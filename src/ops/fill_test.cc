#include "ops/fill.h"

#include <gtest/gtest.h>

#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<ops::Fill> kCases{
    {"range", {.dims = {37}, .alpha = 2, .beta = 0.5}, {}},
    {"integers", {.dims = {9}, .alpha = 5, .beta = -2, .to = DType::kI64}, {}},
    {"a step for each axis", {.dims = {3, 4}}, {{.absent = true}, numbers({}, {1}), numbers({2}, {10, 1})}},
    {"from a shape", {.to = DType::kI32}, {ints({6})}},
    {"uniform", {.operation = FillOperation::kRandomUniform, .dims = {5, 7}, .alpha = -1, .beta = 3, .seed = 11}, {}},
    {"normal", {.operation = FillOperation::kRandomNormal, .dims = {50}, .to = DType::kF16, .seed = 3}, {}},
    {"uniform f64",
     {.operation = FillOperation::kRandomUniform,
      .dims = {5, 7},
      .alpha = -1,
      .beta = 3,
      .to = DType::kF64,
      .seed = 11},
     {}},
    {"normal f64", {.operation = FillOperation::kRandomNormal, .dims = {50}, .to = DType::kF64, .seed = 3}, {}},
    {"range of f64", {.dims = {37}, .alpha = 0.1, .beta = 1e-9, .to = DType::kF64}, {}},
};

TEST(Fill, KnownAnswers) {
  EXPECT_EQ(run_reference_numbers(ops::Fill{.dims = {3}, .alpha = 1, .beta = 0.5}, {}), (Numbers{1, 1.5, 2}));
  EXPECT_EQ(
      run_reference_numbers(ops::Fill{.dims = {2, 3}}, {{.absent = true}, numbers({}, {0}), numbers({2}, {3, 1})}),
      (Numbers{0, 1, 2, 3, 4, 5}));
}
TEST(Fill, RandomMomentsAreRight) {
  const auto moments = [](FillOperation operation) {
    const Numbers y = run_reference_numbers(ops::Fill{.operation = operation, .dims = {40'000}, .seed = 5}, {});
    double sum = 0, squares = 0;
    for (const double v : y) sum += v, squares += v * v;
    const double mean = sum / 40'000;
    return std::pair(mean, squares / 40'000 - mean * mean);
  };
  const auto [uniform_mean, uniform_variance] = moments(FillOperation::kRandomUniform);
  EXPECT_NEAR(uniform_mean, 0.5, 0.01);
  EXPECT_NEAR(uniform_variance, 1.0 / 12, 0.005);
  const auto [normal_mean, normal_variance] = moments(FillOperation::kRandomNormal);
  EXPECT_NEAR(normal_mean, 0, 0.025);  // five standard errors
  EXPECT_NEAR(normal_variance, 1, 0.04);
}
TEST(Fill, SeedsDiffer) {
  const auto draw = [](int64_t seed) {
    return run_reference_numbers(ops::Fill{.operation = FillOperation::kRandomUniform, .dims = {8}, .seed = seed}, {});
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}
/// A run of a fill of `count` elements that keeps `state`.
Numbers drawn(const ops::Fill& fill, int64_t count, std::vector<std::byte>& state) {
  const Extents extents{count};
  std::vector<float> y(static_cast<size_t>(count));
  const ReferenceTensor outputs[] = {{DType::kF32, extents, reinterpret_cast<std::byte*>(y.data()), true}};
  ReferenceContext context({}, outputs, state.data());
  EXPECT_TRUE(fill.reference(context));
  return {y.begin(), y.end()};
}
TEST(Fill, RunsGoOnWhereTheLastOneEnded) {
  for (const FillOperation operation : {FillOperation::kRandomUniform, FillOperation::kRandomNormal}) {
    const ops::Fill fill{.operation = operation, .dims = {7}, .seed = 3};
    std::vector<std::byte> state = initial_state(fill), other = initial_state(fill);
    const Numbers whole = run_reference_numbers(fill, {});
    Numbers parts = drawn(fill, 3, state);
    for (const double number : drawn(fill, 4, state)) parts.push_back(number);
    EXPECT_EQ(parts, whole);
    EXPECT_NE(drawn(fill, 7, state), whole);
    EXPECT_EQ(drawn(fill, 7, other), whole) << "a seed fixes the start of every generator";
  }
}
TEST(Fill, WithoutAFixedStartEachGeneratorHasItsOwn) {
  const ops::Fill fill{.operation = FillOperation::kRandomUniform, .dims = {4}, .fixed_start = false};
  std::vector<std::byte> state = initial_state(fill), other = initial_state(fill);
  EXPECT_NE(drawn(fill, 4, state), drawn(fill, 4, other));
}
TEST(Fill, OnlyRandomOnesKeepAState) {
  EXPECT_TRUE(initial_state(ops::Fill{.dims = {2}}).empty());
  EXPECT_EQ(initial_state(ops::Fill{.operation = FillOperation::kRandomNormal}).size(), sizeof(RandomState));
}
TEST(Fill, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n");
  EXPECT_EQ(inferred(ops::Fill{},
                     {values_type({
                         n,
                     })},
                     t),
            "f32[n]");
  EXPECT_EQ(inferred(ops::Fill{.to = DType::kI64}, {values_type({3}), {DType::kI64, {}, {n}}}, t),
            "i64[3] {n, n + 1, n + 2}");
}
TEST(Fill, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Fill{.dims = {-1}, .to = DType::kI64}, {}),
            "output 0 would be i64[-1], with a negative extent in axis 0");
  EXPECT_EQ(infer_error(ops::Fill{.dims = {2, 2}}, {}),
            "linspace of rank 2 has one step; a beta input with a step for each axis is needed");
  EXPECT_EQ(infer_error(ops::Fill{.operation = FillOperation::kRandomNormal, .dims = {2}, .to = DType::kI32}, {}),
            "fill random_normal cannot make i32; a float type needed");
}

}  // namespace
}  // namespace kiln
