#include <gtest/gtest.h>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using Values = std::vector<float>;
using Extents = std::vector<int64_t>;

TEST(TopKLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  nv::ITopKLayer* layer = w->addTopK(*w.input("x", {2, 4}), nv::TopKOperation::kMAX, 2, 1u << 1);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getType(), nv::LayerType::kTOPK);
  EXPECT_EQ(layer->getNbOutputs(), 2);
  EXPECT_EQ(layer->getOperation(), nv::TopKOperation::kMAX);
  EXPECT_EQ(layer->getK(), 2);
  EXPECT_EQ(layer->getReduceAxes(), 2u);
  EXPECT_EQ(layer->getIndicesType(), nv::DataType::kINT32);
  EXPECT_EQ(layer->getOutput(1)->getType(), nv::DataType::kINT32);
  w.mark(layer->getOutput(0));
  const std::map<std::string, Feed> feed{{"x", {{2, 4}, {1, 3, 2, 3, 8, 5, 7, 6}}}};
  EXPECT_EQ(w.run(feed), (Values{3, 3, 8, 7}));
  layer->setOperation(nv::TopKOperation::kMIN);
  layer->setK(1);
  EXPECT_EQ(w.run(feed), (Values{1, 5}));
  layer->setReduceAxes(1u << 0);
  EXPECT_TRUE(layer->setIndicesType(nv::DataType::kINT64));
  EXPECT_EQ(layer->getOutput(1)->getType(), nv::DataType::kINT64);
  EXPECT_EQ(list(layer->getOutput(1)->getDimensions()), (Extents{1, 4}));
  EXPECT_EQ(w.run(feed), (Values{1, 3, 2, 3}));
}

TEST(TopKLayer, GivesIndicesAlone) {
  Workbench w;
  nv::ITopKLayer* layer = w->addTopK(*w.input("x", {2, 4}), nv::TopKOperation::kMAX, 3, 1u << 1, nv::DataType::kINT64);
  w.mark(w->addCast(*layer->getOutput(1), nv::DataType::kFLOAT)->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{2, 4}, {1, 3, 2, 3, 8, 5, 7, 6}}}}), (Values{1, 3, 2, 0, 2, 3}));
}

TEST(TopKLayer, TakesKFromATensor) {
  Workbench w;
  nv::ITensor* like = w->addShape(*w.input("like", {-1}))->getOutput(0);
  nv::ITopKLayer* layer = w->addTopK(*w.input("x", {4}), nv::TopKOperation::kMAX, 1, 1u << 0);
  layer->setInput(1, *like);
  EXPECT_EQ(layer->getNbInputs(), 2);
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), Extents{-1});
  layer->setK(2);
  EXPECT_EQ(layer->getNbInputs(), 1);
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), Extents{2});
}

TEST(TopKLayer, RunsWithAScalarForK) {
  Workbench w;
  nv::ITopKLayer* layer = w->addTopK(*w.input("x", {4}), nv::TopKOperation::kMAX, 1, 1u << 0);
  const int32_t three = 3;
  layer->setInput(1, *w->addConstant(dims({}), {nv::DataType::kINT32, &three, 1})->getOutput(0));
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{4}, {5, 6, 8, 7}}}}), (Values{8, 7, 6}));
}

