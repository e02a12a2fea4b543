#include "runtime/ordered_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tensor/testing/counting.h"
#include "tensor/view.h"

namespace kiln::runtime {
namespace {

plan::Tensor reader(int weight, const Format& format) {
  plan::Tensor tensor;
  tensor.place = plan::Place::kWeight, tensor.index = weight, tensor.format = format;
  return tensor;
}

/// A plan with one weight, and for each of these formats a profile that reads it in that format.
plan::Plan plan_of(const HostTensor& weight, const std::vector<Format>& formats) {
  plan::Plan plan;
  plan.weights.push_back({"w", weight});
  for (const Format& format : formats) plan.profiles.emplace_back().tensors.push_back(reader(0, format));
  return plan;
}

void expect_at_strides(const HostTensor& ordered, const HostTensor& weight, const Format& format) {
  const Extents strides = format.strides(weight.extents());
  Extents at(weight.extents().size(), 0);
  for (int64_t i = 0; i < weight.volume(); ++i) {
    const int64_t place = std::inner_product(at.begin(), at.end(), strides.begin(), int64_t{0});
    ASSERT_EQ(View(ordered)[place], View(weight)[i]) << format.text() << ", element " << i;
    for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == weight.extents()[axis];) at[axis] = 0;
  }
}

TEST(OrderedWeights, AreInTheirReadersOrderWhateverThatIs) {
  for (const DType dtype : {DType::kF32, DType::kI8, DType::kI4}) {
    const HostTensor weight = counting(dtype, {2, 3, 5, 4});
    std::vector<Format> formats;
    std::vector<int> order{0, 1, 2, 3};
    do formats.push_back(Format::permuted(order));
    while (std::ranges::next_permutation(order).found);
    const plan::Plan plan = plan_of(weight, formats);
    OrderedWeights weights(plan);
    ASSERT_TRUE(weights.order());
    for (const plan::Profile& profile : plan.profiles)
      expect_at_strides(weights.at(profile.tensors[0]), weight, profile.tensors[0].format);
  }
}

TEST(OrderedWeights, ByHand) {
  const plan::Plan plan = plan_of(counting(DType::kI32, {1, 2, 1, 3}), {Format::linear(), Format::channels_last(4)});
  OrderedWeights weights(plan);
  ASSERT_TRUE(weights.order());
  // Two profiles read one weight in two formats, and the plan's own elements stay as they are.
  EXPECT_EQ(&weights.at(plan.profiles[0].tensors[0]), &plan.weights[0].value);
  EXPECT_EQ(weights.at(plan.profiles[1].tensors[0]),
            HostTensor::of_ints(DType::kI32, {1, 1, 3, 2}, std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(plan.weights[0].value, counting(DType::kI32, {1, 2, 1, 3}));
}

TEST(OrderedWeights, OneCopyServesAllReadersOfAFormat) {
  const Format format = Format::channels_last(4);
  plan::Plan plan = plan_of(counting(DType::kF32, {2, 3, 4, 5}), {format, format});
  plan.weights.push_back({"other", counting(DType::kF32, {1, 2, 1, 2})});
  plan.profiles[1].tensors.push_back(reader(1, format));
  OrderedWeights weights(plan);
  ASSERT_TRUE(weights.order());
  EXPECT_EQ(&weights.at(plan.profiles[0].tensors[0]), &weights.at(plan.profiles[1].tensors[0]));
  expect_at_strides(weights.at(plan.profiles[1].tensors[1]), plan.weights[1].value, format);
}

TEST(OrderedWeights, RefusesAFormatInBlocks) {
  const plan::Plan plan = plan_of(counting(DType::kF32, {2, 3}), {Format().blocked(1, 4)});
  EXPECT_FALSE(OrderedWeights(plan).order());
}

}  // namespace
}  // namespace kiln::runtime
