#include <gtest/gtest.h>

#include <bit>

#include <cmath>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using Extents = std::vector<int64_t>;

TEST(Tensor, NamesItsExtents) {
  Workbench w;
  nv::ITensor *a = w.input("a", {-1, 2}), *b = w.input("b", {-1, 2});
  EXPECT_EQ(a->getDimensionName(0), nullptr);
  a->setDimensionName(0, "batch");
  b->setDimensionName(0, "batch");
  EXPECT_STREQ(a->getDimensionName(0), "batch");
  EXPECT_EQ(a->getDimensionName(1), nullptr);
  a->setDimensionName(2, "none");
  EXPECT_EQ(w.take_error(), "ITensor::setDimensionName: index 2 is outside [0, 2)");
  EXPECT_EQ(list(a->getDimensions()), (Extents{-1, 2}));
  a->setDimensionName(0, nullptr);
  EXPECT_EQ(a->getDimensionName(0), nullptr);
}

TEST(Tensor, ExtentsOfOneNameAreOne) {
  Workbench w;
  nv::ITensor *a = w.input("a", {-1}), *b = w.input("b", {-1});
  a->setDimensionName(0, "n");
  b->setDimensionName(0, "n");
  w.mark(w->addElementWise(*a, *b, nv::ElementWiseOperation::kSUM)->getOutput(0));
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  for (const char* name : {"a", "b"}) {
    EXPECT_TRUE(profile->setDimensions(name, nv::OptProfileSelector::kMIN, dims({1})));
    EXPECT_TRUE(profile->setDimensions(name, nv::OptProfileSelector::kOPT, dims({2})));
    EXPECT_TRUE(profile->setDimensions(name, nv::OptProfileSelector::kMAX, dims({4})));
  }
  EXPECT_EQ(w.config->addOptimizationProfile(profile), 0);
  EXPECT_EQ(w.run({{"a", {{3}, {1, 2, 3}}}, {"b", {{3}, {4, 5, 6}}}}), (std::vector<float>{5, 7, 9}));
}

TEST(Tensor, AnInputTakesATypeAndALayersOutputWishesForOne) {
  Workbench w;
  nv::ITensor* x = w.input("x", {2});
  x->setType(nv::DataType::kHALF);
  EXPECT_EQ(x->getType(), nv::DataType::kHALF);
  nv::ILayer* layer = w->addIdentity(*x);
  EXPECT_EQ(layer->getOutput(0)->getType(), nv::DataType::kHALF);
  x->setType(nv::DataType::kFLOAT);
  layer->setOutputType(0, nv::DataType::kFLOAT);
  EXPECT_TRUE(layer->outputTypeIsSet(0));
  layer->setOutputType(1, nv::DataType::kFLOAT);
  EXPECT_EQ(w.take_error(), "ILayer::setOutputType: index 1 is outside [0, 1)");
  layer->resetOutputType(0);
  EXPECT_FALSE(layer->outputTypeIsSet(0));
  layer->setPrecision(nv::DataType::kHALF);
  EXPECT_EQ(layer->getPrecision(), nv::DataType::kHALF);
  layer->resetPrecision();
  EXPECT_FALSE(layer->precisionIsSet());
}

/// Two halves, as the bytes of one float.
float two_halves(uint16_t first, uint16_t second) { return std::bit_cast<float>(uint32_t{second} << 16 | first); }

TEST(Tensor, AnInputMayChangeItsTypeBehindItsLayers) {
  const std::vector<float> values{2, 3};
  Workbench w;
  nv::ITensor* x = w.input("x", {1, 2});
  nv::ITensor* factors = w->addConstant(dims({2, 1}), weights(values))->getOutput(0);
  nv::ILayer* product = w->addMatrixMultiply(*x, nv::MatrixOperation::kNONE, *factors, nv::MatrixOperation::kNONE);
  w.mark(product->getOutput(0));
  x->setType(nv::DataType::kHALF);  // the weights are floats
  EXPECT_EQ(x->getType(), nv::DataType::kHALF);
  EXPECT_EQ(product->getOutput(0)->getType(), nv::DataType::kFLOAT);
  EXPECT_EQ(w.run({{"x", {{1, 2}, {two_halves(0x3e00, 0xc000)}}}}), (std::vector<float>{1.5F * 2 - 2 * 3}));
  x->setType(nv::DataType::kFLOAT);
  EXPECT_EQ(w.run({{"x", {{1, 2}, {1.5F, -2}}}}), (std::vector<float>{-3}));
}

TEST(Tensor, IndicesMayBecomeNarrowerBehindTheirLayers) {
  const std::vector<float> values{5, 6, 7};
  Workbench w;
  nv::ITensor* x = w.input("x", {2}, nv::DataType::kINT64);
  nv::ITensor* table = w->addConstant(dims({3}), weights(values))->getOutput(0);
  w.mark(w->addGather(*table, *x, 0)->getOutput(0));
  x->setType(nv::DataType::kINT32);
  EXPECT_EQ(w.run({{"x", {{2}, {std::bit_cast<float>(2), std::bit_cast<float>(0)}}}}), (std::vector<float>{7, 5}));
}

TEST(Tensor, OutputsHaveTheTypeTheyWereGiven) {
  Workbench w;
  w.mark(w->addCast(*w.input("x", {2}), nv::DataType::kINT32)->getOutput(0));
  w->getOutput(0)->setType(nv::DataType::kFLOAT);
  EXPECT_EQ(w->getOutput(0)->getType(), nv::DataType::kFLOAT);
  EXPECT_EQ(w.run({{"x", {{2}, {1.5F, -2.5F}}}}), (std::vector<float>{1, -2}));
}

TEST(Tensor, WholeNumbersForFractionsAreToldOf) {
  Workbench w;
  w.mark(w->addActivation(*w.input("x", {2}), nv::ActivationType::kSIGMOID)->getOutput(0));
  w->getOutput(0)->setType(nv::DataType::kINT32);
  EXPECT_EQ(std::unique_ptr<nv::IHostMemory>(w.builder->buildSerializedNetwork(*w.network, *w.config)) == nullptr,
            false);
  ASSERT_EQ(w.logger.warnings.size(), 1U);
  EXPECT_NE(
      w.logger.warnings[0].find("output 'y' is f32 in the network and i32 outside of it, as its type was set: values "
                                "are converted as they are, without a scale, so that fractions are lost"),
      std::string::npos)
      << w.logger.warnings[0];
}

TEST(Tensor, KeepsWhatBelongsToOlderPrograms) {
  Workbench w;
  nv::ITensor* x = w.input("x", {2});
  EXPECT_FALSE(x->dynamicRangeIsSet());
  EXPECT_TRUE(std::isnan(x->getDynamicRangeMin()));
  EXPECT_TRUE(x->setDynamicRange(-2, 3));
  EXPECT_EQ(x->getDynamicRangeMax(), 3);
  EXPECT_FALSE(x->setDynamicRange(1, -1));
  x->resetDynamicRange();
  EXPECT_FALSE(x->dynamicRangeIsSet());
  x->setBroadcastAcrossBatch(true);
  EXPECT_FALSE(x->getBroadcastAcrossBatch());
  EXPECT_EQ(x->getLocation(), nv::TensorLocation::kDEVICE);
  x->setLocation(nv::TensorLocation::kHOST);
  EXPECT_EQ(x->getLocation(), nv::TensorLocation::kHOST);
}

TEST(Tensor, AllowsFormats) {
  Workbench w;
  nv::ITensor* x = w.input("x", {1, 2, 2, 2});
  EXPECT_EQ(x->getAllowedFormats(), (1U << nv::EnumMax<nv::TensorFormat>()) - 1);
  x->setAllowedFormats(0);
  EXPECT_NE(w.take_error().find("ITensor::setAllowedFormats"), std::string::npos);
  x->setAllowedFormats(1U << 31);
  EXPECT_NE(w.take_error().find("the allowed formats are TensorFormat(31)"), std::string::npos);
  x->setAllowedFormats(1U << static_cast<uint32_t>(nv::TensorFormat::kHWC));
  w.mark(w->addUnary(*x, nv::UnaryOperation::kNEG)->getOutput(0));
  // n h w c in, n c h w out
  EXPECT_EQ(w.run({{"x", {{1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}}}),
            (std::vector<float>{-1, -3, -5, -7, -2, -4, -6, -8}));
}

TEST(Tensor, FormatsThatARankLacksAreNamed) {
  Workbench w;
  nv::ITensor* x = w.input("x", {2, 2});
  w.mark(w->addIdentity(*x)->getOutput(0));
  x->setAllowedFormats(1U << static_cast<uint32_t>(nv::TensorFormat::kHWC));
  EXPECT_EQ(w.builder->buildSerializedNetwork(*w.network, *w.config), nullptr);
  const std::string error = w.take_error();
  EXPECT_NE(error.find("none of the allowed formats (kHWC) is one that Kiln has for rank 2"), std::string::npos)
      << error;
}

TEST(Tensor, FormatsOfTheTwoEndsOfNothing) {
  constexpr auto bit = [](nv::TensorFormat format) { return 1U << static_cast<uint32_t>(format); };
  for (const bool in_last : {false, true}) {
    Workbench w;
    nv::ITensor* x = w.input("x", {1, 2, 1, 2});
    nv::ITensor* y = w->addIdentity(*x)->getOutput(0);
    (in_last ? x : y)->setAllowedFormats(bit(nv::TensorFormat::kHWC));
    w.mark(y);
    EXPECT_EQ(w.run({{"x", {{1, 2, 1, 2}, {1, 2, 3, 4}}}}), (std::vector<float>{1, 3, 2, 4}));
  }
}

TEST(Tensor, IsAShapeTensorWhereShapesNeedIt) {
  Workbench w;
  nv::ITensor* x = w.input("x", {-1, 2});
  nv::ITensor *shape = w.input("shape", {2}, nv::DataType::kINT32),
              *other = w.input("other", {2}, nv::DataType::kINT32);
  EXPECT_FALSE(shape->isShapeTensor());
  nv::IShuffleLayer* reshape = w->addShuffle(*x);
  reshape->setInput(1, *w->addElementWise(*shape, *shape, nv::ElementWiseOperation::kMAX)->getOutput(0));
  EXPECT_TRUE(shape->isShapeTensor());
  EXPECT_FALSE(shape->isExecutionTensor());
  EXPECT_FALSE(other->isShapeTensor());
  EXPECT_FALSE(x->isShapeTensor());
  EXPECT_FALSE(x->isExecutionTensor());  // nobody wants the result yet
  w.mark(reshape->getOutput(0));
  EXPECT_TRUE(x->isExecutionTensor());
  EXPECT_FALSE(shape->isExecutionTensor());
  EXPECT_TRUE(x->isExecutionTensor());
}

}  // namespace
}  // namespace kiln::api::testing
