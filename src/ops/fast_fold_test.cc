#include "ops/fast_fold.h"

#include <gtest/gtest.h>

#include "ops/cast.h"
#include "ops/element_wise.h"
#include "ops/reference_context.h"
#include "ops/reshape.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "tensor/view.h"

namespace kiln {
namespace {

HostTensor noise(DType dtype, Extents extents, int seed = 1) {
  std::vector<double> numbers(static_cast<size_t>(volume(extents)));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<double>((i * 2654435761u + static_cast<size_t>(seed) * 977) % 65521) / 257 - 100;
  return HostTensor::of(dtype, std::move(extents), numbers);
}

/// The fold must happen and equal the reference.
void expect_reference(const Op& op, const std::vector<HostTensor>& tensors) {
  std::vector<const HostTensor*> inputs;
  for (const HostTensor& tensor : tensors) inputs.push_back(&tensor);
  const auto reference = run_reference(op, inputs);
  ASSERT_TRUE(reference) << reference.error().message;
  const auto folded = fast_fold(op, inputs, type_of((*reference)[0]));
  ASSERT_TRUE(folded && *folded) << str(op);
  EXPECT_TRUE(**folded == (*reference)[0]) << str(op);
}

TEST(FastFold, Transposes) {
  for (const DType dtype : {DType::kF32, DType::kI64, DType::kF16, DType::kU8}) {
    expect_reference(ops::Transpose{{1, 0}}, {noise(dtype, {67, 45})});
    expect_reference(ops::Transpose{{0, 2, 1}}, {noise(dtype, {3, 33, 37})});
    expect_reference(ops::Transpose{{3, 1, 0, 2}}, {noise(dtype, {5, 7, 11, 13})});
  }
}
TEST(FastFold, Casts) {
  expect_reference(ops::Cast{DType::kF32}, {noise(DType::kF16, {40, 50})});
  expect_reference(ops::Cast{DType::kF32}, {noise(DType::kBF16, {40, 50})});
  expect_reference(ops::Cast{DType::kF16}, {noise(DType::kF32, {40, 50})});
  expect_reference(ops::Cast{DType::kBF16}, {noise(DType::kF32, {40, 50})});
}
TEST(FastFold, ElementWiseBroadcasts) {
  for (const auto kind : {ops::ElementWiseKind::kSum, ops::ElementWiseKind::kProd, ops::ElementWiseKind::kSub,
                          ops::ElementWiseKind::kDiv}) {
    expect_reference(ops::ElementWise{kind}, {noise(DType::kF32, {9, 17, 13}), noise(DType::kF32, {9, 17, 13}, 2)});
    expect_reference(ops::ElementWise{kind}, {noise(DType::kF32, {9, 17, 13}), noise(DType::kF32, {1, 17, 1}, 3)});
    expect_reference(ops::ElementWise{kind}, {noise(DType::kF32, {9, 1, 13}), noise(DType::kF32, {1, 17, 1}, 4)});
  }
}
TEST(FastFold, ReshapesShareMemory) {
  const HostTensor x = noise(DType::kF32, {40, 50});
  const HostTensor* const inputs[] = {&x};
  const auto folded = fast_fold(ops::Unsqueeze{{0}}, inputs, tensor_type(DType::kF32, Extents{1, 40, 50}));
  ASSERT_TRUE(folded && *folded);
  EXPECT_EQ((*folded)->bytes().data(), x.bytes().data());
}
TEST(FastFold, LeavesTheRest) {
  const HostTensor x = noise(DType::kI32, {40, 50});
  const HostTensor* const inputs[] = {&x, &x};
  const auto folded = fast_fold(ops::ElementWise{ops::ElementWiseKind::kSum}, inputs, type_of(x));
  ASSERT_TRUE(folded);
  EXPECT_FALSE(*folded);
}

}  // namespace
}  // namespace kiln
