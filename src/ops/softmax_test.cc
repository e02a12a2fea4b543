#include "ops/softmax.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/testing/case.h"

namespace kiln {
namespace {

const CaseTable<ops::Softmax> kCases{
    {"outermost", {.axis = 0}, {{{4, 5}}}},
    {"middle", {.axis = 1}, {{{3, 7, 5}}}},
    {"empty batch", {.axis = 1}, {{{0, 3}}}},
    {"one element", {.axis = -1}, {{{3, 1}}}},
    {"longer than any tile", {.axis = -1}, {{{3, 70'001}}}},
    {"half", {.axis = -1}, {{{5, 33}, DType::kF16}}},
    {"exp overflows unless the max is subtracted", {.axis = 1}, {{{2, 8}, DType::kF32, Fill::kHuge}}},
};

TEST(Softmax, KnownAnswer) {  // by hand: a wrong `reference` must not be its own witness
  const auto y =
      run_reference_numbers(ops::Softmax{.axis = 0}, {{{2}, DType::kF64, Fill::kNormal, {0, std::log(3.0)}}});
  EXPECT_NEAR(y[0], 0.25, 1e-12);
  EXPECT_NEAR(y[1], 0.75, 1e-12);
}
TEST(Softmax, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Softmax{.axis = 3}, {{{2, 3}}}), "axis 3 is outside [-2, 2) of x f32[2, 3]");
}

}  // namespace
}  // namespace kiln
