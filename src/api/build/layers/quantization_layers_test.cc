#include <gtest/gtest.h>

#include <cmath>

#include "api/build/testing/workbench.h"
#include "base/str.h"

namespace kiln::api::testing {
namespace {

using Values = std::vector<float>;

nv::Dims dims(std::vector<int64_t> extents) {
  nv::Dims result{};
  result.nbDims = static_cast<int32_t>(extents.size());
  std::copy(extents.begin(), extents.end(), result.d);
  return result;
}

/// The weights have to live until the network is built.
nv::ITensor* constant(Workbench& w, std::vector<int64_t> extents, const Values& values) {
  const nv::Weights weights{nv::DataType::kFLOAT, values.data(), static_cast<int64_t>(values.size())};
  return w->addConstant(dims(std::move(extents)), weights)->getOutput(0);
}

TEST(QuantizeLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  const Values scales{0.5F, 1};
  nv::ITensor *x = w.input("x", {2, 2}), *scale = constant(w, {2}, scales);
  nv::IQuantizeLayer* q = w->addQuantize(*x, *scale, nv::DataType::kINT8);
  EXPECT_EQ(q->getAxis(), -1);
  EXPECT_EQ(q->getToType(), nv::DataType::kINT8);
  EXPECT_EQ(q->getBlockShape().nbDims, 0);
  q->setAxis(1);
  EXPECT_EQ(q->getAxis(), 1);
  EXPECT_TRUE(q->setBlockShape(dims({-1, 1})));
  EXPECT_EQ(q->getBlockShape().nbDims, 2);
  EXPECT_EQ(q->getBlockShape().d[0], -1);
  EXPECT_EQ(q->getOutput(0)->getType(), nv::DataType::kINT8);
  nv::IDequantizeLayer* d = w->addDequantize(*q->getOutput(0), *scale, nv::DataType::kFLOAT);
  EXPECT_EQ(d->getAxis(), -1);
  EXPECT_EQ(d->getToType(), nv::DataType::kFLOAT);
  d->setAxis(1);
  EXPECT_EQ(d->getAxis(), 1);
  EXPECT_TRUE(d->setBlockShape(dims({-1, 1})));
  EXPECT_EQ(d->getBlockShape().nbDims, 2);
  w.mark(d->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{2, 2}, {0.75, 0.75, 1000, -1000}}}}), (Values{1, 1, 63.5, -128}));
}
TEST(QuantizeLayer, OfTwoArgumentsIsToInt8AndBackToFloat) {
  Workbench w;
  const Values two{2};
  nv::ITensor *x = w.input("x", {2}), *scale = constant(w, {}, two);
  nv::IQuantizeLayer* q = w->addQuantize(*x, *scale);
  EXPECT_EQ(q->getToType(), nv::DataType::kINT8);
  nv::IDequantizeLayer* d = w->addDequantize(*q->getOutput(0), *scale);
  EXPECT_EQ(d->getToType(), nv::DataType::kFLOAT);
  w.mark(d->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{2}, {3.1F, 300}}}}), (Values{4, 254}));
}
TEST(QuantizeLayer, HasOtherTypes) {
  Workbench w;
  const Values one{1};
  nv::ITensor *x = w.input("x", {2}), *scale = constant(w, {}, one);
  nv::IQuantizeLayer* q = w->addQuantize(*x, *scale, nv::DataType::kINT8);
  q->setToType(nv::DataType::kFP8);
  EXPECT_EQ(q->getToType(), nv::DataType::kFP8);
  nv::IDequantizeLayer* d = w->addDequantize(*q->getOutput(0), *scale, nv::DataType::kHALF);
  EXPECT_EQ(d->getOutput(0)->getType(), nv::DataType::kHALF);
  d->setToType(nv::DataType::kFLOAT);
  w.mark(d->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{2}, {1.06F, 1000}}}}), (Values{1, 448}));
}
/// Weights of INT4 in blocks of 8 along k beside floats: column 0 is of ones, column 1 of -2, and scales tell blocks.
TEST(DequantizeLayer, OfInt4WeightsInBlocks) {
  Workbench w;
  const std::vector<uint8_t> numbers(16, 0xe1);  // [16, 2]
  const nv::Weights weights{nv::DataType::kINT4, numbers.data(), 32};
  const Values scales{1, 0.5F, 2, 4};
  nv::ITensor* q = w->addConstant(dims({16, 2}), weights)->getOutput(0);
  nv::IDequantizeLayer* d = w->addDequantize(*q, *constant(w, {2, 2}, scales), nv::DataType::kFLOAT);
  EXPECT_TRUE(d->setBlockShape(dims({8, 1})));
  nv::ITensor* x = w.input("x", {1, 16});
  const auto none = nv::MatrixOperation::kNONE;
  w.mark(w->addMatrixMultiply(*x, none, *d->getOutput(0), none)->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{1, 16}, {1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3}}}}),
            (Values{8 + 2 * 24, -8 - 8 * 24}));
}
TEST(QuantizeLayer, SaysWhatIsWrong) {
  Workbench w;
  const Values ones{1, 1};
  nv::IQuantizeLayer* q = w->addQuantize(*w.input("x", {2, 2}), *constant(w, {2}, ones), nv::DataType::kINT8);
  EXPECT_FALSE(q->setBlockShape(dims({0, 1})));
  EXPECT_EQ(w.take_error(),
            "IQuantizeLayer::setBlockShape: blockShape has the extent 0; extents are positive, or -1 for a whole axis");
}

