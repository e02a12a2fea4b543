#include "ops/dynamic_quantize.h"

#include <gtest/gtest.h>

#include <limits>

#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::DynamicQuantize;
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<DynamicQuantize> kCases{
    {"f4 by f8", {.axis = -1, .block_size = 16}, {{{3, 64}}}},
    {"f4 by f8, scaled twice",
     {.axis = 1, .block_size = 16},
     {{{3, 64}}, {.extents = {}, .literal = {0.01}, .constant = true}}},
    {"f8 by e8m0, f16", {DType::kF8E4M3, DType::kE8M0, 0, 32}, {{{64, 7}, DType::kF16}}},
    {"i8 by f32, rows", {.to = DType::kI8, .scale_type = DType::kF32, .block = {1, -1}}, {{{5, 37}}}},
    {"f8 by f32, squares", {.to = DType::kF8E4M3, .scale_type = DType::kF32, .block = {1, 4, 4}}, {{{2, 8, 12}}}},
    {"huge", {.axis = -1, .block_size = 16}, {{{2, 32}, DType::kF32, Fill::kHuge}}},
};

/// Both outputs as numbers.
std::vector<Numbers> run(const DynamicQuantize& op, const std::vector<HostTensor>& inputs) {
  const auto outputs = run_reference(op, inputs);
  CHECK(outputs.has_value());
  std::vector<Numbers> result;
  for (const HostTensor& output : *outputs) result.push_back(View(output).numbers());
  return result;
}
HostTensor floats(Extents extents, Numbers values) { return HostTensor::of(DType::kF32, std::move(extents), values); }

TEST(DynamicQuantize, AScaleForEachBlock) {
  const DynamicQuantize op{.to = DType::kF4E2M1, .scale_type = DType::kF32, .axis = 1, .block_size = 2};
  EXPECT_EQ(run(op, {floats({2, 4}, {3, 1, 12, -2.2, 0, 0, -6, 6})}),
            (std::vector<Numbers>{{6, 2, 6, -1, 0, 0, -6, 6}, {0.5, 2, 0, 1}}));
}
TEST(DynamicQuantize, ScalesAreRoundedAndThenUsed) {
  // 1.1 / 448 is between 2^-9 and 2^-8: e8m0 takes the larger, so that nothing saturates.
  const DynamicQuantize mx{.to = DType::kF8E4M3, .scale_type = DType::kE8M0, .axis = 0, .block_size = 2};
  EXPECT_EQ(run(mx, {floats({2}, {1.125, 0.5})}), (std::vector<Numbers>{{288, 128}, {0.00390625}}));
  // 0.7 / 6 in f8e4m3 is 0.1171875: 0.7 over that is 5.97, which f4e2m1 has as 6, and 0.29 over it 2.47.
  const DynamicQuantize nv{.axis = 0, .block_size = 2};
  EXPECT_EQ(run(nv, {floats({2}, {0.7, 0.29})}), (std::vector<Numbers>{{6, 2}, {0.1171875}}));
  // Half of the scale is in the second one: the stored scale is doubled, numbers stay.
  EXPECT_EQ(run(nv, {floats({2}, {0.7, 0.29}), HostTensor::scalar(DType::kF32, 0.5)}),
            (std::vector<Numbers>{{6, 2}, {0.234375}}));
}
TEST(DynamicQuantize, NaNIsInNoMaximum) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const DynamicQuantize op{.to = DType::kI8, .scale_type = DType::kF32, .block = {-1}};
  EXPECT_EQ(run(op, {floats({3}, {nan, 127, -63.4})}), (std::vector<Numbers>{{0, 127, -63}, {1}}));
}
TEST(DynamicQuantize, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n");
  EXPECT_EQ(inferred(DynamicQuantize{.axis = 1, .block_size = 16}, {{DType::kF16, {n, 64}}}, t), "f4e2m1[n, 64]");
}
TEST(DynamicQuantize, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(DynamicQuantize{.to = DType::kU8}, {{{2}}}),
            "DynamicQuantize to u8; it makes f4e2m1, f8e4m3 or i8");
  EXPECT_EQ(infer_error(DynamicQuantize{.scale_type = DType::kF16}, {{{2}}}),
            "DynamicQuantize makes scales of f16; f8e4m3, e8m0 or f32 is possible");
  EXPECT_EQ(infer_error(DynamicQuantize{.block_size = 2}, {{{}}}),
            "DynamicQuantize of f32[]; it takes f32, f16 or bf16 of rank 1 or more");
  EXPECT_EQ(infer_error(DynamicQuantize{.block_size = 16}, {{{2, 24}}}),
            "blocks of 16 do not divide axis 1 of x f32[2, 24]");
  EXPECT_EQ(infer_error(DynamicQuantize{}, {{{2, 24}}}),
            "a block has the extent 0 along axis 1; extents are positive, or -1 for a whole axis");
  EXPECT_EQ(infer_error(DynamicQuantize{.block = {2}}, {{{2, 24}}}), "the block has 1 extents, x 2");
  EXPECT_EQ(infer_error(DynamicQuantize{.block = {1, 2}}, {{{2, 24}}, {.extents = {}, .literal = {-1}}}),
            "scale 0 of 1 is -1; scales are finite and positive");
}

}  // namespace
}  // namespace kiln
