#include <gtest/gtest.h>

#include <cmath>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using Values = std::vector<float>;

TEST(ActivationLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  nv::IActivationLayer* layer = w->addActivation(*w.input("x", {4}), nv::ActivationType::kRELU);
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getType(), nv::LayerType::kACTIVATION);
  layer->setActivationType(nv::ActivationType::kCLIP);
  layer->setAlpha(-1);
  layer->setBeta(2.5F);
  EXPECT_EQ(layer->getActivationType(), nv::ActivationType::kCLIP);
  EXPECT_EQ(layer->getAlpha(), -1);
  EXPECT_EQ(layer->getBeta(), 2.5F);
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{4}, {-3, -0.5F, 1, 7}}}}), (Values{-1, -0.5F, 1, 2.5F}));
}

TEST(ActivationLayer, RejectsAKindThatIsNone) {
  Workbench w;
  nv::ITensor* x = w.input("x", {4});
  EXPECT_EQ(w->addActivation(*x, static_cast<nv::ActivationType>(14)), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addActivation: type 14 is outside [0, 14)");
  nv::IActivationLayer* layer = w->addActivation(*x, nv::ActivationType::kTANH);
  layer->setActivationType(static_cast<nv::ActivationType>(-1));
  EXPECT_EQ(w.take_error(), "IActivationLayer::setActivationType: value -1 is outside [0, 14)");
  EXPECT_EQ(layer->getActivationType(), nv::ActivationType::kTANH);
}

TEST(ActivationLayer, RejectsATypeAtOnce) {
  Workbench w;
  EXPECT_EQ(w->addActivation(*w.input("x", {4}, nv::DataType::kBOOL), nv::ActivationType::kTANH), nullptr);
  EXPECT_NE(w.take_error().find("bool[4]"), std::string::npos);
  EXPECT_EQ(w->getNbLayers(), 0);
}

TEST(UnaryLayer, KeepsItsFieldAndRuns) {
  Workbench w;
  nv::IUnaryLayer* layer = w->addUnary(*w.input("x", {3}), nv::UnaryOperation::kEXP);
  layer->setOperation(nv::UnaryOperation::kSQRT);
  EXPECT_EQ(layer->getOperation(), nv::UnaryOperation::kSQRT);
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{3}, {0, 4, 9}}}}), (Values{0, 2, 3}));
}

TEST(ElementWiseLayer, KeepsItsFieldAndBroadcasts) {
  Workbench w;
  nv::ITensor *a = w.input("a", {2, 1}), *b = w.input("b", {1, 3});
  nv::IElementWiseLayer* layer = w->addElementWise(*a, *b, nv::ElementWiseOperation::kSUM);
  layer->setOperation(nv::ElementWiseOperation::kSUB);
  EXPECT_EQ(layer->getOperation(), nv::ElementWiseOperation::kSUB);
  EXPECT_EQ(layer->getNbInputs(), 2);
  EXPECT_EQ(layer->getInput(1), b);
  EXPECT_EQ(list(layer->getOutput(0)->getDimensions()), (std::vector<int64_t>{2, 3}));
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"a", {{2, 1}, {10, 20}}}, {"b", {{1, 3}, {1, 2, 3}}}}), (Values{9, 8, 7, 19, 18, 17}));
}

TEST(ElementWiseLayer, NamesBothShapes) {
  Workbench w;
  EXPECT_EQ(w->addElementWise(*w.input("a", {2}), *w.input("b", {3}), nv::ElementWiseOperation::kSUM), nullptr);
  const std::string error = w.take_error();
  EXPECT_NE(error.find("INetworkDefinition::addElementWise"), std::string::npos) << error;
  EXPECT_NE(error.find('2'), std::string::npos) << error;
  EXPECT_NE(error.find('3'), std::string::npos) << error;
}

TEST(CastLayer, KeepsItsField) {
  Workbench w;
  nv::ICastLayer* layer = w->addCast(*w.input("x", {3}), nv::DataType::kHALF);
  EXPECT_EQ(layer->getOutput(0)->getType(), nv::DataType::kHALF);
  layer->setToType(nv::DataType::kINT32);
  EXPECT_EQ(layer->getToType(), nv::DataType::kINT32);
  EXPECT_EQ(layer->getOutput(0)->getType(), nv::DataType::kINT32);
  w.mark(w->addCast(*layer->getOutput(0), nv::DataType::kFLOAT)->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{3}, {1.75F, -1.75F, 0.25F}}}}), (Values{1, -1, 0}));
}

