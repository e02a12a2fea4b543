#include "ops/scale.h"

#include <gtest/gtest.h>

#include "ops/reference_context.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

using enum ops::ScaleMode;
const CaseInput kAbsent{.absent = true};
CaseInput coefficients(Extents extents, Fill fill = Fill::kNormal) {
  return {.extents = std::move(extents), .fill = fill, .constant = true};
}

const CaseTable<ops::Scale> kCases{
    {"uniform", {kUniform}, {{{2, 3, 5}}, coefficients({1}), coefficients({1})}},
    {"channels", {kChannel, 1}, {{{2, 3, 5, 7}}, coefficients({3}), coefficients({3})}},
    {"last axis", {kChannel, -1}, {{{2, 3, 5}}, coefficients({5}), coefficients({5})}},
    {"elements", {kElementwise, 1}, {{{2, 3, 5}}, coefficients({3, 5}), coefficients({15})}},
    {"power",
     {kChannel, 1},
     {{{2, 3, 5}, DType::kF32, Fill::kPositive},
      coefficients({3}, Fill::kPositive),
      coefficients({3}, Fill::kPositive),
      coefficients({3})}},
    {"scale alone", {kChannel, 1}, {{{2, 3, 5}}, kAbsent, coefficients({3})}},
    {"shift alone", {kChannel, 1}, {{{2, 3, 5}}, coefficients({3})}},
};

CaseInput numbers(Extents extents, std::vector<double> values) {
  return {std::move(extents), DType::kF32, Fill::kNormal, std::move(values)};
}
using Numbers = std::vector<double>;

TEST(Scale, KnownAnswers) {
  const CaseInput x = numbers({1, 2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run_reference_numbers(ops::Scale{kUniform}, {x, numbers({1}, {1}), numbers({1}, {10}), numbers({}, {2})}),
            (Numbers{121, 441, 961, 1681}));
  EXPECT_EQ(run_reference_numbers(ops::Scale{kChannel, 1}, {x, numbers({2}, {1, 0}), numbers({2}, {10, 100})}),
            (Numbers{11, 21, 300, 400}));
  EXPECT_EQ(run_reference_numbers(ops::Scale{kElementwise, 1}, {x, numbers({2, 2}, {5, 6, 7, 8})}),
            (Numbers{6, 8, 10, 12}));
}
TEST(Scale, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Scale{kChannel, 1}, {{{2, 3, 5}}, {{4}}}),
            "elements of shift f32[4] for Scale channel of x f32[2, 3, 5]: 4 and 3 differ");
  EXPECT_EQ(infer_error(ops::Scale{kChannel, 3}, {{{2, 3, 5}}, {{4}}}), "axis 3 is outside [-3, 3) of x f32[2, 3, 5]");
  EXPECT_EQ(infer_error(ops::Scale{kUniform}, {{{2}, DType::kI32}}), "x is i32[2]; Scale takes f32, f16 or bf16");
}

}  // namespace
}  // namespace kiln
