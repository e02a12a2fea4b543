#include "ops/unique.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"
#include "tensor/view.h"

namespace kiln {
namespace {

const CaseTable<ops::Unique> kCases{
    {"integers", {}, {{{30}, DType::kI32}}},
    {"of a matrix", {.sorted = false}, {{{4, 6}, DType::kI64}}},
    {"rows", {.axis = 0}, {{{9, 2}, DType::kBool}}},
    {"columns, as they appear", {.axis = -1, .sorted = false}, {{{2, 9}, DType::kBool}}},
    {"the middle", {.axis = 1}, {{{2, 7, 1}, DType::kBool}}},
    {"rows of whole numbers", {.axis = 0}, {{{2000, 3}, DType::kI64, Fill::kIndex, {}, 6}}},
    {"columns of halves, special ones too, as they appear",
     {.axis = 1, .sorted = false},
     {{{2, 300}, DType::kF16, Fill::kSpecial}}},
    {"between outer and inner", {.axis = 1}, {{{2, 60, 3}, DType::kU8, Fill::kPositive}}},
    {"rows of many elements", {.axis = 0}, {{{9, 17}, DType::kBool}}},
    {"floats, special ones too", {}, {{{40}, DType::kF32, Fill::kSpecial}}},
    {"bytes", {}, {{{3, 5}, DType::kU8}}},
    {"a scalar", {}, {{{}, DType::kF32}}},
    {"of nothing", {}, {{{0}, DType::kI32}}},
    {"thousands", {}, {{{5000}, DType::kI64}}},
    {"thousands, as they appear", {.sorted = false}, {{{50, 100}, DType::kF16, Fill::kSpecial}}},
};

/// All four outputs as numbers.
std::vector<std::vector<double>> unique(const ops::Unique& op, const HostTensor& x) {
  const auto outputs = run_reference(op, {&x, 1});
  if (!outputs) throw CheckFailed{outputs.error().message};
  std::vector<std::vector<double>> result;
  for (const HostTensor& output : *outputs) result.push_back(View(output).numbers());
  return result;
}

TEST(Unique, KnownAnswers) {
  using Lists = std::vector<std::vector<double>>;
  const HostTensor x = HostTensor::of(DType::kF32, {6}, std::vector<double>{2, 1, 1, 3, 4, 3});
  EXPECT_EQ(unique({}, x), (Lists{{1, 2, 3, 4}, {1, 0, 3, 4}, {1, 0, 0, 2, 3, 2}, {2, 1, 2, 1}}));
  EXPECT_EQ(unique({.sorted = false}, x), (Lists{{2, 1, 3, 4}, {0, 1, 3, 4}, {0, 1, 1, 2, 3, 2}, {1, 2, 2, 1}}));
  const HostTensor rows = HostTensor::of(DType::kF32, {3, 2}, std::vector<double>{1, 0, 1, 0, 0, 9});
  EXPECT_EQ(unique({.axis = 0}, rows), (Lists{{0, 9, 1, 0}, {2, 0}, {1, 1, 0}, {1, 2}}));
}

TEST(Unique, InfersSymbolically) {
  sym::Table table;
  const sym::Expr n = table.symbol("n");
  EXPECT_EQ(inferred(ops::Unique{.axis = 1}, {{DType::kF32, {3, n, 4}}}, table), "f32[3, unique, 4]");
}

TEST(Unique, SaysWhatIsWrong) {
  EXPECT_NE(infer_error(ops::Unique{.axis = 2}, {{{2, 2}}}).find("axis 2"), std::string::npos);
}

}  // namespace
}  // namespace kiln
