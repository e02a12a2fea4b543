// Sums along long axes: by doubling, where the terms of all sums would not fit.
#include <gtest/gtest.h>

#include "ir/testing/interpret.h"
#include "onnx/test_import.h"
#include "tensor/view.h"

namespace kiln::onnx {
namespace {

using namespace test;

constexpr int64_t kRows = 2, kColumns = 4097, kTerms = kColumns * kColumns * kRows;
static_assert(kTerms > 1 << 24);

Imported sums(bool exclusive, bool reverse, int64_t columns) {
  return import_proto(model(graph({{node("CumSum", {"x", "axis"}, {"y"}, "c",
                                         {int_attribute("exclusive", exclusive), int_attribute("reverse", reverse)})},
                                   {value("x", kInt64, {kRows, columns})},
                                   {value("y")},
                                   {i64s("axis", {1})}})));
}

TEST(ImportCumSum, LongAxesAreDoubled) {
  HostTensor::Fresh x = HostTensor::make(DType::kI64, {kRows, kColumns}).value();
  const MutableView to(DType::kI64, x.tensor.extents(), x.data.data());
  for (int64_t i = 0; i < kRows * kColumns; ++i) to.set_integer(i, i * 7919 % 1013 - 500);
  const View from(x.tensor);
  for (const bool exclusive : {false, true})
    for (const bool reverse : {false, true}) {
      const Imported imported = sums(exclusive, reverse, kColumns);
      ASSERT_TRUE(imported.status) << text_of(imported);
      EXPECT_EQ(print(imported.graph).find("Reduce"), std::string::npos);
      const auto y = ir::interpret(imported.graph, {x.tensor});
      ASSERT_TRUE(y) << y.error().message;
      const View got((*y)[0]);
      for (int64_t row = 0; row < kRows; ++row)
        for (int64_t i = 0, sum = 0; i < kColumns; ++i) {
          const int64_t at = row * kColumns + (reverse ? kColumns - 1 - i : i);
          ASSERT_EQ(got.integer(at), exclusive ? sum : sum + from.integer(at)) << at << exclusive << reverse;
          sum += from.integer(at);
        }
    }
}
TEST(ImportCumSum, ShortAxesAreSelectedAndAdded) {
  const Imported imported = sums(false, false, 128);
  ASSERT_TRUE(imported.status) << text_of(imported);
  EXPECT_NE(print(imported.graph).find("Reduce{kind=sum"), std::string::npos);
}

}  // namespace
}  // namespace kiln::onnx
