#include "api/build/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "api/build/calibration_cache.h"
#include "api/build/range_histogram.h"
#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using Values = std::vector<float>;
using Texts = std::vector<std::string>;

TEST(CalibrationCache, ReadsWhatTensorRtWrites) {
  const auto cache =
      read_calibration_cache("TRT-8601-EntropyCalibration2\nserving:0: 3c010a14\r\n(Unnamed Layer* 1): 40000000\n");
  ASSERT_TRUE(cache.has_value()) << cache.error().message;
  EXPECT_EQ(cache->algorithm, "EntropyCalibration2");
  EXPECT_EQ(cache->scales.at("(Unnamed Layer* 1)"), 2);
  EXPECT_NEAR(cache->scales.at("serving:0"), 0.0078759, 1e-6);
  EXPECT_EQ(read_calibration_cache(write_calibration_cache(*cache))->scales, cache->scales);
  EXPECT_TRUE(write_calibration_cache(*cache).starts_with("TRT-101600-EntropyCalibration2\n"));
}
TEST(CalibrationCache, SaysWhatIsWrong) {
  const auto message = [](std::string_view text) { return read_calibration_cache(text).error().message; };
  EXPECT_EQ(message("x: 40000000"), "a calibration cache begins with 'x: 40000000'; 'TRT-VERSION-ALGORITHM' is needed");
  EXPECT_EQ(message("TRT-1-MinMaxCalibration\nx"), "line 2 of a calibration cache is 'x'; 'TENSOR: SCALE' is needed");
  EXPECT_EQ(message("TRT-1-MinMaxCalibration\nx: 4g"),
            "line 2 of a calibration cache, tensor 'x': '4g' is no FP32 number in hexadecimal digits");
  EXPECT_EQ(message("TRT-1-MinMaxCalibration\nx: bf800000"),
            "line 2 of a calibration cache, tensor 'x': the scale is -1; scales are finite and positive");
}

TEST(CalibrationCache, HoldsWhatALineCanName) {
  const CalibrationCache cache{"MinMaxCalibration", {{"a\nb", 1.0F}, {"a: b", 2.0F}}};
  const auto again = read_calibration_cache(write_calibration_cache(cache));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->scales, (std::map<std::string, float, std::less<>>{{"a: b", 2.0F}}));
  EXPECT_EQ(read_calibration_cache(std::string_view("\0\0x", 3)).error().message,
            "a calibration cache begins with '??x'; 'TRT-VERSION-ALGORITHM' is needed");
}

TEST(RangeHistogram, LeavesOutWhatIsRare) {
  RangeHistogram histogram;
  Values values;
  for (int i = 1; i <= 100000; ++i) values.push_back(static_cast<float>(std::pow(i % 1000 / 1000.0, 3)));
  histogram.add(values);
  EXPECT_LE(histogram.least_divergence(), 1);
  histogram.add(Values{100, INFINITY, NAN});
  EXPECT_EQ(histogram.largest(), 100);
  EXPECT_LT(histogram.least_divergence(), 20);
  EXPECT_LT(histogram.quantile(0.999), 2);
  EXPECT_EQ(histogram.quantile(1), 100);
  EXPECT_EQ(histogram.num_finite(), 100001);
  EXPECT_EQ(histogram.num_not_finite(), 2);
}

/// Gives batches of two rows, and keeps what it is told.
class Calibrator : public nv::IInt8EntropyCalibrator2 {
 public:
  int32_t getBatchSize() const noexcept override { return 2; }
  bool getBatch(void** bindings, const char** names, int32_t count) noexcept override {
    asked.assign(names, names + count);
    if (left-- <= 0) return false;
    bindings[0] = gives_null ? nullptr : batch.data();
    return true;
  }
  const void* readCalibrationCache(size_t& length) noexcept override {
    length = cache.size();
    return cache.empty() ? nullptr : cache.data();
  }
  void writeCalibrationCache(const void* text, size_t length) noexcept override {
    written.assign(static_cast<const char*>(text), length);
  }

  Shared<float> batch{1, -2, 0.5F, 1.5F, 2, -1};
  std::string cache, written;
  std::vector<std::string> asked;
  int left = 3;
  bool gives_null = false;
};

