/// Networks of more tensors than a byte counts, and calls by name among many.
#include <gtest/gtest.h>

#include "api/build/testing/workbench.h"
#include "base/str.h"

namespace kiln::api::testing {
namespace {

constexpr int kMany = 600;

std::vector<float> counted(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return values;
}

TEST(ManyTensors, PartsJoinedBackwards) {
  Workbench b;
  b.config->setBuilderOptimizationLevel(0);  // nothing here is about time
  nv::ITensor* x = b.input("x", {kMany, 2});
  std::vector<nv::ITensor*> parts;
  for (int i = kMany; i-- > 0;)
    parts.push_back(b->addSlice(*x, dims({i, 0}), dims({1, 2}), dims({1, 1}))->getOutput(0));
  nv::IConcatenationLayer* joined = b->addConcatenation(parts.data(), kMany);
  joined->setAxis(0);
  b.mark(joined->getOutput(0));
  const std::vector<float> values = counted(2 * kMany), y = b.run({{"x", {{kMany, 2}, values}}});
  ASSERT_EQ(y.size(), values.size());
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQ(y[static_cast<size_t>(2 * i)], static_cast<float>(2 * (kMany - 1 - i))) << i;
    EXPECT_EQ(y[static_cast<size_t>(2 * i + 1)], static_cast<float>(2 * (kMany - 1 - i) + 1)) << i;
  }
}

/// The sum of `kMany` inputs, and the largest of them, joined with all of them.
TEST(ManyTensors, ManyInputs) {
  Workbench b;
  b.config->setBuilderOptimizationLevel(0);
  std::map<std::string, Feed> feeds;
  std::vector<nv::ITensor*> inputs;
  for (int i = 0; i < kMany; ++i) {
    const std::string name = str("x", i);
    inputs.push_back(b.input(name.c_str(), {1}));
    feeds[name] = {{1}, {static_cast<float>(i)}};
  }
  nv::ITensor *sum = inputs[0], *largest = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) {
    sum = b->addElementWise(*sum, *inputs[i], nv::ElementWiseOperation::kSUM)->getOutput(0);
    largest = b->addElementWise(*largest, *inputs[i], nv::ElementWiseOperation::kMAX)->getOutput(0);
  }
  inputs.push_back(sum);
  inputs.push_back(largest);
  b.mark(b->addConcatenation(inputs.data(), static_cast<int32_t>(inputs.size()))->getOutput(0));
  std::vector<float> wanted = counted(kMany);
  wanted.push_back(kMany * (kMany - 1) / 2);
  wanted.push_back(kMany - 1);
  EXPECT_EQ(b.run(feeds), wanted);
}

TEST(ManyTensors, NamesOfNow) {
  Workbench b;
  nv::ITensor* a = b.input("a", {1});
  EXPECT_EQ(b.input("a", {1}), nullptr);
  EXPECT_NE(b.take_error().find("there is an input 'a' already"), std::string::npos);
  a->setName("b");
  EXPECT_EQ(b.input("b", {1}), nullptr);
  EXPECT_NE(b.take_error().find("there is an input 'b' already"), std::string::npos);
  nv::ITensor* other = b.input("a", {1});
  ASSERT_NE(other, nullptr);
  b->removeTensor(*other);
  EXPECT_NE(b.input("a", {1}), nullptr);
}

TEST(ManyTensors, WeightsByTheirElements) {
  Workbench b;
  const std::vector<float> first = counted(2), second = counted(2), third = counted(2);
  nv::IConstantLayer* one = b->addConstant(dims({2}), weights(first));
  nv::IConstantLayer* same = b->addConstant(dims({2}), weights(first));
  EXPECT_TRUE(b->setWeightsName(weights(first), "w"));
  EXPECT_STREQ(one->getName(), "w");
  EXPECT_STREQ(same->getName(), "w");
  EXPECT_FALSE(b->setWeightsName(weights(second), "v"));
  one->setWeights(weights(second));
  EXPECT_TRUE(b->setWeightsName(weights(second), "v"));
  EXPECT_STREQ(one->getName(), "v");
  EXPECT_STREQ(same->getName(), "w");
  EXPECT_FALSE(b->setWeightsName(weights(third), "u"));
  EXPECT_FALSE(b->setWeightsName({nv::DataType::kFLOAT, second.data(), 1}, "u"));
  EXPECT_NE(b.take_error().find("the weights that begin there are 2 of f32, not 1 of f32"), std::string::npos);
  EXPECT_STREQ(one->getName(), "v");
}

}  // namespace
}  // namespace kiln::api::testing
