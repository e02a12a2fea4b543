#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using nv::BuilderFlag;
using nv::DataType;

/// y = x * x / 1000: for x = 300 the product leaves FP16's range, the result does not.
struct Overflows : Workbench {
  Overflows() {
    nv::ITensor* const x = input("x", {1, 4});
    product = (*this)->addElementWise(*x, *x, nv::ElementWiseOperation::kPROD);
    product->setName("product");
    const std::vector<float> thousandth{0.001f};
    numbers = thousandth;
    nv::ITensor* const scale = (*this)->addConstant(dims({1, 1}), weights(numbers))->getOutput(0);
    scaled = (*this)->addElementWise(*product->getOutput(0), *scale, nv::ElementWiseOperation::kPROD);
    scaled->setName("scaled");
    mark(scaled->getOutput(0));
  }
  std::vector<float> run() { return Workbench::run({{"x", {{1, 4}, {1, 10, 300, -300}}}}); }
  std::string error_of_build() {
    EXPECT_FALSE(std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config)));
    return take_error();
  }
  std::vector<std::string> warnings_of_build() {
    logger.warnings.clear();
    EXPECT_TRUE(std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config)));
    return logger.warnings;
  }
  std::vector<float> numbers;
  nv::ILayer *product, *scaled;
};
using Texts = std::vector<std::string>;

bool are_right(const std::vector<float>& y, float tolerance) {
  const float wanted[] = {0.001f, 0.1f, 90, 90};
  for (size_t i = 0; i < 4; ++i)
    if (!(std::abs(y[i] - wanted[i]) <= tolerance * wanted[i])) return false;
  return y.size() == 4;
}

TEST(Precisions, AFloatLayerStaysInFloat) {
  for (const BuilderFlag flag :
       {BuilderFlag::kOBEY_PRECISION_CONSTRAINTS, BuilderFlag::kPREFER_PRECISION_CONSTRAINTS}) {
    Overflows w;
    w.config->setFlag(BuilderFlag::kFP16);
    w.config->setFlag(flag);
    w.product->setPrecision(DataType::kFLOAT);
    EXPECT_TRUE(are_right(w.run(), 2e-3f));
  }
}

TEST(Precisions, AHalfLayerHasTheRangeAndDigitsOfHalves) {
  Overflows w;
  if (w.builder->platformHasFastFp16()) GTEST_SKIP() << "a GPU keeps what one kernel computes in registers, in FP32";
  w.config->setFlag(BuilderFlag::kFP16);
  w.config->setFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS);
  w.product->setPrecision(DataType::kHALF);
  const std::vector<float> y = w.run();
  ASSERT_EQ(y.size(), 4u);
  EXPECT_NEAR(y[1], 0.1f, 2e-4f);
  EXPECT_FALSE(y[2] < 1e30f) << y[2];  // 90,000 is none of FP16's
  w.product->resetPrecision();
  w.product->setPrecision(DataType::kBF16);
  w.config->setFlag(BuilderFlag::kBF16);
  EXPECT_TRUE(are_right(w.run(), 2e-2f));
}

TEST(Precisions, AnOutputsTypeIsThatOfItsNumbers) {
  Overflows w;
  w.config->setFlag(BuilderFlag::kFP16);
  w.config->setFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS);
  w.product->setOutputType(0, DataType::kFLOAT);
  EXPECT_TRUE(are_right(w.run(), 2e-3f));
  w.product->setOutputType(0, DataType::kHALF);
  EXPECT_EQ(w.product->getOutput(0)->getType(), DataType::kHALF);
  EXPECT_TRUE(w.builder->platformHasFastFp16() || !(w.run()[2] < 1e30f));  // a GPU has it in registers, in FP32
  w.product->resetOutputType(0);
  EXPECT_EQ(w.product->getOutput(0)->getType(), DataType::kFLOAT);
}

TEST(Precisions, WhatCannotBeHadIsAnErrorOrAWarning) {
  Overflows w;
  w.product->setPrecision(DataType::kHALF);
  const std::string half = "layer 'product': precision f16 cannot be had: BuilderFlag::kFP16 is not set";
  EXPECT_EQ(w.warnings_of_build(), Texts());  // a hint, without either flag
  w.config->setFlag(BuilderFlag::kPREFER_PRECISION_CONSTRAINTS);
  EXPECT_EQ(w.warnings_of_build(), Texts{half});
  w.config->clearFlag(BuilderFlag::kPREFER_PRECISION_CONSTRAINTS);
  w.config->setFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS);
  const std::string call = "IBuilder::buildSerializedNetwork: ";
  EXPECT_EQ(w.error_of_build(), call + half);
  w.product->resetPrecision();
  w.scaled->setPrecision(DataType::kFP8);
  EXPECT_EQ(w.error_of_build(),
            call + "layer 'scaled': precision f8e4m3 cannot be had: Kiln has no kernels for ElementWise in f8e4m3");
  w.scaled->resetPrecision();
  w.product->setOutputType(0, DataType::kINT32);
  EXPECT_EQ(w.error_of_build(), call + "layer 'product': type i32 of output 0 cannot be had: the layer makes f32");
}