/// y = relu(x [2, 3] * w [3, 4]).
struct Product : Workbench {
  Product() {
    for (int i = 0; i < 12; ++i) w.push_back(static_cast<float>(i % 5) * 0.25F - 0.5F);
    nv::ITensor* x = input("x", {2, 3});
    nv::ITensor* b = (*this)->addConstant(dims({3, 4}), weights(w))->getOutput(0);
    product = (*this)->addMatrixMultiply(*x, nv::MatrixOperation::kNONE, *b, nv::MatrixOperation::kNONE)->getOutput(0);
    product->setName("product");
    mark((*this)->addActivation(*product, nv::ActivationType::kRELU)->getOutput(0));
    config->setFlag(nv::BuilderFlag::kINT8);
  }
  std::string error_of_build() {
    const std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
    return plan ? "" : take_error();
  }
  Texts warnings_of_build() {
    logger.warnings.clear();
    EXPECT_EQ(error_of_build(), "");
    return logger.warnings;
  }
  Values run_on(const Values& x) { return run({{"x", {{2, 3}, x}}}); }

  Values w;
  nv::ITensor* product;
};

TEST(Calibration, RunsBatchesAndWritesACache) {
  Product p;
  Calibrator calibrator;
  p.config->setInt8Calibrator(&calibrator);
  const Values y = p.run_on({calibrator.batch.begin(), calibrator.batch.end()});
  EXPECT_EQ(calibrator.asked, std::vector<std::string>{"x"});
  EXPECT_EQ(calibrator.left, -1);
  const auto cache = read_calibration_cache(calibrator.written);
  ASSERT_TRUE(cache.has_value()) << calibrator.written;
  EXPECT_TRUE(cache->scales.contains("x"));
  EXPECT_TRUE(cache->scales.contains("product"));
  EXPECT_LE(cache->scales.at("x"), 2.0F / 127 * 1.001F);
  ASSERT_EQ(y.size(), 8U);
  Workbench floats;  // the same in FP32
  nv::ITensor* b = floats->addConstant(dims({3, 4}), weights(p.w))->getOutput(0);
  floats.mark(floats
                  ->addActivation(*floats
                                       ->addMatrixMultiply(*floats.input("x", {2, 3}), nv::MatrixOperation::kNONE, *b,
                                                           nv::MatrixOperation::kNONE)
                                       ->getOutput(0),
                                  nv::ActivationType::kRELU)
                  ->getOutput(0));
  const Values wanted = floats.run({{"x", {{2, 3}, {calibrator.batch.begin(), calibrator.batch.end()}}}});
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], wanted[i], 0.05) << i;
  EXPECT_NE(y, wanted);  // bytes were multiplied
}
TEST(Calibration, TakesTheCacheInPlaceOfData) {
  Product p;
  Calibrator calibrator;
  calibrator.cache = "TRT-8601-EntropyCalibration2\nx: 3d000000\n";  // steps of 1/32
  p.config->setInt8Calibrator(&calibrator);
  EXPECT_EQ(p.error_of_build(), "");
  EXPECT_EQ(calibrator.left, 3);
  EXPECT_EQ(calibrator.written, "");
  calibrator.cache = "TRT-8601-EntropyCalibration2\nother: 3d000000\n";
  EXPECT_NE(p.error_of_build().find("it is that of another network"), std::string::npos);
  calibrator.cache = "TRT-8601-MinMaxCalibration\nx: 3d000000\n";
  EXPECT_EQ(p.error_of_build(), "");
  EXPECT_EQ(calibrator.left, -1);
}
TEST(Calibration, SaysWhatACalibratorDoesWrong) {
  Product p;
  Calibrator calibrator;
  p.config->setInt8Calibrator(&calibrator);
  calibrator.left = 0;
  EXPECT_NE(p.error_of_build().find("the INT8 calibrator gave no batch"), std::string::npos);
  calibrator.left = 1;
  calibrator.gives_null = true;
  EXPECT_NE(p.error_of_build().find("the calibrator gave no memory for input 'x'"), std::string::npos);
  calibrator.gives_null = false;
  calibrator.left = 1;
  calibrator.cache = "nonsense";
  EXPECT_NE(p.error_of_build().find("a calibration cache begins with 'nonsense'"), std::string::npos);
}
/// Whether a warning of the build has this text.
bool warns(Product& p, std::string_view text) {
  const Texts warnings = p.warnings_of_build();
  return std::ranges::any_of(warnings, [&](const std::string& one) { return one.find(text) != std::string::npos; });
}
TEST(Calibration, TellsOfValuesThatAreNotFinite) {
  Product p;
  Calibrator calibrator;
  p.config->setInt8Calibrator(&calibrator);
  calibrator.batch[1] = INFINITY;
  EXPECT_TRUE(warns(p, "calibration: 3 of 18 values of tensor 'x' are not finite: its range is that of the others"));
  EXPECT_TRUE(read_calibration_cache(calibrator.written)->scales.contains("x"));
  for (float& value : calibrator.batch) value = NAN;
  calibrator.left = 3;
  EXPECT_TRUE(warns(p, "calibration: no value of tensor 'x' is finite: it has no range"));
  EXPECT_EQ(read_calibration_cache(calibrator.written)->scales.size(), 0U);
}
TEST(Calibration, TellsWhatIsNotUsed) {
  Product p;
  EXPECT_TRUE(warns(p, "BuilderFlag::kINT8 is set, and nothing is quantized"));
  Calibrator calibrator;
  calibrator.cache = "TRT-8601-EntropyCalibration2\n";
  p.config->setInt8Calibrator(&calibrator);
  EXPECT_TRUE(warns(p, "the calibration cache has no tensors: it quantizes nothing"));
  p.config->clearFlag(nv::BuilderFlag::kINT8);
  EXPECT_TRUE(warns(p, "BuilderFlag::kINT8 is not set: the calibrator is not used"));
  p.network->getInput(0)->setDynamicRange(-1, 1);
  EXPECT_TRUE(warns(p, "BuilderFlag::kINT8 is not set: calibrator and dynamic ranges are not used"));
  Workbench strong(1U << static_cast<int>(nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED));
  nv::ITensor* const x = strong.input("x", {2});
  strong.mark(strong->addIdentity(*x)->getOutput(0));
  x->setDynamicRange(-1, 1);
  EXPECT_EQ(strong.run({{"x", {{2}, {1, 2}}}}), (Values{1, 2}));
  EXPECT_EQ(strong.logger.warnings, Texts{"the network is strongly typed: dynamic ranges are not used"});
}
/// Layers whose tensors leave FP16's range stay in FP32, with or without INT8.
TEST(Calibration, KeepsFromHalvesWhatLeavesTheirRange) {
  const auto told = [](Product& p, std::string_view text) {
    p.logger.infos.clear();
    EXPECT_EQ(p.error_of_build(), "");
    return std::ranges::any_of(p.logger.infos, [&](const std::string& one) { return one.contains(text); });
  };
  Product p;
  Calibrator calibrator;
  p.config->setInt8Calibrator(&calibrator);
  p.config->clearFlag(nv::BuilderFlag::kINT8);
  p.config->setFlag(nv::BuilderFlag::kFP16);
  EXPECT_FALSE(told(p, "stays in FP32"));
  EXPECT_EQ(calibrator.left, -1);  // its data were run
  calibrator.batch[1] = 1e6F;
  calibrator.left = 3;
  EXPECT_TRUE(told(p, "stays in FP32: tensor 'product' reaches 5e+05, beyond FP16's 65504"))
      << ::testing::PrintToString(p.logger.infos);
  calibrator.left = 0;
  EXPECT_TRUE(warns(p, "the calibrator says nothing of FP16's range: the INT8 calibrator gave no batch"));
  p.config->setInt8Calibrator(nullptr);
  EXPECT_FALSE(told(p, "stays in FP32"));
  p.network->getInput(0)->setDynamicRange(-70000, 70000);
  EXPECT_TRUE(told(p, "stays in FP32: tensor 'x' reaches 70000, beyond FP16's 65504"));
}
/// Q/DQ layers say what is INT8; FP16 overflows in the others as it does without them.
TEST(Calibration, RangesTellWhatLeavesHalvesBesideQuantization) {
  Product p;
  const Values hundredth{0.01F};
  nv::ITensor* const scale = p->addConstant(dims({}), weights(hundredth))->getOutput(0);
  nv::ITensor* const quantized = p->addQuantize(*p.network->getOutput(0), *scale, nv::DataType::kINT8)->getOutput(0);
  p.mark(p->addDequantize(*quantized, *scale, nv::DataType::kFLOAT)->getOutput(0), "last");
  p.product->setDynamicRange(-70000, 70000);
  EXPECT_TRUE(warns(p, "the network has Quantize and Dequantize layers: dynamic ranges are not used"));
  p.config->setFlag(nv::BuilderFlag::kFP16);
  p.logger.infos.clear();
  EXPECT_TRUE(warns(p,
                    "the network has Quantize and Dequantize layers: dynamic ranges are not used for INT8, only to see "
                    "which layers leave FP16's range"));
  EXPECT_TRUE(std::ranges::any_of(p.logger.infos, [](const std::string& one) {
    return one.contains("stays in FP32: tensor 'product' reaches 70000");
  })) << ::testing::PrintToString(p.logger.infos);
}