TEST(TopKLayer, SaysWhatIsWrong) {
  Workbench w;
  nv::ITensor* x = w.input("x", {2, 4});
  EXPECT_EQ(w->addTopK(*x, nv::TopKOperation::kMAX, 2, 3u), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addTopK: reduceAxes are [0, 1]; a TopK has one axis");
  EXPECT_EQ(w->addTopK(*x, nv::TopKOperation::kMAX, -2, 1u), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addTopK: k is -2; a count is needed");
  EXPECT_EQ(w->addTopK(*x, nv::TopKOperation::kMAX, 2, 1u, nv::DataType::kHALF), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addTopK: indices of f16; kINT32 or kINT64 needed");
  nv::ITopKLayer* layer = w->addTopK(*x, nv::TopKOperation::kMAX, 5, 2u);
  layer->setName("best");
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), Extents{-1});
  EXPECT_NE(w.take_error().find("k 5 is above extent 4 of axis 1 of x f32[2, 4]"), std::string::npos);
}

TEST(ScatterLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  const int32_t picks[] = {2, 0};
  nv::ITensor* indices = w->addConstant(dims({1, 2}), {nv::DataType::kINT32, picks, 2})->getOutput(0);
  nv::IScatterLayer* layer =
      w->addScatter(*w.input("data", {2, 3}), *indices, *w.input("updates", {1, 2}), nv::ScatterMode::kELEMENT);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getAxis(), 0);
  layer->setAxis(1);
  EXPECT_EQ(layer->getMode(), nv::ScatterMode::kELEMENT);
  EXPECT_EQ(layer->getAxis(), 1);
  w.mark(layer->getOutput(0));
  const std::map<std::string, Feed> feed{{"data", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"updates", {{1, 2}, {8, 9}}}};
  EXPECT_EQ(w.run(feed), (Values{9, 2, 8, 4, 5, 6}));
  EXPECT_EQ(w->addScatter(*w.input("x", {2}), *indices, *indices, static_cast<nv::ScatterMode>(7)), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addScatter: mode 7 is outside [0, 2)");
}

TEST(OneHotLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  const int32_t classes[] = {1, -1, 7}, three = 3;
  const Values off_on{-1, 5};
  nv::ITensor* indices = w->addConstant(dims({3}), {nv::DataType::kINT32, classes, 3})->getOutput(0);
  nv::ITensor* depth = w->addConstant(dims({}), {nv::DataType::kINT32, &three, 1})->getOutput(0);
  nv::IOneHotLayer* layer = w->addOneHot(*indices, *w.input("values", {2}), *depth, -1);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getAxis(), 1);
  w.mark(layer->getOutput(0));
  const std::map<std::string, Feed> feed{{"values", {{2}, off_on}}};
  EXPECT_EQ(w.run(feed), (Values{-1, 5, -1, -1, -1, 5, -1, -1, -1}));
  layer->setAxis(0);
  EXPECT_EQ(layer->getAxis(), 0);
  EXPECT_EQ(w.run(feed), (Values{-1, -1, -1, 5, -1, -1, -1, 5, -1}));
  EXPECT_EQ(w->addOneHot(*indices, *w.input("x", {3}), *depth, -1), nullptr);
  EXPECT_NE(w.take_error().find("values are f32[3]; two are needed, off and on"), std::string::npos);
}

/// The first extent of a tensor.
nv::ITensor* first_extent(Workbench& w, nv::ITensor& x) {
  return w->addSlice(*w->addShape(x)->getOutput(0), dims({0}), dims({1}), dims({1}))->getOutput(0);
}

TEST(AssertionLayer, IsCheckedWhenShapesAreBound) {
  Workbench w;
  nv::ITensor *a = w.input("a", {-1}), *b = w.input("b", {-1});
  const int64_t one = 1;
  nv::ITensor* more =
      w->addElementWise(*first_extent(w, *b), *w->addConstant(dims({1}), {nv::DataType::kINT64, &one, 1})->getOutput(0),
                        nv::ElementWiseOperation::kSUM)
          ->getOutput(0);
  nv::ITensor* equal = w->addElementWise(*first_extent(w, *a), *more, nv::ElementWiseOperation::kEQUAL)->getOutput(0);
  nv::IAssertionLayer* layer = w->addAssertion(*equal, "oops");
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getNbOutputs(), 0);
  EXPECT_STREQ(layer->getMessage(), "oops");
  layer->setMessage("a is one longer than b");
  EXPECT_STREQ(layer->getMessage(), "a is one longer than b");
  w.mark(w->addUnary(*a, nv::UnaryOperation::kNEG)->getOutput(0), "y");
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  for (const char* name : {"a", "b"}) {
    profile->setDimensions(name, nv::OptProfileSelector::kMIN, dims({1}));
    profile->setDimensions(name, nv::OptProfileSelector::kOPT, dims({3}));
    profile->setDimensions(name, nv::OptProfileSelector::kMAX, dims({9}));
  }
  profile->setDimensions("a", nv::OptProfileSelector::kOPT, dims({4}));
  w.config->addOptimizationProfile(profile);
  EXPECT_EQ(w.run({{"a", {{3}, {1, 2, 3}}}, {"b", {{2}, {1, 2}}}}), (Values{-1, -2, -3}));
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(w.logger));
  const std::unique_ptr<nv::ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  Shared<float> data(9);
  for (const char* name : {"a", "b"}) context->setInputShape(name, dims({3}));
  std::vector<void*> bindings(3, data.data());
  EXPECT_FALSE(context->executeV2(bindings.data()));
  ASSERT_FALSE(w.logger.errors.empty());
  EXPECT_NE(w.logger.errors.back().find("a is one longer than b"), std::string::npos) << w.logger.errors.back();
}