/// The error of a build of Quantize and Dequantize of x [2, 4].
struct Quantized {
  std::vector<int64_t> scale_extents = {};
  Values scales = {1};
  int axis = -1;
  std::vector<int64_t> block = {};
  nv::DataType zero_type = nv::DataType::kINT8;
  std::vector<int64_t> zero_extents = {};
  std::vector<int8_t> zeros = {};  ///< none: there is no zero point

  std::string error() const {
    Workbench w;
    nv::ITensor *const x = w.input("x", {2, 4}), *const scale = constant(w, scale_extents, scales);
    nv::IQuantizeLayer* const q = w->addQuantize(*x, *scale, nv::DataType::kINT8);
    nv::IDequantizeLayer* const d = w->addDequantize(*q->getOutput(0), *scale, nv::DataType::kFLOAT);
    const auto set = [&](auto* layer) {
      layer->setAxis(axis);
      if (!block.empty() && !layer->setBlockShape(dims(block))) return;
      const nv::Weights numbers{zero_type, zeros.data(), static_cast<int64_t>(zeros.size())};
      if (!zeros.empty()) layer->setInput(2, *w->addConstant(dims(zero_extents), numbers)->getOutput(0));
    };
    set(q), set(d);
    w.mark(d->getOutput(0));
    return std::unique_ptr<nv::IHostMemory>(w.builder->buildSerializedNetwork(*w.network, *w.config)) ? ""
                                                                                                      : w.take_error();
  }
  bool fails_with(std::string_view text) const {
    const std::string message = error();
    EXPECT_NE(message.find(text), std::string::npos) << message;
    return message.find(text) != std::string::npos;
  }
};
TEST(QuantizeLayer, NumbersThatAreNoScalesOrZeroPoints) {
  EXPECT_EQ(Quantized{}.error(), "");
  for (const float scale : {0.f, -0.f, -0.5f, INFINITY, -INFINITY, NAN})
    EXPECT_TRUE(Quantized({.scale_extents = {4}, .scales = {1, 1, scale, 1}, .axis = 1})
                    .fails_with("scale 2 of 4 is " + str(scale) + "; scales are finite and positive"));
  EXPECT_TRUE(Quantized({.scale_extents = {3}, .scales = {1, 1, 1}, .axis = 1}).fails_with("does not lie over x"));
  EXPECT_TRUE(Quantized({.scale_extents = {4}, .scales = {1, 1, 1, 1}, .axis = 2}).fails_with("along axis 2 of x"));
  EXPECT_TRUE(Quantized({.scale_extents = {2, 2}, .scales = {1, 1, 1, 1}, .block = {1, 3}}).fails_with("blocks of 3"));
  EXPECT_TRUE(Quantized({.scale_extents = {2, 2}, .scales = {1, 1, 1, 1}, .block = {2, 2}}).fails_with("blocks of 2"));
  EXPECT_TRUE(
      Quantized({.scale_extents = {2, 2}, .scales = {1, 1, 1, 1}, .block = {2}}).fails_with("the block has 1 extents"));
  EXPECT_EQ(Quantized({.scale_extents = {2, 2}, .scales = {1, 1, 1, 1}, .block = {1, 2}}).error(), "");
  EXPECT_EQ(Quantized({.zeros = {3}}).error(), "");
  EXPECT_TRUE(Quantized({.zero_type = nv::DataType::kUINT8, .zeros = {3}}).fails_with("zero point"));
  const Quantized by_column{.scale_extents = {4}, .scales = {1, 1, 1, 1}, .axis = 1};
  Quantized few = by_column;
  few.zero_extents = {3}, few.zeros = {0, 0, 0};
  EXPECT_TRUE(few.fails_with("zero point i8[3] and scale f32[4]"));
}
/// Seven numbers of four bits take four bytes, the last of which holds one; fewer numbers than extents say are an
/// error.
TEST(DequantizeLayer, OfInt4OfOddLength) {
  Workbench w;
  const std::vector<uint8_t> numbers{0x21, 0x43, 0x65, 0x0f};
  const Values one{1};
  nv::ITensor* const q = w->addConstant(dims({7}), {nv::DataType::kINT4, numbers.data(), 7})->getOutput(0);
  nv::ITensor* const y = w->addDequantize(*q, *constant(w, {}, one), nv::DataType::kFLOAT)->getOutput(0);
  w.mark(w->addElementWise(*w.input("x", {7}), *y, nv::ElementWiseOperation::kSUM)->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{7}, Values(7, 0)}}}), (Values{1, 2, 3, 4, 5, 6, -1}));
  EXPECT_EQ(w->addConstant(dims({7}), {nv::DataType::kINT4, numbers.data(), 6}), nullptr);
  EXPECT_NE(w.take_error().find("6"), std::string::npos);
}