/// They are FP32 for the data: halves would saturate what is to be seen, and a run has no ranges for bytes yet.
TEST(Calibration, RunsWithoutThePrecisionsOfLayers) {
  Product p;
  p.config->setFlag(nv::BuilderFlag::kOBEY_PRECISION_CONSTRAINTS);
  nv::ILayer* const layer = p.network->getLayer(1);
  layer->setPrecision(nv::DataType::kINT8);
  Calibrator calibrator;
  p.config->setInt8Calibrator(&calibrator);
  EXPECT_EQ(p.error_of_build(), "");
  p.config->setFlag(nv::BuilderFlag::kFP16);
  layer->setPrecision(nv::DataType::kHALF);
  calibrator.batch[1] = 1e6F;
  calibrator.left = 3;
  EXPECT_TRUE(warns(p, "is in FP16, as the network or the layer's precision says: tensor 'product' reaches 5e+05"))
      << ::testing::PrintToString(p.logger.warnings);
}

/// They have the memory that a batch's data ask for.
TEST(Calibration, ObservesTensorsWhoseSizeDataDecides) {
  Workbench w;
  w.config->setFlag(nv::BuilderFlag::kINT8);
  nv::ITensor* const x = w.input("x", {6});
  nv::ITensor* const places = w->addNonZero(*x, nv::DataType::kINT64)->getOutput(0);
  nv::ITensor* const chosen = w->addGather(*x, *places, 0)->getOutput(0);
  chosen->setName("chosen");
  w.mark(w->addUnary(*chosen, nv::UnaryOperation::kABS)->getOutput(0));
  Calibrator calibrator;
  w.config->setInt8Calibrator(&calibrator);
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  ASSERT_NE(plan, nullptr) << w.take_error();
  const auto cache = read_calibration_cache(calibrator.written);
  ASSERT_TRUE(cache.has_value()) << cache.error().message;
  EXPECT_NEAR(cache->scales.at("chosen"), 2.0 / 127, 1e-3) << "the largest of the batch is 2";
}
/// The calibrator of TensorRT's first releases.
struct LegacyCalibrator : nv::IInt8LegacyCalibrator {
  int32_t getBatchSize() const noexcept override { return 2; }
  bool getBatch(void** bindings, const char**, int32_t) noexcept override {
    bindings[0] = batch.data();
    return left-- > 0;
  }
  const void* readCalibrationCache(size_t& length) noexcept override { return length = 0, nullptr; }
  void writeCalibrationCache(const void*, size_t) noexcept override {}
  double getQuantile() const noexcept override { return quantile; }
  double getRegressionCutoff() const noexcept override { return 1; }
  const void* readHistogramCache(size_t& length) noexcept override { return length = 0, nullptr; }
  void writeHistogramCache(const void*, size_t) noexcept override {}
  Shared<float> batch{1, -2, 0.5F, 1.5F, 2, -1};
  double quantile = 1;
  int left = 1;
};
TEST(Calibration, AQuantileIsAShare) {
  Product p;
  LegacyCalibrator calibrator;
  p.config->setInt8Calibrator(&calibrator);
  EXPECT_EQ(p.error_of_build(), "");
  for (const double quantile : {0.0, -1.0, 1.5, std::nan("")}) {
    calibrator.quantile = quantile;
    calibrator.left = 1;
    EXPECT_NE(p.error_of_build().find("the calibrator's quantile is "), std::string::npos);
  }
}
TEST(Calibration, WeightsThatAreNotFiniteStayInFloat) {
  Product p;
  p.w[5] = NAN;
  p.network->getInput(0)->setDynamicRange(-2, 2);
  const Values y = p.run_on(Values{1, 1, 1, 1, 1, 1});
  EXPECT_TRUE(std::isnan(y.at(1)));
  EXPECT_FALSE(std::isnan(y.at(0)));
}
/// INT8 at the network's edges stands for numbers of the range.
TEST(Calibration, BytesAtTheEdgesHaveTheScaleOfTheirRange) {
  Product p;
  nv::ITensor *const x = p.network->getInput(0), *const y = p.network->getOutput(0);
  x->setType(nv::DataType::kINT8);
  x->setDynamicRange(-63.5F, 63.5F);  // steps of 1/2
  y->setType(nv::DataType::kINT8);
  y->setDynamicRange(0, 31.75F);  // steps of 1/4
  Running run(p);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.engine->getTensorDataType("x"), nv::DataType::kINT8);
  EXPECT_EQ(run.engine->getTensorDataType("y"), nv::DataType::kINT8);
  Shared<int8_t> bytes{2, 0, 0, 4, 4, -2}, out(8);
  run.feed("x", bytes);
  run.feed("y", out);
  ASSERT_TRUE(run.run()) << run.last_error();
  // Rows of x are (1, 0, 0) and (2, 2, -1), those of w (-2 -1 0 1), (2 -2 -1 0) and (1 2 -2 -1) quarters.
  EXPECT_EQ(std::vector<int8_t>(out.begin(), out.end()), (std::vector<int8_t>{0, 0, 0, 1, 0, 0, 0, 3}));
}
TEST(Calibration, BytesAtTheEdgesWithoutARangeAreToldOf) {
  Product p;
  p.network->getInput(0)->setDynamicRange(-1, 1);
  p.network->getOutput(0)->setType(nv::DataType::kINT8);
  EXPECT_TRUE(warns(p, "values are converted as they are, without a scale, so that fractions are lost"));
}
TEST(Calibration, DynamicRangesDoWithoutData) {
  Product p;
  p.network->getInput(0)->setDynamicRange(-127, 127);  // steps of 1
  const Values y = p.run_on(Values{1.3F, -2.2F, 0.2F, 1.6F, 2.4F, -1.4F});
  const Values rounded = p.run_on(Values{1, -2, 0, 2, 2, -1});
  EXPECT_EQ(y, rounded);
}
/// Pads that depend on extents are not known when weights are packed.
TEST(Calibration, QuantizesConvolutionsWithSamePads) {
  Workbench w;
  nv::ITensor* const x = w.input("x", {1, 1, 4, 4});
  const std::vector<float> ones(9, 1);
  nv::IConvolutionLayer* const convolution =
      w->addConvolutionNd(*x, 1, dims({3, 3}), weights(ones), nv::Weights{nv::DataType::kFLOAT, nullptr, 0});
  convolution->setPaddingMode(nv::PaddingMode::kSAME_UPPER);
  w.mark(convolution->getOutput(0));
  w.config->setFlag(nv::BuilderFlag::kINT8);
  x->setDynamicRange(-127, 127);
  const Values y = w.run({{"x", {{1, 1, 4, 4}, Values(16, 1)}}});
  EXPECT_EQ(y, (Values{4, 6, 6, 4, 6, 9, 9, 6, 6, 9, 9, 6, 4, 6, 6, 4}));
}

