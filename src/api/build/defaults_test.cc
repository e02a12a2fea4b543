// Defaults of networks, tensors, layers and profiles, before a program has set anything, are those that TensorRT
// documents. The builder's configuration and the runtime's classes have tests like these beside them.
#include <gtest/gtest.h>

#include <cmath>

#include "api/build/network.h"
#include "api/build/testing/workbench.h"
#include "ops/expand.h"
#include "ops/identity.h"

namespace kiln::api::testing {
namespace {

using Values = std::vector<float>;
using Extents = std::vector<int64_t>;

TEST(Defaults, OfABuilder) {
  Workbench w;
  EXPECT_EQ(w.builder->getMaxThreads(), 1);
  EXPECT_EQ(w.builder->getNbDLACores(), 0);
  EXPECT_EQ(w.builder->getMaxDLABatchSize(), 0);
}

TEST(Defaults, OfANetwork) {
  Workbench w;
  EXPECT_STREQ(w->getName(), "");
  EXPECT_EQ(w->getFlags(), 0U);
  EXPECT_FALSE(w->getFlag(nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED));
  EXPECT_FALSE(w->hasImplicitBatchDimension());
  EXPECT_EQ(w->getNbLayers(), 0);
  EXPECT_EQ(w->getNbInputs(), 0);
  EXPECT_EQ(w->getNbOutputs(), 0);
  EXPECT_FALSE(w->areWeightsMarkedRefittable("w"));
}

TEST(Defaults, OfATensor) {
  Workbench w;
  nv::ITensor* x = w.input("x", {2});
  EXPECT_EQ(x->getType(), nv::DataType::kFLOAT);
  EXPECT_EQ(x->getLocation(), nv::TensorLocation::kDEVICE);
  EXPECT_EQ(x->getAllowedFormats(), (1U << nv::EnumMax<nv::TensorFormat>()) - 1);
  EXPECT_FALSE(x->dynamicRangeIsSet());
  EXPECT_TRUE(std::isnan(x->getDynamicRangeMin()));
  EXPECT_TRUE(std::isnan(x->getDynamicRangeMax()));
  EXPECT_FALSE(x->getBroadcastAcrossBatch());
  EXPECT_EQ(x->getDimensionName(0), nullptr);
  EXPECT_FALSE(x->isNetworkOutput());
  EXPECT_FALSE(w->isDebugTensor(*x));
}

TEST(Defaults, OfEveryLayer) {
  Workbench w;
  nv::ILayer* layer = w->addIdentity(*w.input("x", {2}));
  EXPECT_STREQ(layer->getName(), "(Unnamed Layer* 0) [Identity]");
  EXPECT_STREQ(layer->getMetadata(), "");
  EXPECT_FALSE(layer->precisionIsSet());
  EXPECT_FALSE(layer->outputTypeIsSet(0));
  EXPECT_EQ(layer->getOutputType(0), nv::DataType::kFLOAT);
  EXPECT_EQ(layer->getNbRanks(), 1);
  EXPECT_STREQ(layer->getOutput(0)->getName(), "(Unnamed Layer* 0) [Identity]_output");
}

TEST(Defaults, OfAProfile) {
  Workbench w;
  nv::IOptimizationProfile* p = w.builder->createOptimizationProfile();
  EXPECT_EQ(p->getExtraMemoryTarget(), 1.0F);
  EXPECT_EQ(p->getDimensions("x", nv::OptProfileSelector::kMIN).nbDims, -1);
  EXPECT_EQ(p->getNbShapeValues("x"), -1);
  EXPECT_EQ(p->getShapeValuesV2("x", nv::OptProfileSelector::kMIN), nullptr);
  EXPECT_TRUE(p->isValid());  // there is nothing that it contradicts
}

/// The windows of convolutions, deconvolutions and poolings.
template <class L>
void expect_plain_window(const L& layer) {
  EXPECT_EQ(list(layer.getStrideNd()), (Extents{1, 1}));
  EXPECT_EQ(list(layer.getPaddingNd()), (Extents{0, 0}));
  EXPECT_EQ(list(layer.getPrePadding()), (Extents{0, 0}));
  EXPECT_EQ(list(layer.getPostPadding()), (Extents{0, 0}));
  EXPECT_EQ(layer.getPaddingMode(), nv::PaddingMode::kEXPLICIT_ROUND_DOWN);
}

TEST(Defaults, OfWindows) {
  Workbench w;
  const Values kernel(9, 1);
  nv::ITensor* x = w.input("x", {1, 1, 5, 5});
  const nv::IConvolutionLayer* c = w->addConvolutionNd(*x, 1, dims({3, 3}), weights(kernel), no_weights());
  expect_plain_window(*c);
  EXPECT_EQ(c->getNbGroups(), 1);
  EXPECT_EQ(list(c->getDilationNd()), (Extents{1, 1}));
  const nv::IDeconvolutionLayer* d = w->addDeconvolutionNd(*x, 1, dims({3, 3}), weights(kernel), no_weights());
  expect_plain_window(*d);
  EXPECT_EQ(d->getNbGroups(), 1);
  EXPECT_EQ(list(d->getDilationNd()), (Extents{1, 1}));
  const nv::IPoolingLayer* p = w->addPoolingNd(*x, nv::PoolingType::kMAX, dims({3, 3}));
  expect_plain_window(*p);
  EXPECT_EQ(p->getBlendFactor(), 0.0F);
  EXPECT_TRUE(p->getAverageCountExcludesPadding());
}

TEST(Defaults, OfLayersWithAnAxis) {
  Workbench w;
  nv::ITensor *image = w.input("image", {1, 3, 4, 5}), *row = w.input("row", {4, 5}),
              *at = w.input("at", {2}, nv::DataType::kINT32);
  EXPECT_EQ(w->addSoftMax(*image)->getAxes(), 1U << 1);
  EXPECT_EQ(w->addSoftMax(*row)->getAxes(), 1U << 0);
  nv::ITensor* const images[] = {image, image};
  EXPECT_EQ(w->addConcatenation(images, 2)->getAxis(), 1);
  nv::ITensor* const rows[] = {row, row};
  EXPECT_EQ(w->addConcatenation(rows, 2)->getAxis(), 0);
  const nv::IGatherLayer* gather = w->addGather(*row, *at, 0);
  EXPECT_EQ(gather->getMode(), nv::GatherMode::kDEFAULT);
  EXPECT_EQ(gather->getGatherAxis(), 0);
  EXPECT_EQ(gather->getNbElementWiseDims(), 0);
}

TEST(Defaults, OfLayersThatMoveElements) {
  Workbench w;
  nv::ITensor* x = w.input("x", {1, 2, 4, 5});
  const nv::IShuffleLayer* shuffle = w->addShuffle(*x);
  for (int32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(shuffle->getFirstTranspose().order[i], i);
    EXPECT_EQ(shuffle->getSecondTranspose().order[i], i);
  }
  EXPECT_TRUE(shuffle->getZeroIsPlaceholder());
  const nv::ISliceLayer* slice = w->addSlice(*x, dims({0, 0, 0, 0}), dims({1, 2, 4, 5}), dims({1, 1, 1, 1}));
  EXPECT_EQ(slice->getMode(), nv::SampleMode::kSTRICT_BOUNDS);
  const nv::IResizeLayer* resize = w->addResize(*x);
  EXPECT_EQ(resize->getResizeMode(), nv::InterpolationMode::kNEAREST);
  EXPECT_EQ(resize->getCoordinateTransformation(), nv::ResizeCoordinateTransformation::kASYMMETRIC);
  EXPECT_EQ(resize->getSelectorForSinglePixel(), nv::ResizeSelector::kFORMULA);
  EXPECT_EQ(resize->getNearestRounding(), nv::ResizeRoundMode::kFLOOR);
  EXPECT_EQ(resize->getCubicCoeff(), -0.75F);
  EXPECT_FALSE(resize->getExcludeOutside());
  EXPECT_EQ(resize->getScales(0, nullptr), 0);
}

TEST(Defaults, OfLayersThatCompute) {
  Workbench w;
  const Values one(1, 1);
  nv::ITensor* x = w.input("x", {1, 2, 4, 5});
  nv::ITensor* scale = w->addConstant(dims({1, 1, 1, 1}), weights(one))->getOutput(0);
  const nv::INormalizationLayer* norm = w->addNormalization(*x, *scale, *scale, 1U << 3);
  EXPECT_EQ(norm->getEpsilon(), 1e-5F);
  EXPECT_EQ(norm->getNbGroups(), 1);
  EXPECT_EQ(norm->getComputePrecision(), nv::DataType::kFLOAT);
  const nv::IFillLayer* fill = w->addFill(dims({2}), nv::FillOperation::kLINSPACE, nv::DataType::kFLOAT);
  EXPECT_EQ(fill->getAlpha(), 0.0);
  EXPECT_EQ(fill->getBeta(), 1.0);
  EXPECT_FALSE(fill->isAlphaBetaInt64());
  EXPECT_EQ(fill->getToType(), nv::DataType::kFLOAT);
}

/// A program that goes over a network's layers casts each to the class that its type names.
TEST(Layers, EveryOpIsALayerOfAPublicClass) {
  Workbench w;
  auto& network = static_cast<Network&>(*w.network);
  for (const OpInfo* op : all_ops()) {
    const std::vector<ir::ValueId> inputs(static_cast<size_t>(op->min_inputs), ir::ValueId::kNone);
    network.graph().add_lazily(Op(*op, op->make_default()), inputs, std::string(op->name));
  }
  ASSERT_EQ(w->getNbLayers(), static_cast<int32_t>(all_ops().size()));
  for (int32_t i = 0; i < w->getNbLayers(); ++i) {
    nv::ILayer* layer = w->getLayer(i);
    ASSERT_NE(layer, nullptr) << all_ops()[static_cast<size_t>(i)]->name << ": " << w.take_error();
    EXPECT_NE(layer->getType(), nv::LayerType::kPLUGIN) << layer->getName();
    const std::string name = layer->getName();
    const auto is = [&](const char* op, nv::LayerType type) { EXPECT_TRUE(name != op || layer->getType() == type); };
    is("Scatter", nv::LayerType::kSCATTER);
    is("Expand", nv::LayerType::kSLICE);
    is("DimValues", nv::LayerType::kSHAPE);
    is("Transpose", nv::LayerType::kSHUFFLE);
  }
}

/// Layers that the parser made for itself have names too.
TEST(Layers, AndTheirTensorsHaveNames) {
  Workbench w;
  const ir::ValueId x = static_cast<const Tensor*>(w.input("x", {3}))->value();
  auto& network = static_cast<Network&>(*w.network);
  const ir::ValueId first = *network.graph().add_one(ops::Identity{}, {x}, "");
  const ir::ValueId second = *network.graph().add_one(ops::Identity{}, {first}, "");
  EXPECT_STREQ(network.tensor(second).getName(), "(Unnamed Layer* 1) [Identity]_output");
  EXPECT_STREQ(w->getLayer(0)->getName(), "(Unnamed Layer* 0) [Identity]");
  EXPECT_STREQ(w->getLayer(1)->getName(), "(Unnamed Layer* 1) [Identity]");
  EXPECT_STREQ(w->getLayer(0)->getOutput(0)->getName(), "(Unnamed Layer* 0) [Identity]_output");
  w->markOutput(*w->getLayer(0)->getOutput(0));  // under that name
  EXPECT_EQ(w.run({{"x", {{3}, {1, 2, 3}}}}), (Values{1, 2, 3}));
}

TEST(Layers, ABroadcastIsASliceThatTakesElementsAgain) {
  Workbench w;
  nv::ITensor* x = w.input("x", {3, 1});
  auto& network = static_cast<Network&>(*w.network);
  ops::Expand expand;
  expand.dims = {2, 3, 4};
  network.graph().add_lazily(expand, std::vector{static_cast<const Tensor*>(x)->value()}, "broadcast");
  nv::ILayer* layer = w->getLayer(0);
  ASSERT_EQ(layer->getType(), nv::LayerType::kSLICE);
  auto* slice = static_cast<nv::ISliceLayer*>(layer);
  EXPECT_EQ(list(slice->getStart()), (Extents{0, 0, 0}));
  EXPECT_EQ(list(slice->getSize()), (Extents{2, 3, 4}));
  EXPECT_EQ(list(slice->getStride()), (Extents{0, 1, 0}));
  EXPECT_EQ(slice->getMode(), nv::SampleMode::kSTRICT_BOUNDS);
  slice->setSize(dims({3, 3, 4}));
  EXPECT_NE(w.take_error().find("is a broadcast"), std::string::npos);
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{3, 1}, {1, 2, 3}}}}).size(), 24U);
}

}  // namespace
}  // namespace kiln::api::testing