// docs/adr/0006: 70000 and 1e-9 are beyond FP16's range, 2049 is between two of its numbers.
TEST(CastLayer, ToANarrowerTypeRoundsInEveryNetwork) {
  const Values x{70000, -70000, 2049, 1e-9F, 0.5F}, rounded{INFINITY, -INFINITY, 2048, 0, 0.5F};
  constexpr auto kStrongly = 1U << static_cast<uint32_t>(nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED);
  for (const nv::NetworkDefinitionCreationFlags flags : {0U, kStrongly}) {
    Workbench w(flags);
    nv::ITensor* half = w->addCast(*w.input("x", {5}), nv::DataType::kHALF)->getOutput(0);
    nv::ITensor* moved = w->addShuffle(*half)->getOutput(0);
    w.mark(w->addCast(*moved, nv::DataType::kFLOAT)->getOutput(0));
    EXPECT_EQ(w.run({{"x", {{5}, x}}}), rounded) << "flags " << flags;
  }
}

TEST(CastLayer, RoundsBetweenLayersToo) {
  Workbench w;
  nv::ITensor* x = w.input("x", {2});
  nv::ITensor* twice = w->addElementWise(*x, *x, nv::ElementWiseOperation::kSUM)->getOutput(0);
  nv::ITensor* half = w->addCast(*twice, nv::DataType::kBF16)->getOutput(0);
  nv::ITensor* sum = w->addElementWise(*half, *half, nv::ElementWiseOperation::kSUM)->getOutput(0);
  w.mark(w->addCast(*sum, nv::DataType::kFLOAT)->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{2}, {128.5F, 1}}}}), (Values{512, 4}));  // 257 is no BF16: 256 is the even neighbour
}

TEST(SelectLayer, PicksByCondition) {
  Workbench w;
  nv::ITensor *a = w.input("a", {3}), *b = w.input("b", {3});
  nv::ITensor* less = w->addElementWise(*a, *b, nv::ElementWiseOperation::kLESS)->getOutput(0);
  nv::ISelectLayer* layer = w->addSelect(*less, *a, *b);
  EXPECT_EQ(layer->getType(), nv::LayerType::kSELECT);
  EXPECT_EQ(layer->getNbInputs(), 3);
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"a", {{3}, {1, 5, 3}}}, {"b", {{3}, {2, 4, 9}}}}), (Values{1, 4, 3}));
}

TEST(IdentityLayer, GivesAnInputAnOutputsName) {
  Workbench w;
  nv::IIdentityLayer* layer = w->addIdentity(*w.input("x", {2}));
  EXPECT_EQ(layer->getType(), nv::LayerType::kIDENTITY);
  w.mark(layer->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{2}, {3, 4}}}}), (Values{3, 4}));
}

TEST(ScaleLayer, TakesWeightsByChannel) {
  Workbench w;
  const Values shift{1, -1}, scale{2, 3}, power{2};
  nv::ITensor* x = w.input("x", {1, 2, 1, 2});
  nv::IScaleLayer* layer = w->addScale(*x, nv::ScaleMode::kCHANNEL, weights(shift), weights(scale), no_weights());
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->getNbInputs(), 1);
  EXPECT_EQ(layer->getMode(), nv::ScaleMode::kCHANNEL);
  EXPECT_EQ(layer->getChannelAxis(), 1);
  EXPECT_EQ(layer->getScale().values, scale.data());
  EXPECT_EQ(layer->getShift().count, 2);
  EXPECT_EQ(layer->getPower().count, 0);
  EXPECT_EQ(w->getNbLayers(), 1);
  w.mark(layer->getOutput(0));
  const std::map<std::string, Feed> feed{{"x", {{1, 2, 1, 2}, {1, 2, 3, 4}}}};
  EXPECT_EQ(w.run(feed), (Values{3, 5, 8, 11}));
  layer->setShift(no_weights());
  layer->setMode(nv::ScaleMode::kUNIFORM);
  layer->setScale({nv::DataType::kFLOAT, scale.data(), 1});
  layer->setPower(weights(power));
  EXPECT_EQ(w.run(feed), (Values{4, 16, 36, 64}));
}

TEST(ScaleLayer, WantsAnImage) {
  Workbench w;
  nv::ITensor* x = w.input("x", {2, 3});
  const Values one{1};
  EXPECT_EQ(w->addScale(*x, nv::ScaleMode::kUNIFORM, weights(one), weights(one), weights(one)), nullptr);
  EXPECT_EQ(w.take_error(),
            "INetworkDefinition::addScale: the input has rank 2; addScale needs 4 at least, addScaleNd does not");
  EXPECT_EQ(w->addScaleNd(*x, nv::ScaleMode::kUNIFORM, weights(one), weights(one), weights(one), 2), nullptr);
  EXPECT_EQ(w.take_error(), "INetworkDefinition::addScaleNd: channelAxis is 2, outside [0, 2)");
  EXPECT_NE(w->addScaleNd(*x, nv::ScaleMode::kUNIFORM, weights(one), weights(one), weights(one), 1), nullptr);
}

}  // namespace
}  // namespace kiln::api::testing
