#include "ops/movement.h"

#include <gtest/gtest.h>

#include "ops/concatenation.h"
#include "ops/gather.h"
#include "ops/reference_context.h"
#include "ops/reshape.h"
#include "ops/shape.h"
#include "ops/testing/symbolic.h"
#include "ops/unsqueeze.h"

namespace kiln {
namespace {

TensorType infer_one(const Op& op, const std::vector<TensorType>& inputs, sym::Table& table) {
  std::vector<InferInput> types;
  for (const TensorType& type : inputs) types.push_back({&type, nullptr});
  auto outputs = infer_types(op, types, table);
  EXPECT_TRUE(outputs) << outputs.error().message;
  return (*outputs)[0];
}

TEST(Movement, ShapeArithmeticDissolves) {  // x.reshape(x.shape[0], -1) as exporters write it
  sym::Table t;
  const TensorType x{DType::kF32, {t.symbol("batch"), 512, 7, 7}};
  const TensorType shape = infer_one(ops::Shape{}, {x}, t);
  const TensorType first = infer_one(ops::Gather{}, {shape, {DType::kI64, {}, {0}}}, t);
  const TensorType vector = infer_one(ops::Unsqueeze{.axes = {0}}, {first}, t);
  const TensorType to = infer_one(ops::Concatenation{}, {vector, {DType::kI64, {1}, {-1}}}, t);
  EXPECT_EQ(inferred(ops::Reshape{}, {x, to}, t), "f32[batch, 25088]");
}
TEST(Movement, WalksInRowMajorOrder) {
  std::vector<std::vector<int64_t>> seen;
  for_each_index(std::vector<int64_t>{2, 2}, [&](int64_t linear, std::span<const int64_t> index) {
    EXPECT_EQ(linear, static_cast<int64_t>(seen.size()));
    seen.emplace_back(index.begin(), index.end());
  });
  EXPECT_EQ(seen, (std::vector<std::vector<int64_t>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

}  // namespace
}  // namespace kiln