TEST(Precisions, BytesNeedAFlagAKernelAndARange) {
  Workbench w;
  std::vector<float> numbers(16, 0.5f);
  nv::ITensor* const x = w.input("x", {2, 4});
  nv::ITensor* const by = w->addConstant(dims({4, 4}), weights(numbers))->getOutput(0);
  nv::ILayer* const product = w->addMatrixMultiply(*x, nv::MatrixOperation::kNONE, *by, nv::MatrixOperation::kNONE);
  product->setName("product");
  nv::ILayer* const relu = w->addActivation(*product->getOutput(0), nv::ActivationType::kRELU);
  relu->setName("relu");
  w.mark(relu->getOutput(0));
  const auto error = [&] {
    EXPECT_FALSE(std::unique_ptr<nv::IHostMemory>(w.builder->buildSerializedNetwork(*w.network, *w.config)));
    return w.take_error();
  };
  const auto has = [&](const char* text) { return error().find(text) != std::string::npos; };
  w.config->setFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS);
  product->setPrecision(DataType::kINT8);
  EXPECT_TRUE(has("layer 'product': precision i8 cannot be had: BuilderFlag::kINT8 is not set"));
  w.config->setFlag(BuilderFlag::kINT8);
  EXPECT_TRUE(has("the range of its input is not known"));
  x->setDynamicRange(-2, 2);
  EXPECT_EQ(w.run({{"x", {{2, 4}, {2, 2, 2, 2, 0, 0, 0, 0}}}}), (std::vector<float>{4, 4, 4, 4, 0, 0, 0, 0}));
  nv::ILayer* const softmax = w->addSoftMax(*relu->getOutput(0));
  softmax->setName("softmax");
  w.mark(softmax->getOutput(0));
  softmax->setPrecision(DataType::kINT8);
  EXPECT_TRUE(has("layer 'softmax': precision i8 cannot be had: Kiln has no kernels for Softmax in INT8"));
}

/// What a product of bytes computes behind its sums needs no range; another layer needs that of its input.
TEST(Precisions, LayersThatAreNoProductsReadBytes) {
  Workbench w;
  std::vector<float> numbers(4, 1);
  nv::ITensor* const x = w.input("x", {1, 4});
  nv::ITensor* const by = w->addConstant(dims({4, 1}), weights(numbers))->getOutput(0);
  nv::ILayer* const absolute = w->addActivation(*x, nv::ActivationType::kRELU);
  absolute->setName("first");
  absolute->getOutput(0)->setName("positive");
  nv::ILayer* const product =
      w->addMatrixMultiply(*absolute->getOutput(0), nv::MatrixOperation::kNONE, *by, nv::MatrixOperation::kNONE);
  product->setName("product");
  nv::ILayer* const relu = w->addActivation(*product->getOutput(0), nv::ActivationType::kRELU);
  relu->setName("relu");
  w.mark(relu->getOutput(0));
  for (const BuilderFlag flag : {BuilderFlag::kOBEY_PRECISION_CONSTRAINTS, BuilderFlag::kINT8}) w.config->setFlag(flag);
  for (nv::ILayer* layer : {product, relu}) layer->setPrecision(DataType::kINT8);
  absolute->getOutput(0)->setDynamicRange(-12.7F, 12.7F);
  const auto run = [&] { return w.run({{"x", {{1, 4}, {0.07F, 0, 2.04F, -1}}}}).at(0); };
  EXPECT_NEAR(run(), 2.1F, 1e-6F);
  absolute->setPrecision(DataType::kINT8);
  EXPECT_FALSE(std::unique_ptr<nv::IHostMemory>(w.builder->buildSerializedNetwork(*w.network, *w.config)));
  EXPECT_NE(w.take_error().find("layer 'first' stays in float though its precision is INT8: the range of its input 'x' "
                                "is not known"),
            std::string::npos);
  x->setDynamicRange(-127, 127);
  EXPECT_NEAR(run(), 2, 1e-6F);  // 0.07 is 0 and 2.04 is 2 in bytes of x
}

