#include "ops/read_values.h"

#include <gtest/gtest.h>

#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "sym/unbounded.h"
#include "tensor/view.h"

namespace kiln {
namespace {

using ops::ReadValues;

const CaseTable<ReadValues> kCases{
    {"numbers of both signs", {}, {{.extents = {3}, .dtype = DType::kI64, .literal = {4, -7, 0}}}},
    {"one of 32 bits", {}, {{.extents = {}, .dtype = DType::kI32, .literal = {5}}}},
    {"flags", {}, {{.extents = {2}, .dtype = DType::kBool, .literal = {1, 0}}}},
    {"none", {}, {{.extents = {0}, .dtype = DType::kI64}}},
};

TEST(ReadValues, HasASymbolForEachElement) {
  sym::Table table;
  const TensorType x(DType::kI64, {2});
  const InferInput input{&x, nullptr};
  std::vector<DecidedSize> sizes;
  const auto types = infer_types(ReadValues{}, std::span(&input, 1), table, nullptr, &sizes);
  ASSERT_TRUE(types) << types.error().message;
  ASSERT_EQ(sizes.size(), 2u);
  ASSERT_TRUE((*types)[0].values);
  EXPECT_EQ(*(*types)[0].values, (SymbolicValues{sizes[0].symbol, sizes[1].symbol}));
  EXPECT_EQ(sizes[0].most, sym::unbounded(table));
  EXPECT_LT(sizes[0].symbol.min(), 0);
}

TEST(ReadValues, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ReadValues{}, {{{2}}}), "x is f32[2]; i32, i64 or bool needed");
  EXPECT_EQ(infer_error(ReadValues{}, {{{65}, DType::kI64}}),
            "x is i64[65]; at most 64 elements are read, and their number must be constant");
}

}  // namespace
}  // namespace kiln
