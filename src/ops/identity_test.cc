#include "ops/identity.h"

#include <gtest/gtest.h>

#include "ops/reference_context.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

const CaseTable<ops::Identity> kCases{
    {"float", {}, {{{3, 37}}}},
    {"half", {}, {{{3, 37}, DType::kF16}}},
    {"bool", {}, {{{3, 37}, DType::kBool}}},
    {"i64", {}, {{{3, 37}, DType::kI64}}},
    {"empty", {}, {{{3, 0}}}},
};

TEST(Identity, KnownAnswer) {
  EXPECT_EQ(run_reference_numbers(ops::Identity{}, {{{3}, DType::kI4, Fill::kNormal, {-8, 7, 1}}}),
            (std::vector<double>{-8, 7, 1}));
}
TEST(Identity, KeepsValues) {
  sym::Table table;
  const TensorType x(DType::kI32, {1}, {table.symbol("n")});
  const InferInput input{&x};
  EXPECT_EQ(*(*infer_types(ops::Identity{}, {&input, 1}, table))[0].values, *x.values);
}

}  // namespace
}  // namespace kiln
