#include <gtest/gtest.h>

#include <cstdlib>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using Values = std::vector<float>;
using Extents = std::vector<int64_t>;

TEST(Network, ChecksInputs) {
  Workbench w;
  EXPECT_EQ(w->addInput(nullptr, nv::DataType::kFLOAT, dims({1})), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addInput: the name is null");
  EXPECT_NE(w.input("x", {1, -1}), nullptr);
  EXPECT_EQ(w.input("x", {1}), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addInput: there is an input 'x' already");
  EXPECT_EQ(w.input("y", {-2}), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addInput: input 'y': extent -2 in [-2]; -1 is the least");
  EXPECT_EQ(w.input("y", {2}, nv::DataType::kINT4), nullptr);
  EXPECT_EQ(w.input("y", {2}, static_cast<nv::DataType>(77)), nullptr);
  nv::Dims wrong{9, {}};
  EXPECT_EQ(w->addInput("y", nv::DataType::kFLOAT, wrong), nullptr);
  EXPECT_EQ(w->getNbInputs(), 1);
  EXPECT_STREQ(w->getInput(0)->getName(), "x");
  EXPECT_EQ(w->getInput(1), nullptr);
  EXPECT_EQ(w->getInput(-1), nullptr);
}

TEST(Network, ObjectsAreStable) {
  Workbench w;
  nv::ITensor* x = w.input("x", {2});
  nv::ILayer* first = w->addIdentity(*x);
  for (int i = 0; i < 100; ++i) w->addUnary(*x, nv::UnaryOperation::kNEG);
  EXPECT_EQ(w->getInput(0), x);
  EXPECT_EQ(w->getLayer(0), first);
  EXPECT_EQ(first->getInput(0), x);
  EXPECT_EQ(first->getOutput(0), w->getLayer(0)->getOutput(0));
  EXPECT_EQ(w->getNbLayers(), 101);
  EXPECT_EQ(w->getLayer(101), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::getLayer: index 101 is outside [0, 101)");
}

TEST(Network, NamesItsLayersAndTensors) {
  Workbench w;
  nv::ILayer* layer = w->addUnary(*w.input("x", {2}), nv::UnaryOperation::kNEG);
  EXPECT_STREQ(layer->getName(), "(Unnamed Layer* 0) [Unary]");
  EXPECT_STREQ(layer->getOutput(0)->getName(), "(Unnamed Layer* 0) [Unary]_output");
  layer->setName("negate");
  EXPECT_STREQ(layer->getName(), "negate");
  layer->setName(nullptr);
  EXPECT_EQ(w.take_error(), "ILayer::setName: name is null");
  w->setName("net");
  EXPECT_STREQ(w->getName(), "net");
  layer->setMetadata("from a test");
  EXPECT_STREQ(layer->getMetadata(), "from a test");
  w->markOutput(*layer->getOutput(0));
  layer->getOutput(0)->setName("y");  // after markOutput: the output takes the name
  EXPECT_STREQ(w->getOutput(0)->getName(), "y");
  EXPECT_EQ(w.run({{"x", {{2}, {1, 2}}}}), (Values{-1, -2}));
}

TEST(Network, MarksAndUnmarksOutputs) {
  Workbench w;
  nv::ITensor* x = w.input("x", {2});
  nv::ITensor* y = w->addIdentity(*x)->getOutput(0);
  w->markOutput(*x);
  EXPECT_NE(w.take_error().find("'x' is an input of the network"), std::string::npos);
  w->markOutput(*y);
  w->markOutput(*y);
  EXPECT_EQ(w->getNbOutputs(), 1);
  EXPECT_TRUE(y->isNetworkOutput());
  EXPECT_TRUE(x->isNetworkInput());
  w->unmarkOutput(*y);
  EXPECT_EQ(w->getNbOutputs(), 0);
  w->unmarkOutput(*y);
  EXPECT_NE(w.take_error().find("is no output of the network"), std::string::npos);
  EXPECT_EQ(w.builder->buildSerializedNetwork(*w.network, *w.config), nullptr);
  EXPECT_NE(w.take_error().find("markOutput"), std::string::npos);
}

TEST(Network, RemovesUnusedInputsOnly) {
  Workbench w;
  nv::ITensor *used = w.input("used", {2}), *unused = w.input("unused", {2});
  w->addIdentity(*used);
  w->removeTensor(*used);
  EXPECT_EQ(w->getNbInputs(), 2);
  w->removeTensor(*unused);
  EXPECT_EQ(w->getNbInputs(), 1);
  EXPECT_STREQ(w->getInput(0)->getName(), "used");
}

TEST(Network, IsEditedMidway) {
  Workbench w;
  nv::ITensor *x = w.input("x", {2, 3}), *z = w.input("z", {4, 5});
  nv::ILayer* a = w->addUnary(*x, nv::UnaryOperation::kABS);
  nv::ILayer* b = w->addUnary(*a->getOutput(0), nv::UnaryOperation::kNEG);
  EXPECT_EQ(list(b->getOutput(0)->getDimensions()), (Extents{2, 3}));
  a->setInput(0, *z);
  EXPECT_EQ(list(b->getOutput(0)->getDimensions()), (Extents{4, 5}));
  z->setDimensions(dims({7}));
  EXPECT_EQ(list(b->getOutput(0)->getDimensions()), Extents{7});
  a->setInput(1, *x);
  EXPECT_NE(w.take_error().find("index 1 is outside [0, 1)"), std::string::npos);
  b->getOutput(0)->setDimensions(dims({1}));
  EXPECT_NE(w.take_error().find("is no input of the network"), std::string::npos);
}

TEST(Network, IsBuiltTwiceAndBetweenEdits) {
  Workbench w;
  nv::IUnaryLayer* layer = w->addUnary(*w.input("x", {2}), nv::UnaryOperation::kNEG);
  w.mark(layer->getOutput(0));
  const std::map<std::string, Feed> feed{{"x", {{2}, {1, -2}}}};
  EXPECT_EQ(w.run(feed), (Values{-1, 2}));
  EXPECT_EQ(w.run(feed), (Values{-1, 2}));
  layer->setOperation(nv::UnaryOperation::kABS);
  EXPECT_EQ(w.run(feed), (Values{1, 2}));
}

TEST(Network, TellsOfACycle) {
  Workbench w;
  nv::ITensor* x = w.input("x", {2});
  nv::ILayer* a = w->addUnary(*x, nv::UnaryOperation::kABS);
  nv::ILayer* b = w->addUnary(*a->getOutput(0), nv::UnaryOperation::kNEG);
  w.mark(b->getOutput(0));
  a->setInput(0, *b->getOutput(0));
  EXPECT_EQ(b->getOutput(0)->getDimensions().nbDims, -1);
  EXPECT_EQ(w.builder->buildSerializedNetwork(*w.network, *w.config), nullptr);
  EXPECT_NE(w.take_error().find("cycle"), std::string::npos);
}

TEST(Network, RejectsTensorsOfAnotherNetwork) {
  Workbench w, other;
  nv::ITensor* theirs = other.input("theirs", {2});
  EXPECT_EQ(w->addIdentity(*theirs), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addIdentity: input 'theirs' belongs to another network");
}

template <class T>
T& null_reference() {
  T* volatile none = nullptr;
  return *none;
}

TEST(Network, SurvivesNullReferences) {
  Workbench w;
  auto& none = null_reference<nv::ITensor>();
  nv::ITensor* x = w.input("x", {1, 2, 3, 4});
  EXPECT_EQ(w->addActivation(none, nv::ActivationType::kRELU), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addActivation: input is null");
  EXPECT_EQ(w->addElementWise(*x, none, nv::ElementWiseOperation::kSUM), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addElementWise: input2 is null");
  EXPECT_EQ(w->addShuffle(none), nullptr);
  EXPECT_EQ(w->addSelect(none, none, none), nullptr);
  EXPECT_EQ(w->addPoolingNd(*x, nv::PoolingType::kMAX, null_reference<nv::Dims>()), nullptr);
  EXPECT_EQ(w->addInput("z", nv::DataType::kFLOAT, null_reference<nv::Dims>()), nullptr);
  EXPECT_EQ(w->addConvolutionNd(none, 1, dims({1, 1}), no_weights(), no_weights()), nullptr);
  w->markOutput(none);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::markOutput: tensor is null");
  w->unmarkOutput(none);
  w->removeTensor(none);
  w->addShuffle(*x)->setInput(0, none);
  EXPECT_EQ(w.take_error(), "ILayer::setInput: tensor is null");
  EXPECT_EQ(w.builder->buildSerializedNetwork(null_reference<nv::INetworkDefinition>(), *w.config), nullptr);
  EXPECT_EQ(w.take_error(), "IBuilder::buildSerializedNetwork: the network is null");
  EXPECT_EQ(w.builder->buildSerializedNetwork(*w.network, null_reference<nv::IBuilderConfig>()), nullptr);
}

TEST(Network, AResidualThatIsAlsoConvolvedIsNotOverwritten) {
  constexpr int64_t kChannels = 8, kSize = 40;
  Workbench w;
  w.config->clearFlag(nv::BuilderFlag::kTF32);  // exact sums
  nv::IActivationLayer* x = w->addActivation(*w.input("x", {1, kChannels, kSize, kSize}), nv::ActivationType::kRELU);
  const std::vector<float> ones(kChannels * kChannels * 9, 1.0F);
  nv::IConvolutionLayer* conv =
      w->addConvolutionNd(*x->getOutput(0), kChannels, dims({3, 3}), weights(ones), no_weights());
  conv->setPaddingNd(dims({1, 1}));
  nv::ITensor* sum =
      w->addElementWise(*conv->getOutput(0), *x->getOutput(0), nv::ElementWiseOperation::kSUM)->getOutput(0);
  w.mark(w->addReduce(*sum, nv::ReduceOperation::kSUM, 1U << 1, true)->getOutput(0));
  // One pixel is lit in every channel: each channel has 8 around it, and 9 on it.
  std::vector<float> values(kChannels * kSize * kSize, 0);
  for (int64_t c = 0; c < kChannels; ++c) values[static_cast<size_t>((c * kSize + 20) * kSize + 20)] = 1;
  const std::vector<float> y = w.run({{"x", {{1, kChannels, kSize, kSize}, values}}});
  ASSERT_EQ(y.size(), size_t{kSize * kSize});
  for (int64_t row = 0; row < kSize; ++row)
    for (int64_t column = 0; column < kSize; ++column) {
      const bool near = std::abs(row - 20) <= 1 && std::abs(column - 20) <= 1, lit = row == 20 && column == 20;
      ASSERT_EQ(y[static_cast<size_t>(row * kSize + column)], lit ? 72 : near ? 64 : 0) << row << ", " << column;
    }
}

TEST(Network, SaysWhatIsNotInKilnYet) {
  Workbench w;
  nv::ITensor* x = w.input("x", {1, 2, 3, 4});
  static_cast<void>(x);
  EXPECT_FALSE(w->markWeightsRefittable("w"));
  EXPECT_EQ(w.take_error(), "INetworkDefinition::markWeightsRefittable: not in Kiln yet");
  EXPECT_EQ(w.logger.errors.size(), 0U);
}

/// A layer whose settings came later is checked when its tensors are looked at: the error is of it, and says so.
TEST(Network, ErrorsOfLayersBeforeAreTheirs) {
  Workbench w;
  nv::ISliceLayer* slice = w->addSlice(*w.input("x", {2}), dims({5}), dims({1}), dims({1}));
  slice->setName("cut");
  slice->getOutput(0)->setName("piece");
  EXPECT_EQ(w->addSoftMax(*slice->getOutput(0)), nullptr);
  ASSERT_EQ(w.logger.errors.size(), 1U);
  const std::string& error = w.logger.errors[0];
  EXPECT_TRUE(error.starts_with("INetworkDefinition::addSoftMax: the rank of 'piece' is not known: Slice 'cut': "))
      << error;
}

TEST(Network, KnowsItsFlags) {
  constexpr auto kStrong = nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED;
  Workbench w(1U << static_cast<uint32_t>(kStrong) | 1U);
  EXPECT_TRUE(w->getFlag(kStrong));
  EXPECT_FALSE(w->hasImplicitBatchDimension());
  EXPECT_EQ(w->getFlags(), 3U);
  EXPECT_EQ(&w->getBuilder(), w.builder.get());
  EXPECT_EQ(w.builder->createNetworkV2(1U << 4), nullptr);
  nv::ILayer* layer = w->addIdentity(*w.input("x", {2}));
  layer->setPrecision(nv::DataType::kHALF);
  EXPECT_FALSE(layer->precisionIsSet());
  EXPECT_NE(w.take_error().find("strongly typed"), std::string::npos);
}

}  // namespace
}  // namespace kiln::api::testing