TEST(DynamicQuantizeLayer, KeepsItsFieldsAndRuns) {
  Workbench w;
  const Values twice{0.5F};
  nv::IDynamicQuantizeLayer* q =
      w->addDynamicQuantize(*w.input("x", {1, 4}), 0, 16, nv::DataType::kFP4, nv::DataType::kFP8);
  EXPECT_EQ(q->getType(), nv::LayerType::kDYNAMIC_QUANTIZE);
  EXPECT_EQ(q->getAxis(), 0);
  EXPECT_EQ(q->getBlockSize(), 16);
  EXPECT_EQ(q->getBlockShape().nbDims, 0);
  EXPECT_EQ(q->getToType(), nv::DataType::kFP4);
  EXPECT_EQ(q->getScaleType(), nv::DataType::kFP8);
  q->setAxis(1);
  q->setBlockSize(2);
  EXPECT_EQ(q->getAxis(), 1);
  EXPECT_EQ(q->getBlockSize(), 2);
  q->setToType(nv::DataType::kFP8);
  q->setScaleType(nv::DataType::kFLOAT);
  EXPECT_EQ(q->getToType(), nv::DataType::kFP8);
  EXPECT_EQ(q->getScaleType(), nv::DataType::kFLOAT);
  q->setInput(1, *constant(w, {}, twice));
  EXPECT_EQ(q->getNbInputs(), 2);
  EXPECT_EQ(q->getOutput(0)->getType(), nv::DataType::kFP8);
  EXPECT_EQ(q->getOutput(1)->getDimensions().d[1], 2);
  w.mark(q->getOutput(1));
  EXPECT_EQ(w.run({{"x", {{1, 4}, {448, 1, 0, 112}}}}), (Values{2, 0.5}));
}
TEST(DynamicQuantizeLayer, OfABlockShapeGoesBackByDequantize) {
  Workbench w;
  nv::IDynamicQuantizeLayer* q =
      w->addDynamicQuantizeV2(*w.input("x", {2, 4}), dims({1, -1}), nv::DataType::kINT8, nv::DataType::kFLOAT);
  EXPECT_EQ(q->getBlockShape().nbDims, 2);
  EXPECT_EQ(q->getBlockShape().d[1], -1);
  q->setBlockShape(dims({1, 2}));
  EXPECT_EQ(q->getBlockShape().d[1], 2);
  nv::IDequantizeLayer* d = w->addDequantize(*q->getOutput(0), *q->getOutput(1), nv::DataType::kFLOAT);
  d->setBlockShape(dims({1, 2}));
  w.mark(d->getOutput(0));
  EXPECT_EQ(w.run({{"x", {{2, 4}, {127, 0.4F, 254, 3, 0, 0, -127, 1.4F}}}}), (Values{127, 0, 254, 4, 0, 0, -127, 1}));
}

}  // namespace
}  // namespace kiln::api::testing
