#include <gtest/gtest.h>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using Values = std::vector<float>;
using Extents = std::vector<int64_t>;

nv::Permutation permutation(std::initializer_list<int32_t> order) {
  nv::Permutation result{};
  std::copy(order.begin(), order.end(), result.order);
  return result;
}

TEST(ShuffleLayer, TransposesReshapesTransposes) {
  Workbench w;
  nv::IShuffleLayer* layer = w->addShuffle(*w.input("x", {2, 3}));
  EXPECT_EQ(list(layer->getReshapeDimensions()), Extents{-1});
  EXPECT_TRUE(layer->getZeroIsPlaceholder());
  EXPECT_EQ(layer->getFirstTranspose().order[7], 7);
  layer->setFirstTranspose(permutation({1, 0}));
  layer->setReshapeDimensions(dims({2, -1}));
  layer->setSecondTranspose(permutation({1, 0}));
  EXPECT_EQ(layer->getFirstTranspose().order[0], 1);
  EXPECT_EQ(list(layer->getReshapeDimensions()), (Extents{2, -1}));
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), (Extents{3, 2}));
  w.mark(layer->getOutput(0));
  // 1 2 3 / 4 5 6 -> 1 4 / 2 5 / 3 6 -> 1 4 2 / 5 3 6 -> its transpose
  EXPECT_EQ(w.run({{"x", {{2, 3}, {1, 2, 3, 4, 5, 6}}}}), (Values{1, 5, 4, 3, 2, 6}));
}

TEST(ShuffleLayer, TakesItsShapeFromATensor) {
  Workbench w;
  nv::ITensor *x = w.input("x", {-1, 4}), *like = w.input("like", {-1, 2});
  nv::IShuffleLayer* layer = w->addShuffle(*x);
  layer->setReshapeDimensions(dims({-1}));
  layer->setInput(1, *w->addShape(*like)->getOutput(0));
  EXPECT_EQ(layer->getNbInputs(), 2);
  EXPECT_EQ(list(layer->getReshapeDimensions()), Extents{-1});
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), (Extents{-1, 2}));
  EXPECT_TRUE(layer->getInput(1)->isShapeTensor());
  layer->setReshapeDimensions(dims({8}));
  EXPECT_EQ(layer->getNbInputs(), 1);
}

TEST(ShuffleLayer, SaysWhyItIsNoPermutation) {
  Workbench w;
  nv::IShuffleLayer* layer = w->addShuffle(*w.input("x", {2, 3}));
  layer->setFirstTranspose(permutation({1, 1}));
  EXPECT_NE(w.take_error().find("IShuffleLayer::setFirstTranspose"), std::string::npos);
  EXPECT_EQ(layer->getFirstTranspose().order[0], 0);
  layer->setReshapeDimensions(dims({-1, -1}));
  EXPECT_EQ(w.take_error(), "IShuffleLayer::setReshapeDimensions: dimensions [-1, -1] have more than one -1");
}

TEST(SliceLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  nv::ISliceLayer* layer = w->addSlice(*w.input("x", {2, 4}), dims({0, 3}), dims({2, 2}), dims({1, -2}));
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(list(layer->getStart()), (Extents{0, 3}));
  EXPECT_EQ(list(layer->getSize()), (Extents{2, 2}));
  EXPECT_EQ(list(layer->getStride()), (Extents{1, -2}));
  EXPECT_EQ(layer->getMode(), nv::SampleMode::kSTRICT_BOUNDS);
  w.mark(layer->getOutput(0));
  const std::map<std::string, Feed> feed{{"x", {{2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}}}};
  EXPECT_EQ(w.run(feed), (Values{4, 2, 8, 6}));
  layer->setAxes(dims({1}));
  layer->setStart(dims({2}));
  layer->setSize(dims({3}));
  layer->setStride(dims({1}));
  layer->setMode(nv::SampleMode::kCLAMP);
  EXPECT_EQ(list(layer->getAxes()), Extents{1});
  EXPECT_EQ(w.run(feed), (Values{3, 4, 4, 7, 8, 8}));
}

TEST(SliceLayer, RejectsListsOfDifferentLengths) {
  Workbench w;
  EXPECT_EQ(w->addSlice(*w.input("x", {2, 4}), dims({0}), dims({2, 2}), dims({1, 1})), nullptr);
  EXPECT_EQ(w.take_error(),
            "INetworkDefinition::addSlice: start has 1 numbers, size 2 and stride 2; they must be equally many");
}