TEST(AssertionLayer, FailsAtBuildWhereItIsKnown) {
  Workbench w;
  const bool flags[] = {true, false};
  nv::ITensor* condition = w->addConstant(dims({2}), {nv::DataType::kBOOL, flags, 2})->getOutput(0);
  EXPECT_EQ(w->addAssertion(*condition, nullptr), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addAssertion: message is null");
  nv::ITensor* x = w.input("x", {2});
  EXPECT_EQ(w->addAssertion(*x, "oops"), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addAssertion: the condition is f32[2]; booleans are needed");
  w.mark(w->addUnary(*x, nv::UnaryOperation::kNEG)->getOutput(0), "y");
  ASSERT_NE(w->addAssertion(*condition, "oops"), nullptr);
  EXPECT_EQ(w.take_error(), "");
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  EXPECT_EQ(plan, nullptr);
  EXPECT_NE(w.take_error().find("the assertion 'oops' does not hold"), std::string::npos);
}

TEST(EinsumLayer, KeepsItsEquationAndRuns) {
  Workbench w;
  nv::ITensor* inputs[] = {w.input("a", {2, 2}), w.input("b", {2, 2})};
  nv::IEinsumLayer* layer = w->addEinsum(inputs, 2, "ij,jk->ik");
  ASSERT_NE(layer, nullptr);
  EXPECT_STREQ(layer->getEquation(), "ij,jk->ik");
  w.mark(layer->getOutput(0));
  const std::map<std::string, Feed> feed{{"a", {{2, 2}, {1, 2, 3, 4}}}, {"b", {{2, 2}, {5, 6, 7, 8}}}};
  EXPECT_EQ(w.run(feed), (Values{19, 22, 43, 50}));
  EXPECT_TRUE(layer->setEquation("ij,jk->ki"));
  EXPECT_EQ(w.run(feed), (Values{19, 43, 22, 50}));
  EXPECT_FALSE(layer->setEquation("ij->ji"));
  EXPECT_EQ(w.take_error(), "IEinsumLayer::setEquation: equation 'ij->ji' does not fit 2 operands");
  EXPECT_STREQ(layer->getEquation(), "ij,jk->ki");
  EXPECT_EQ(w->addEinsum(inputs, 2, nullptr), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addEinsum: equation is null");
  EXPECT_EQ(w->addEinsum(inputs, 0, "->"), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addEinsum: there are 0 inputs; one at least is needed");
  EXPECT_EQ(w->addEinsum(nullptr, 1, "i->i"), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addEinsum: inputs are null");
}

TEST(EinsumLayer, AnExtentOf1RepeatsWhereItIsSummedOver) {
  Workbench w;
  nv::ITensor* inputs[] = {w.input("a", {2, 1}), w.input("b", {2, 2})};
  w.mark(w->addEinsum(inputs, 2, "ij,jk->ik")->getOutput(0));
  EXPECT_EQ(w.run({{"a", {{2, 1}, {1, 10}}}, {"b", {{2, 2}, {5, 6, 7, 8}}}}), (Values{12, 14, 120, 140}));
}

TEST(ReverseSequenceLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  const int32_t lengths[] = {2, 3};
  nv::ITensor* lens = w->addConstant(dims({2}), {nv::DataType::kINT32, lengths, 2})->getOutput(0);
  nv::IReverseSequenceLayer* layer = w->addReverseSequence(*w.input("x", {3, 2}), *lens);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getBatchAxis(), 1);
  EXPECT_EQ(layer->getSequenceAxis(), 0);
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{3, 2}, {1, 2, 3, 4, 5, 6}}}}), (Values{3, 6, 1, 4, 5, 2}));
  nv::IReverseSequenceLayer* rows = w->addReverseSequence(*w.input("rows", {2, 3}), *lens);
  rows->setBatchAxis(0);
  rows->setSequenceAxis(1);
  EXPECT_EQ(rows->getBatchAxis(), 0);
  EXPECT_EQ(rows->getSequenceAxis(), 1);
  EXPECT_EQ(list(rows->getOutput(0)->getDimensions()), (Extents{2, 3}));
}

