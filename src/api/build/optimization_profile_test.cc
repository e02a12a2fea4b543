#include <gtest/gtest.h>

#include <cmath>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using Extents = std::vector<int64_t>;
using Select = nv::OptProfileSelector;

TEST(OptimizationProfile, KeepsDimensionsInOrder) {
  Workbench w;
  nv::IOptimizationProfile* p = w.builder->createOptimizationProfile();
  EXPECT_TRUE(p->isValid());
  EXPECT_EQ(list(p->getDimensions("x", Select::kMIN)), Extents{-1});
  EXPECT_TRUE(p->setDimensions("x", Select::kMAX, dims({8, 3})));
  EXPECT_FALSE(p->isValid());
  EXPECT_TRUE(p->setDimensions("x", Select::kMIN, dims({1, 3})));
  EXPECT_TRUE(p->setDimensions("x", Select::kOPT, dims({4, 3})));
  EXPECT_TRUE(p->isValid());
  EXPECT_EQ(list(p->getDimensions("x", Select::kOPT)), (Extents{4, 3}));
  EXPECT_FALSE(p->setDimensions("x", Select::kMIN, dims({5, 3})));
  EXPECT_EQ(w.take_error(), "IOptimizationProfile::setDimensions: input 'x', number 0: minimum 5 is above optimum 4");
  EXPECT_EQ(list(p->getDimensions("x", Select::kMIN)), (Extents{1, 3}));
  EXPECT_FALSE(p->setDimensions("x", Select::kMIN, dims({1})));
  EXPECT_FALSE(p->setDimensions("y", Select::kMIN, dims({-1})));
  EXPECT_FALSE(p->setDimensions(nullptr, Select::kMIN, dims({1})));
  EXPECT_EQ(w.take_error(), "IOptimizationProfile::setDimensions: inputName is null");
  EXPECT_FALSE(p->setDimensions("y", static_cast<Select>(3), dims({1})));
  EXPECT_EQ(list(p->getDimensions(nullptr, Select::kMIN)), Extents{-1});
}

TEST(OptimizationProfile, KeepsShapeValues) {
  Workbench w;
  nv::IOptimizationProfile* p = w.builder->createOptimizationProfile();
  const int64_t low[] = {-1, 2}, big[] = {INT64_MAX, 2};
  const int32_t high[] = {7, 8};
  EXPECT_EQ(p->getNbShapeValues("s"), -1);
  EXPECT_TRUE(p->setShapeValuesV2("s", Select::kMIN, low, 2));
  EXPECT_TRUE(p->setShapeValues("s", Select::kMAX, high, 2));
  EXPECT_EQ(p->getNbShapeValues("s"), 2);
  EXPECT_EQ(p->getShapeValuesV2("s", Select::kMAX)[1], 8);
  EXPECT_EQ(p->getShapeValues("s", Select::kMIN)[0], -1);
  EXPECT_EQ(p->getShapeValuesV2("s", Select::kOPT), nullptr);
  EXPECT_FALSE(p->setShapeValuesV2("s", Select::kMIN, nullptr, 2));
  EXPECT_TRUE(p->setShapeValuesV2("t", Select::kMIN, big, 2));
  EXPECT_EQ(p->getShapeValues("t", Select::kMIN), nullptr);
  EXPECT_NE(w.take_error().find("getShapeValuesV2"), std::string::npos);
}

TEST(OptimizationProfile, LimitsExtraMemory) {
  Workbench w;
  nv::IOptimizationProfile* p = w.builder->createOptimizationProfile();
  EXPECT_EQ(p->getExtraMemoryTarget(), 1);
  EXPECT_TRUE(p->setExtraMemoryTarget(0.5F));
  EXPECT_FALSE(p->setExtraMemoryTarget(1.5F));
  EXPECT_FALSE(p->setExtraMemoryTarget(NAN));
  EXPECT_EQ(p->getExtraMemoryTarget(), 0.5F);
}

}  // namespace
}  // namespace kiln::api::testing