TEST(ConcatenationLayer, JoinsAlongItsAxis) {
  Workbench w;
  nv::ITensor* parts[] = {w.input("a", {1, 2}), w.input("b", {1, 1})};
  nv::IConcatenationLayer* layer = w->addConcatenation(parts, 2);
  EXPECT_EQ(layer->getAxis(), 0);
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), Extents{-1});  // extents of axis 1 differ
  w.take_error();
  layer->setAxis(1);
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), (Extents{1, 3}));
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"a", {{1, 2}, {1, 2}}}, {"b", {{1, 1}, {3}}}}), (Values{1, 2, 3}));
}

TEST(ConcatenationLayer, RejectsNullInputs) {
  Workbench w;
  EXPECT_EQ(w->addConcatenation(nullptr, 1), nullptr);
  nv::ITensor* parts[] = {w.input("a", {1, 2}), nullptr};
  EXPECT_EQ(w->addConcatenation(parts, 2), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addConcatenation: input 1 is null");
  EXPECT_EQ(w->addConcatenation(parts, 0), nullptr);
}

TEST(GatherLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  const int32_t picks[] = {1, 0, 1};
  nv::ITensor* indices = w->addConstant(dims({3}), {nv::DataType::kINT32, picks, 3})->getOutput(0);
  nv::IGatherLayer* layer = w->addGather(*w.input("x", {2, 2}), *indices, 0);
  EXPECT_EQ(layer->getMode(), nv::GatherMode::kDEFAULT);
  layer->setGatherAxis(1);
  EXPECT_EQ(layer->getGatherAxis(), 1);
  layer->setNbElementWiseDims(0);
  EXPECT_EQ(layer->getNbElementWiseDims(), 0);
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{2, 2}, {1, 2, 3, 4}}}}), (Values{2, 1, 2, 4, 3, 4}));
}

TEST(ConstantLayer, BorrowsItsWeights) {
  Workbench w;
  const Values values{1, 2, 3, 4}, others{5, 6, 7, 8};
  nv::IConstantLayer* layer = w->addConstant(dims({2, 2}), weights(values));
  EXPECT_EQ(layer->getWeights().values, values.data());
  EXPECT_EQ(list(layer->getDimensions()), (Extents{2, 2}));
  layer->setDimensions(dims({4}));
  layer->setWeights(weights(others));
  EXPECT_TRUE(w->setWeightsName(weights(others), "others"));
  EXPECT_STREQ(layer->getName(), "others");
  w.mark(w->addElementWise(*w.input("x", {4}), *layer->getOutput(0), nv::ElementWiseOperation::kSUM)->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{4}, {0, 0, 0, 1}}}}), (Values{5, 6, 7, 9}));
  EXPECT_EQ(w->addConstant(dims({3}), weights(values)), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addConstant: the weights have 4 elements; [3] has 3");
  EXPECT_EQ(w->addConstant(dims({3}), {nv::DataType::kFLOAT, nullptr, 3}), nullptr);
}

TEST(PaddingLayer, PadsAndCuts) {
  Workbench w;
  nv::IPaddingLayer* layer = w->addPaddingNd(*w.input("x", {1, 1, 2, 2}), dims({0, 0}), dims({0, 0}));
  layer->setPrePaddingNd(dims({0, 1}));
  layer->setPostPaddingNd(dims({-1, 0}));
  EXPECT_EQ(list(layer->getPrePaddingNd()), (Extents{0, 1}));
  EXPECT_EQ(list(layer->getPostPaddingNd()), (Extents{-1, 0}));
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{1, 1, 2, 2}, {1, 2, 3, 4}}}}), (Values{0, 1, 2}));
}

TEST(SqueezeAndUnsqueezeLayers, TakeConstantAxes) {
  Workbench w;
  const int64_t first = 0;
  nv::ITensor* axes = w->addConstant(dims({1}), {nv::DataType::kINT64, &first, 1})->getOutput(0);
  nv::ITensor* x = w.input("x", {1, 3});
  nv::ISqueezeLayer* squeeze = w->addSqueeze(*x, *axes);
  EXPECT_EQ(list(squeeze->getOutput(0)->getDimensions()), Extents{3});
  nv::IUnsqueezeLayer* unsqueeze = w->addUnsqueeze(*squeeze->getOutput(0), *axes);
  EXPECT_EQ(list(unsqueeze->getOutput(0)->getDimensions()), (Extents{1, 3}));
  EXPECT_EQ(squeeze->getNbInputs(), 2);
  w.mark(unsqueeze->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{1, 3}, {1, 2, 3}}}}), (Values{1, 2, 3}));
}