TEST(Precisions, HintsAreHeededInSilence) {
  Workbench w;
  nv::ITensor* const x = w.input("x", {1, 4});
  nv::ILayer* const relu = w->addActivation(*x, nv::ActivationType::kRELU);
  relu->setName("relu");
  relu->setPrecision(DataType::kINT8);
  w.mark(relu->getOutput(0));
  w.config->setFlag(BuilderFlag::kINT8);
  x->setDynamicRange(0, 0);  // is no range
  const auto tells = [&] {
    w.logger.warnings.clear();
    EXPECT_TRUE(std::unique_ptr<nv::IHostMemory>(w.builder->buildSerializedNetwork(*w.network, *w.config)));
    return std::ranges::any_of(w.logger.warnings,
                               [](const std::string& one) { return one.contains("layer 'relu' stays in float"); });
  };
  EXPECT_FALSE(tells());
  w.config->setFlag(BuilderFlag::kPREFER_PRECISION_CONSTRAINTS);
  EXPECT_TRUE(tells());
}

TEST(Precisions, ProductsOfTwoTensorsAreNoneOfBytes) {
  Workbench w;
  nv::ITensor* const x = w.input("x", {4, 4});
  nv::ILayer* const product = w->addMatrixMultiply(*x, nv::MatrixOperation::kNONE, *x, nv::MatrixOperation::kTRANSPOSE);
  product->setName("product");
  w.mark(product->getOutput(0));
  for (const BuilderFlag flag : {BuilderFlag::kOBEY_PRECISION_CONSTRAINTS, BuilderFlag::kINT8}) w.config->setFlag(flag);
  x->setDynamicRange(-2, 2);
  product->setPrecision(DataType::kINT8);
  EXPECT_FALSE(std::unique_ptr<nv::IHostMemory>(w.builder->buildSerializedNetwork(*w.network, *w.config)));
  const std::string told = w.take_error();
  EXPECT_NE(told.find("layer 'product' stays in float though its precision is INT8: it is no product of a "),
            std::string::npos)
      << told;
}

/// A constraint on all layers is none on constants, which compute nothing.
TEST(Precisions, ConstantsAreLeftAlone) {
  Workbench w;
  std::vector<float> numbers(16, 0.5f);
  nv::ITensor* const x = w.input("x", {2, 4});
  nv::IConstantLayer* const by = w->addConstant(dims({4, 4}), weights(numbers));
  nv::ILayer* const product =
      w->addMatrixMultiply(*x, nv::MatrixOperation::kNONE, *by->getOutput(0), nv::MatrixOperation::kNONE);
  w.mark(product->getOutput(0));
  for (const BuilderFlag flag : {BuilderFlag::kOBEY_PRECISION_CONSTRAINTS, BuilderFlag::kINT8}) w.config->setFlag(flag);
  x->setDynamicRange(-2, 2);
  by->setPrecision(DataType::kINT8);
  by->setOutputType(0, DataType::kINT8);
  product->setPrecision(DataType::kINT8);
  EXPECT_EQ(w.run({{"x", {{2, 4}, {2, 2, 2, 2, 0, 0, 0, 0}}}}), (std::vector<float>{4, 4, 4, 4, 0, 0, 0, 0}));
}

/// A layer in float is not multiplied in bytes.
TEST(Precisions, AFloatLayerIsNotQuantized) {
  const auto run = [](bool in_float) {
    Workbench w;
    std::vector<float> numbers(16, 0.3f);
    nv::ITensor* const x = w.input("x", {2, 4});
    nv::ITensor* const by = w->addConstant(dims({4, 4}), weights(numbers))->getOutput(0);
    nv::ILayer* const product = w->addMatrixMultiply(*x, nv::MatrixOperation::kNONE, *by, nv::MatrixOperation::kNONE);
    w.mark(product->getOutput(0));
    w.config->setFlag(BuilderFlag::kINT8);
    w.config->clearFlag(BuilderFlag::kTF32);
    x->setDynamicRange(-100, 100);
    if (in_float) product->setPrecision(DataType::kFLOAT);
    return w.run({{"x", {{2, 4}, {0.25f, 0.25f, 0.25f, 0.25f, 0, 0, 0, 0}}}}).at(0);
  };
  EXPECT_NEAR(run(true), 0.3f, 1e-6f);
  EXPECT_EQ(run(false), 0);  // a step is 100 / 127
}

TEST(Precisions, TheInspectorShowsThem) {
  Overflows w;
  w.config->setFlag(BuilderFlag::kFP16);
  w.config->setFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS);
  w.config->setProfilingVerbosity(nv::ProfilingVerbosity::kDETAILED);
  w.product->setPrecision(DataType::kFLOAT);
  Running r(w);
  ASSERT_EQ(r.error, "");
  const std::unique_ptr<nv::IEngineInspector> inspector(r.engine->createEngineInspector());
  const std::string text = inspector->getEngineInformation(nv::LayerInformationFormat::kJSON);
  EXPECT_NE(text.find("required precision f32 of 'product'"), std::string::npos) << text;
}

}  // namespace
}  // namespace kiln::api::testing