/// Batches have the shapes of the calibration profile.
TEST(Calibration, HasAProfileOfItsOwn) {
  Workbench w;
  nv::ITensor* const x = w.input("x", {-1, 3});
  w.mark(w->addActivation(*x, nv::ActivationType::kRELU)->getOutput(0));
  w.config->setFlag(nv::BuilderFlag::kINT8);
  const auto profile = [&](int64_t least, int64_t best, int64_t most) {
    nv::IOptimizationProfile* const made = w.builder->createOptimizationProfile();
    made->setDimensions("x", nv::OptProfileSelector::kMIN, dims({least, 3}));
    made->setDimensions("x", nv::OptProfileSelector::kOPT, dims({best, 3}));
    made->setDimensions("x", nv::OptProfileSelector::kMAX, dims({most, 3}));
    return made;
  };
  w.config->addOptimizationProfile(profile(8, 8, 8));
  ASSERT_TRUE(w.config->setCalibrationProfile(profile(2, 2, 2)));
  Calibrator calibrator;
  calibrator.batch.resize(8 * 3, 1000);  // more rows than it says there are
  w.config->setInt8Calibrator(&calibrator);
  EXPECT_TRUE(std::unique_ptr<nv::IHostMemory>(w.builder->buildSerializedNetwork(*w.network, *w.config)))
      << w.take_error();
  const auto cache = read_calibration_cache(calibrator.written);
  ASSERT_TRUE(cache.has_value()) << calibrator.written;
  EXPECT_LE(cache->scales.at("x"), 2.0F / 127 * 1.001F);
}

}  // namespace
}  // namespace kiln::api::testing