TEST(CumulativeLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  const int32_t one = 1;
  nv::ITensor* axis = w->addConstant(dims({}), {nv::DataType::kINT32, &one, 1})->getOutput(0);
  nv::ICumulativeLayer* layer =
      w->addCumulative(*w.input("x", {2, 3}), *axis, nv::CumulativeOperation::kSUM, false, true);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getOperation(), nv::CumulativeOperation::kSUM);
  EXPECT_TRUE(layer->setOperation(nv::CumulativeOperation::kSUM));
  EXPECT_FALSE(layer->getExclusive());
  EXPECT_TRUE(layer->getReverse());
  w.mark(layer->getOutput(0));
  const std::map<std::string, Feed> feed{{"x", {{2, 3}, {1, 2, 3, 4, 5, 6}}}};
  EXPECT_EQ(w.run(feed), (Values{6, 5, 3, 15, 11, 6}));
  layer->setReverse(false);
  layer->setExclusive(true);
  EXPECT_EQ(w.run(feed), (Values{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(w->addCumulative(*w.input("i", {2}), *w.input("axis", {}, nv::DataType::kINT32),
                             nv::CumulativeOperation::kSUM, false, false),
            nullptr);
  EXPECT_NE(w.take_error().find("a constant is needed"), std::string::npos);
}

TEST(GridSampleLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  nv::IGridSampleLayer* layer = w->addGridSample(*w.input("x", {1, 1, 2, 2}), *w.input("grid", {1, 1, 2, 2}));
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getInterpolationMode(), nv::InterpolationMode::kLINEAR);
  EXPECT_FALSE(layer->getAlignCorners());
  EXPECT_EQ(layer->getSampleMode(), nv::SampleMode::kFILL);
  w.mark(layer->getOutput(0));
  const std::map<std::string, Feed> feed{{"x", {{1, 1, 2, 2}, {1, 2, 3, 4}}},
                                         {"grid", {{1, 1, 2, 2}, {-1, -1, -0.5, 0.5}}}};
  EXPECT_EQ(w.run(feed), (Values{0.25, 3}));
  EXPECT_TRUE(layer->setSampleMode(nv::SampleMode::kCLAMP));
  EXPECT_EQ(w.run(feed), (Values{1, 3}));
  layer->setAlignCorners(true);
  EXPECT_EQ(w.run(feed), (Values{1, 2.75}));
  layer->setInterpolationMode(nv::InterpolationMode::kNEAREST);
  EXPECT_EQ(w.run(feed), (Values{1, 3}));
  EXPECT_FALSE(layer->setSampleMode(nv::SampleMode::kWRAP));
  EXPECT_EQ(w.take_error(), "IGridSampleLayer::setSampleMode: mode is wrap; kFILL, kCLAMP or kREFLECT is needed");
  EXPECT_EQ(layer->getSampleMode(), nv::SampleMode::kCLAMP);
}

}  // namespace
}  // namespace kiln::api::testing