TEST(FillLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  nv::IFillLayer* layer = w->addFill(dims({3}), nv::FillOperation::kLINSPACE, nv::DataType::kFLOAT);
  layer->setAlpha(2);
  layer->setBeta(0.5);
  EXPECT_EQ(layer->getAlpha(), 2);
  EXPECT_EQ(layer->getBeta(), 0.5);
  EXPECT_FALSE(layer->isAlphaBetaInt64());
  EXPECT_EQ(layer->getOperation(), nv::FillOperation::kLINSPACE);
  EXPECT_EQ(list(layer->getDimensions()), Extents{3});
  EXPECT_EQ(layer->getToType(), nv::DataType::kFLOAT);
  nv::ITensor* x = w.input("x", {3});
  w.mark(w->addElementWise(*x, *layer->getOutput(0), nv::ElementWiseOperation::kSUM)->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{3}, {0, 10, 20}}}}), (Values{2, 12.5F, 23}));
  layer->setAlphaInt64(7);
  EXPECT_TRUE(layer->isAlphaBetaInt64());
  EXPECT_EQ(layer->getAlphaInt64(), 7);
  layer->setBetaInt64(INT64_MAX);
  EXPECT_NE(w.take_error().find("2^53"), std::string::npos);
}

TEST(FillLayer, FollowsItsParametersWhereNoTypeIsNamed) {
  Workbench w;
  nv::ITensor *first = w.input("first", {}, nv::DataType::kINT32), *step = w.input("step", {1}, nv::DataType::kINT32);
  nv::IFillLayer* layer = w->addFill(dims({3}), nv::FillOperation::kLINSPACE);
  EXPECT_EQ(layer->getOutput(0)->getType(), nv::DataType::kFLOAT);
  layer->setInput(1, *first);
  layer->setInput(2, *step);
  EXPECT_EQ(layer->getOutput(0)->getType(), nv::DataType::kINT32);
  EXPECT_EQ(layer->getNbInputs(), 3);
  EXPECT_EQ(layer->getInput(0), nullptr);
  layer->setAlphaInt64(1);
  layer->setBetaInt64(1);
  EXPECT_EQ(layer->getNbInputs(), 0);
  EXPECT_EQ(layer->getOutput(0)->getType(), nv::DataType::kINT64);
}

// Its elements follow from weights that may be refitted, although its first input, the shape, is absent.
TEST(FillLayer, IsMadeOfConstants) {
  Workbench w;
  const std::vector<float> first = {2}, step = {0.5F};
  nv::IFillLayer* layer = w->addFill(dims({3}), nv::FillOperation::kLINSPACE, nv::DataType::kFLOAT);
  layer->setInput(1, *w->addConstant(dims({}), weights(first))->getOutput(0));
  layer->setInput(2, *w->addConstant(dims({1}), weights(step))->getOutput(0));
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({}), (std::vector<float>{2, 2.5F, 3}));
}

TEST(ResizeLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  nv::IResizeLayer* layer = w->addResize(*w.input("x", {1, 1, 1, 2}));
  const float scales[] = {1, 1, 1, 2};
  layer->setScales(scales, 4);
  float read[4] = {};
  EXPECT_EQ(layer->getScales(4, read), 4);
  EXPECT_EQ(read[3], 2);
  EXPECT_EQ(list(layer->getOutputDimensions()), Extents{-1});
  layer->setOutputDimensions(dims({1, 1, 1, 3}));
  EXPECT_EQ(layer->getScales(0, nullptr), 0);
  layer->setResizeMode(nv::InterpolationMode::kLINEAR);
  layer->setCoordinateTransformation(nv::ResizeCoordinateTransformation::kALIGN_CORNERS);
  layer->setSelectorForSinglePixel(nv::ResizeSelector::kUPPER);
  layer->setNearestRounding(nv::ResizeRoundMode::kCEIL);
  layer->setCubicCoeff(-0.5F);
  layer->setExcludeOutside(true);
  EXPECT_EQ(layer->getResizeMode(), nv::InterpolationMode::kLINEAR);
  EXPECT_EQ(layer->getCoordinateTransformation(), nv::ResizeCoordinateTransformation::kALIGN_CORNERS);
  EXPECT_EQ(layer->getSelectorForSinglePixel(), nv::ResizeSelector::kUPPER);
  EXPECT_EQ(layer->getNearestRounding(), nv::ResizeRoundMode::kCEIL);
  EXPECT_EQ(layer->getCubicCoeff(), -0.5F);
  EXPECT_TRUE(layer->getExcludeOutside());
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{1, 1, 1, 2}, {1, 3}}}}), (Values{1, 2, 3}));
  layer->setScales(scales, 3);
  EXPECT_EQ(w.take_error(), "IResizeLayer::setScales: there are 3 scales; the input has rank 4");
}

}  // namespace
}  // namespace kiln::api::testing
