#include "ops/kv_cache_update.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::KvCacheUpdate;
using sym::Expr;
using Numbers = std::vector<double>;

CaseInput rows(std::vector<double> values, DType dtype = DType::kI32) {
  const auto count = static_cast<int64_t>(values.size());
  return {.extents = {count}, .dtype = dtype, .literal = std::move(values)};
}
const CaseTable<KvCacheUpdate> kCases{
    {"one row", {}, {{{2, 3, 8, 4}}, {{2, 3, 1, 4}}, rows({0, 7})}},
    {"several rows, half", {}, {{{2, 2, 9, 8}, DType::kF16}, {{2, 2, 3, 8}, DType::kF16}, rows({1, 6}, DType::kI64)}},
    {"beyond both ends", {}, {{{4, 1, 5, 4}}, {{4, 1, 3, 4}}, rows({3, -2, 9, -7})}},
    {"all of it", {}, {{{1, 2, 3, 4}}, {{1, 2, 3, 4}}, rows({0})}},
};

TEST(KvCacheUpdate, KnownAnswer) {
  const CaseInput cache = numbers({2, 1, 3, 1}, {1, 2, 3, 4, 5, 6}), update = numbers({2, 1, 2, 1}, {10, 20, 30, 40});
  EXPECT_EQ(run_reference_numbers(KvCacheUpdate{}, {cache, update, rows({1, 2})}), (Numbers{1, 10, 20, 4, 5, 30}));
  EXPECT_EQ(run_reference_numbers(KvCacheUpdate{}, {cache, update, rows({-1, 5})}), (Numbers{20, 2, 3, 4, 5, 6}));
}
TEST(KvCacheUpdate, InfersSymbolically) {
  sym::Table t;
  const Expr b = t.symbol("b"), s = t.symbol("s", {1, 1, 16});
  EXPECT_EQ(
      inferred(KvCacheUpdate{}, {{DType::kF16, {b, 2, 64, 8}}, {DType::kF16, {b, 2, s, 8}}, {DType::kI32, {b}}}, t),
      "f16[b, 2, 64, 8]");
}
TEST(KvCacheUpdate, SaysWhatIsWrong) {
  const CaseInput cache{{1, 2, 4, 8}}, update{{1, 2, 1, 8}};
  EXPECT_EQ(infer_error(KvCacheUpdate{}, {{{4, 8}}, update, rows({0})}),
            "cache is f32[4, 8]; f32, f16 or bf16 [batch, heads, most, size] is needed");
  EXPECT_EQ(infer_error(KvCacheUpdate{}, {cache, {{1, 2, 1, 8}, DType::kF16}, rows({0})}),
            "update is f16[1, 2, 1, 8] and cache f32[1, 2, 4, 8]; one type and four axes are needed");
  EXPECT_EQ(infer_error(KvCacheUpdate{}, {cache, update, {{1}}}),
            "writeIndices are f32[1]; i32 or i64 [batch] are needed");
  EXPECT_NE(infer_error(KvCacheUpdate{}, {cache, {{1, 2, 5, 8}}, rows({0})}).find("within cache f32[1, 2, 4, 8]"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln
