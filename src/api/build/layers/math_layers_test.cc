#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using Values = std::vector<float>;
using Extents = std::vector<int64_t>;

TEST(SoftMaxLayer, TakesOneAxis) {
  Workbench w;
  nv::ISoftMaxLayer* layer = w->addSoftMax(*w.input("x", {2, 2}));
  EXPECT_EQ(layer->getAxes(), 1U << 0);
  layer->setAxes(1U << 1);
  EXPECT_EQ(layer->getAxes(), 1U << 1);
  w.mark(layer->getOutput(0));
  const Values y = w.run({{"x", {{2, 2}, {0, 0, 0, std::log(3.0F)}}}});
  ASSERT_EQ(y.size(), 4U);
  EXPECT_NEAR(y[0], 0.5, 1e-6);
  EXPECT_NEAR(y[2], 0.25, 1e-6);
  layer->setAxes(3);
  EXPECT_EQ(w.take_error(), "ISoftMaxLayer::setAxes: axes has 2 bits; one axis is possible");
  layer->setAxes(4);
  EXPECT_EQ(w.take_error(), "ISoftMaxLayer::setAxes: axes has bit 2; the tensor has rank 2");
}

TEST(SoftMaxLayer, BeginsAtTheChannelsOfAnImage) {
  Workbench w;
  EXPECT_EQ(w->addSoftMax(*w.input("x", {2, 3, 4, 5}))->getAxes(), 1U << 1);
}

TEST(ReduceLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  nv::ITensor* x = w.input("x", {2, 3});
  nv::IReduceLayer* layer = w->addReduce(*x, nv::ReduceOperation::kSUM, 1U << 1, false);
  layer->setOperation(nv::ReduceOperation::kMAX);
  layer->setReduceAxes(1U << 0);
  layer->setKeepDimensions(true);
  EXPECT_EQ(layer->getOperation(), nv::ReduceOperation::kMAX);
  EXPECT_EQ(layer->getReduceAxes(), 1U << 0);
  EXPECT_TRUE(layer->getKeepDimensions());
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), (Extents{1, 3}));
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{2, 3}, {1, 5, 3, 4, 2, 6}}}}), (Values{4, 5, 6}));
  EXPECT_EQ(w->addReduce(*x, nv::ReduceOperation::kSUM, 0, false), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addReduce: reduceAxes is 0; at least one axis is needed");
}

TEST(MatrixMultiplyLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  nv::ITensor *a = w.input("a", {2, 2}), *b = w.input("b", {2, 2});
  nv::IMatrixMultiplyLayer* layer =
      w->addMatrixMultiply(*a, nv::MatrixOperation::kNONE, *b, nv::MatrixOperation::kNONE);
  layer->setOperation(1, nv::MatrixOperation::kTRANSPOSE);
  EXPECT_EQ(layer->getOperation(0), nv::MatrixOperation::kNONE);
  EXPECT_EQ(layer->getOperation(1), nv::MatrixOperation::kTRANSPOSE);
  layer->setOperation(2, nv::MatrixOperation::kNONE);
  EXPECT_EQ(w.take_error(), "IMatrixMultiplyLayer::setOperation: index is 2; it must be 0 or 1");
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"a", {{2, 2}, {1, 2, 3, 4}}}, {"b", {{2, 2}, {1, 0, 1, 1}}}}), (Values{1, 3, 3, 7}));
}

TEST(NormalizationLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  const Values ones(2, 1), zeros(2, 0);
  nv::ITensor* scale = w->addConstant(dims({1, 2}), weights(ones))->getOutput(0);
  nv::ITensor* bias = w->addConstant(dims({1, 2}), weights(zeros))->getOutput(0);
  nv::INormalizationLayer* layer = w->addNormalization(*w.input("x", {2, 2}), *scale, *bias, 1U << 1);
  EXPECT_EQ(layer->getAxes(), 1U << 1);
  EXPECT_EQ(layer->getNbGroups(), 1);
  EXPECT_FALSE(layer->isV2());
  EXPECT_EQ(layer->getComputePrecision(), nv::DataType::kFLOAT);
  layer->setEpsilon(1e-3F);
  EXPECT_EQ(layer->getEpsilon(), 1e-3F);
  layer->setComputePrecision(nv::DataType::kINT8);
  EXPECT_NE(w.take_error().find("setComputePrecision"), std::string::npos);
  layer->setNbGroups(0);
  EXPECT_EQ(w.take_error(), "INormalizationLayer::setNbGroups: nbGroups is 0; 1 is the least");
  w.mark(layer->getOutput(0));
  const Values y = w.run({{"x", {{2, 2}, {1, 3, 10, 10}}}});
  ASSERT_EQ(y.size(), 4U);
  EXPECT_NEAR(y[1], 1 / std::sqrt(1.001), 1e-5);
  EXPECT_NEAR(y[2], 0, 1e-6);
}

TEST(PoolingLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  nv::IPoolingLayer* layer = w->addPoolingNd(*w.input("x", {1, 1, 2, 4}), nv::PoolingType::kMAX, dims({2, 2}));
  EXPECT_EQ(list(layer->getStrideNd()), (Extents{1, 1}));
  EXPECT_TRUE(layer->getAverageCountExcludesPadding());
  layer->setStrideNd(dims({2, 2}));
  layer->setPoolingType(nv::PoolingType::kAVERAGE);
  layer->setPaddingNd(dims({0, 1}));
  EXPECT_EQ(list(layer->getPrePadding()), (Extents{0, 1}));
  EXPECT_EQ(list(layer->getPostPadding()), (Extents{0, 1}));
  layer->setPaddingNd(dims({0, 0}));
  layer->setAverageCountExcludesPadding(false);
  layer->setBlendFactor(0.5F);
  layer->setPaddingMode(nv::PaddingMode::kEXPLICIT_ROUND_UP);
  EXPECT_EQ(layer->getPoolingType(), nv::PoolingType::kAVERAGE);
  EXPECT_EQ(layer->getBlendFactor(), 0.5F);
  EXPECT_FALSE(layer->getAverageCountExcludesPadding());
  EXPECT_EQ(layer->getPaddingMode(), nv::PaddingMode::kEXPLICIT_ROUND_UP);
  EXPECT_EQ(list(layer->getWindowSizeNd()), (Extents{2, 2}));
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}}}}), (Values{3.5F, 5.5F}));
  layer->setStrideNd(dims({0, 1}));
  EXPECT_NE(w.take_error().find("the least is 1"), std::string::npos);
  layer->setBlendFactor(2);
  EXPECT_EQ(w.take_error(), "IPoolingLayer::setBlendFactor: blendFactor is 2, outside [0, 1]");
}

TEST(ConvolutionLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  const Values kernel{1, 1, 1, 1, 2, 0, 0, 0}, bias{0.5F, 0};
  nv::ITensor* x = w.input("x", {1, 1, 3, 3});
  nv::IConvolutionLayer* layer = w->addConvolutionNd(*x, 2, dims({2, 2}), weights(kernel), weights(bias));
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getNbInputs(), 1);
  EXPECT_EQ(w->getNbLayers(), 1);
  EXPECT_EQ(layer->getNbOutputMaps(), 2);
  EXPECT_EQ(layer->getNbGroups(), 1);
  EXPECT_EQ(layer->getKernelWeights().values, kernel.data());
  EXPECT_EQ(layer->getBiasWeights().count, 2);
  EXPECT_EQ(list(layer->getKernelSizeNd()), (Extents{2, 2}));
  EXPECT_EQ(list(layer->getDilationNd()), (Extents{1, 1}));
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), (Extents{1, 2, 2, 2}));
  layer->setStrideNd(dims({2, 2}));
  layer->setPrePadding(dims({0, 0}));
  layer->setPostPadding(dims({1, 1}));
  EXPECT_EQ(list(layer->getStrideNd()), (Extents{2, 2}));
  EXPECT_EQ(list(layer->getPostPadding()), (Extents{1, 1}));
  w.mark(layer->getOutput(0));
  Values image(9);
  std::iota(image.begin(), image.end(), 1.0F);
  EXPECT_EQ(w.run({{"x", {{1, 1, 3, 3}, image}}}), (Values{12.5F, 9.5F, 15.5F, 9.5F, 2, 6, 14, 18}));
}

TEST(ConvolutionLayer, GroupsAndKernelsMayFollow) {
  Workbench w;
  const Values kernel{2, 3};
  nv::IConvolutionLayer* layer =
      w->addConvolutionNd(*w.input("x", {1, 2, 1, 1}), 2, dims({1, 1}), weights(kernel), no_weights());
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), Extents{-1});  // one channel a kernel; the input has two
  EXPECT_NE(w.take_error().find("Convolution"), std::string::npos);
  layer->setNbGroups(2);
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), (Extents{1, 2, 1, 1}));
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{1, 2, 1, 1}, {10, 100}}}}), (Values{20, 300}));
}

TEST(ConvolutionLayer, TakesItsKernelFromATensor) {
  Workbench w;
  const Values kernel{2, 3};
  nv::ITensor* x = w.input("x", {1, 2, 1, 1});
  nv::ITensor* k = w.input("k", {1, 2, 1, 1});
  nv::IConvolutionLayer* layer = w->addConvolutionNd(*x, 1, dims({1, 1}), no_weights(), no_weights());
  EXPECT_EQ(layer->getNbInputs(), 1);
  layer->setInput(1, *k);
  EXPECT_EQ(layer->getNbInputs(), 2);
  EXPECT_EQ(layer->getInput(1), k);
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{1, 2, 1, 1}, {1, 10}}}, {"k", {{1, 2, 1, 1}, {2, 3}}}}), (Values{32}));
  layer->setKernelWeights(weights(kernel));
  layer->setInput(1, *k);
  EXPECT_NE(w.take_error().find("only if their count is 0"), std::string::npos);
}

TEST(ConvolutionLayer, AWeaklyTypedNetworkTakesWeightsOfAnotherFloatType) {
  const uint16_t halves[] = {0x4000, 0xb800};  // 2, -0.5
  const nv::Weights kernel{nv::DataType::kHALF, halves, 2};
  Workbench w;
  nv::IConvolutionLayer* layer =
      w->addConvolutionNd(*w.input("x", {1, 2, 1, 1}), 1, dims({1, 1}), kernel, no_weights());
  EXPECT_EQ(layer->getKernelWeights().type, nv::DataType::kHALF);
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{1, 2, 1, 1}, {10, 4}}}}), (Values{18}));
  Workbench strong(1U << static_cast<uint32_t>(nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED));
  layer = strong->addConvolutionNd(*strong.input("x", {1, 2, 1, 1}), 1, dims({1, 1}), kernel, no_weights());
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), Extents{-1});
  EXPECT_NE(strong.take_error().find("f16"), std::string::npos);
}

TEST(ConvolutionLayer, SaysWhichRuleIsBroken) {
  Workbench w;
  const Values kernel(4, 1);
  nv::ITensor *x = w.input("x", {1, 1, 3, 3}), *flat = w.input("flat", {3, 3});
  EXPECT_EQ(w->addConvolutionNd(*x, 0, dims({2, 2}), weights(kernel), no_weights()), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addConvolutionNd: nbOutputMaps is 0; 1 is the least");
  EXPECT_EQ(w->addConvolutionNd(*x, 1, dims({2}), weights(kernel), no_weights()), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addConvolutionNd: kernelSize has 1 numbers; 2 or 3 are possible");
  EXPECT_EQ(w->addConvolutionNd(*flat, 1, dims({2, 2}), weights(kernel), no_weights()), nullptr);
  EXPECT_EQ(w.take_error(),
            "INetworkDefinition::addConvolutionNd: the input has rank 2; a kernel of 2 axes needs rank 4");
  EXPECT_EQ(w->addConvolutionNd(*x, 3, dims({2, 2}), weights(kernel), no_weights()), nullptr);
  EXPECT_NE(w.take_error().find("kernelWeights have 4 elements"), std::string::npos);
  EXPECT_EQ(w->addConvolutionNd(*x, 1, dims({2, 2}), weights(kernel), weights(kernel)), nullptr);
  EXPECT_NE(w.take_error().find("biasWeights have 4 elements"), std::string::npos);
  EXPECT_EQ(w->getNbLayers(), 0);
}

TEST(DeconvolutionLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  const Values kernel{1, 2}, bias{1};
  nv::IDeconvolutionLayer* layer =
      w->addDeconvolutionNd(*w.input("x", {1, 1, 1, 2}), 1, dims({1, 2}), weights(kernel), weights(bias));
  ASSERT_NE(layer, nullptr);
  layer->setStrideNd(dims({1, 2}));
  layer->setPaddingMode(nv::PaddingMode::kEXPLICIT_ROUND_DOWN);
  EXPECT_EQ(list(layer->getStrideNd()), (Extents{1, 2}));
  EXPECT_EQ(layer->getNbOutputMaps(), 1);
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), (Extents{1, 1, 1, 4}));
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{1, 1, 1, 2}, {1, 10}}}}), (Values{2, 3, 11, 21}));
}

TEST(ShapeLayer, GivesExtents) {
  Workbench w;
  nv::IShapeLayer* layer = w->addShape(*w.input("x", {2, 3}));
  EXPECT_EQ(layer->getOutput(0)->getType(), nv::DataType::kINT64);
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), Extents{2});
  EXPECT_TRUE(layer->getOutput(0)->isShapeTensor());
  w.mark(w->addCast(*layer->getOutput(0), nv::DataType::kFLOAT)->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{2, 3}, Values(6)}}}), (Values{2, 3}));
}

TEST(ParametricReLULayer, Runs) {
  Workbench w;
  const Values slopes{10, 0.5F};
  nv::ITensor* slope = w->addConstant(dims({1, 2}), weights(slopes))->getOutput(0);
  nv::ITensor* x = w.input("x", {2, 2});
  nv::IParametricReLULayer* layer = w->addParametricReLU(*x, *slope);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getType(), nv::LayerType::kPARAMETRIC_RELU);
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{2, 2}, {-1, 2, -3, -4}}}}), (Values{-10, 2, -30, -2}));
  EXPECT_EQ(w->addParametricReLU(*w.input("n", {2, 2}, nv::DataType::kINT32), *slope), nullptr);
  EXPECT_NE(w.take_error().find("ParametricRelu takes f32, f16 or bf16"), std::string::npos);
}

TEST(LRNLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  nv::ITensor* x = w.input("x", {1, 3, 1, 1});
  nv::ILRNLayer* layer = w->addLRN(*x, 5, 1, 0.75F, 2);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getType(), nv::LayerType::kLRN);
  EXPECT_EQ(layer->getWindowSize(), 5);
  EXPECT_EQ(layer->getAlpha(), 1);
  EXPECT_EQ(layer->getBeta(), 0.75F);
  EXPECT_EQ(layer->getK(), 2);
  layer->setWindowSize(3);
  layer->setAlpha(3);
  layer->setBeta(1);
  layer->setK(1);
  EXPECT_EQ(layer->getWindowSize(), 3);
  EXPECT_EQ(layer->getAlpha(), 3);
  EXPECT_EQ(layer->getBeta(), 1);
  EXPECT_EQ(layer->getK(), 1);
  w.mark(layer->getOutput(0));
  const Values y = w.run({{"x", {{1, 3, 1, 1}, {1, 2, 3}}}});  // 1 + 3 / 3 * the squares of the neighbourhood
  ASSERT_EQ(y.size(), 3U);
  EXPECT_NEAR(y[0], 1.0 / 6, 1e-6);
  EXPECT_NEAR(y[1], 2.0 / 15, 1e-6);
  EXPECT_NEAR(y[2], 3.0 / 14, 1e-6);
  layer->setWindowSize(4);
  EXPECT_EQ(w.take_error(), "ILRNLayer::setWindowSize: the window is 4; an odd number in [1, 15] is needed");
  layer->setAlpha(2e20F);
  EXPECT_NE(w.take_error().find("ILRNLayer::setAlpha: alpha is "), std::string::npos);
  layer->setBeta(0);
  EXPECT_NE(w.take_error().find("ILRNLayer::setBeta: beta is 0, outside "), std::string::npos);
  layer->setK(0);
  EXPECT_NE(w.take_error().find("ILRNLayer::setK: k is 0, outside "), std::string::npos);
  EXPECT_EQ(w->addLRN(*x, 17, 1, 1, 1), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addLRN: the window is 17; an odd number in [1, 15] is needed");
}

TEST(RaggedSoftMaxLayer, Runs) {
  Workbench w;
  nv::ITensor* x = w.input("x", {1, 2, 3});
  const std::vector<int32_t> lengths{2, 1};
  nv::ITensor* bounds = w->addConstant(dims({1, 2, 1}), {nv::DataType::kINT32, lengths.data(), 2})->getOutput(0);
  nv::IRaggedSoftMaxLayer* layer = w->addRaggedSoftMax(*x, *bounds);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getType(), nv::LayerType::kRAGGED_SOFTMAX);
  w.mark(layer->getOutput(0));
  const Values y = w.run({{"x", {{1, 2, 3}, {0, std::log(3.0F), 90, 5, 6, 7}}}});
  ASSERT_EQ(y.size(), 6U);
  EXPECT_NEAR(y[0], 0.25, 1e-6);
  EXPECT_NEAR(y[1], 0.75, 1e-6);
  EXPECT_EQ(Values(y.begin() + 2, y.end()), (Values{0, 1, 0, 0}));
  EXPECT_EQ(w->addRaggedSoftMax(*x, *x), nullptr);
  EXPECT_NE(w.take_error().find("bounds are f32[1, 2, 3]"), std::string::npos);
}

}  // namespace
}  // namespace kiln::api::testing
