#include <gtest/gtest.h>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using nv::BuilderFlag, nv::DataType;

struct OneLayer : Workbench {
  OneLayer() : layer((*this)->addIdentity(*input("x", {2}))) { mark(layer->getOutput(0)); }
  bool builds() {
    return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config)) != nullptr;
  }
  std::string error_of_build() {
    EXPECT_FALSE(builds());
    return take_error();
  }
  std::vector<std::string> warnings_of_build() {
    logger.warnings.clear();
    EXPECT_TRUE(builds());
    return logger.warnings;
  }
  nv::ILayer* const layer;
};
using Texts = std::vector<std::string>;

TEST(MissingChoices, WhatChangesThePlanIsAnError) {
  OneLayer w;
  w.config->setFlag(BuilderFlag::kVERSION_COMPATIBLE);
  EXPECT_EQ(w.error_of_build(),
            "IBuilder::buildSerializedNetwork: BuilderFlag::kVERSION_COMPATIBLE is not in Kiln yet");
}

TEST(MissingChoices, OtherPlatformsAreErrorsThatNameThem) {
  OneLayer w;
  w.config->setEngineCapability(nv::EngineCapability::kDLA_STANDALONE);
  EXPECT_TRUE(w.error_of_build().ends_with(
      "EngineCapability::kDLA_STANDALONE is not in Kiln: it makes loadables of a DLA, and there is none"));
  w.config->setEngineCapability(nv::EngineCapability::kSAFETY);
  EXPECT_NE(w.error_of_build().find("EngineCapability::kSAFETY is not in Kiln"), std::string::npos);
  w.config->setEngineCapability(nv::EngineCapability::kSTANDARD);
  w.config->setRuntimePlatform(nv::RuntimePlatform::kWINDOWS_AMD64);
  EXPECT_NE(w.error_of_build().find("RuntimePlatform::kWINDOWS_AMD64 is not in Kiln"), std::string::npos);
  w.config->setRuntimePlatform(nv::RuntimePlatform::kSAME_AS_BUILD);
  EXPECT_TRUE(w.builds());
}

/// A logger that keeps what a build tells of memory.
class MemoryListener final : public nv::ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override {
    if (severity == Severity::kINFO && std::string_view(message).starts_with("memory ")) lines.emplace_back(message);
  }
  Texts lines;
};

TEST(MissingChoices, MemoryIsToldWhereTheFlagAsks) {
  MemoryListener logger;
  const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  const std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  const std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, dims({1000, 64}));
  const std::vector<float> ones(std::size_t{64} * 64, 1);
  nv::ITensor* w = network->addConstant(dims({64, 64}), weights(ones))->getOutput(0);
  network->markOutput(
      *network->addMatrixMultiply(*x, nv::MatrixOperation::kNONE, *w, nv::MatrixOperation::kNONE)->getOutput(0));
  const auto lines_of_build = [&] {
    logger.lines.clear();
    EXPECT_NE(std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config)), nullptr);
    return logger.lines;
  };
  EXPECT_EQ(lines_of_build(), Texts());
  config->setFlag(BuilderFlag::kMONITOR_MEMORY);
  const Texts lines = lines_of_build();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_TRUE(lines[0].starts_with("memory before the build: the process has ")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("memory after the build: the process has ")) << lines[1];
  EXPECT_EQ(lines[2], "memory of an engine: 16384 bytes of weights");
  EXPECT_TRUE(lines[3].starts_with("memory of a context of optimization profile 0: ")) << lines[3];
}

TEST(MissingChoices, WhatWasAllowedOrPreferredIsAWarning) {
  OneLayer w;
  EXPECT_EQ(w.warnings_of_build(), Texts());
  for (const BuilderFlag flag : {BuilderFlag::kFP8, BuilderFlag::kSTRICT_NANS}) w.config->setFlag(flag);
  EXPECT_TRUE(w.config->setTilingOptimizationLevel(nv::TilingOptimizationLevel::kFAST));
  EXPECT_EQ(
      w.warnings_of_build(),
      (Texts{"BuilderFlag::kFP8 does nothing here: no tensor of the network is f8e4m3, and only its own Quantize and "
             "Dequantize layers make one so",
             "BuilderFlag::kSTRICT_NANS is not in Kiln yet: infinities and not-a-number may spread further than "
             "IEEE has it",
             "setTilingOptimizationLevel is not in Kiln yet: layers are not tiled together"}));
}

/// Flags of types that a network has itself are told of only where the device computes in others.
TEST(MissingChoices, TypesThatRunAreNotToldOf) {
  const auto warnings = [](DataType type, BuilderFlag flag) {
    Workbench w;
    nv::ITensor* const x = w.input("x", {4, 4});
    const std::vector<float> one{0.5F};
    nv::ITensor* const scale = w->addConstant(dims({}), weights(one))->getOutput(0);
    nv::IQuantizeLayer* const q = w->addQuantize(*x, *scale, type);
    w.mark(w->addDequantize(*q->getOutput(0), *scale, DataType::kFLOAT)->getOutput(0));
    w.config->setFlag(flag);
    EXPECT_NE(std::unique_ptr<nv::IHostMemory>(w.builder->buildSerializedNetwork(*w.network, *w.config)), nullptr)
        << w.take_error();
    Texts told;
    for (const std::string& text : w.logger.warnings)
      if (text.starts_with("BuilderFlag::")) told.push_back(text);
    return told;
  };
  EXPECT_EQ(warnings(DataType::kINT4, BuilderFlag::kINT4), Texts());
  const Texts of_fp8 = warnings(DataType::kFP8, BuilderFlag::kFP8);
  for (const std::string& text : of_fp8) EXPECT_TRUE(text.ends_with(" multiplies f8e4m3 as floats")) << text;
  const Texts of_fp4 = warnings(DataType::kFP4, BuilderFlag::kFP4);
  ASSERT_EQ(of_fp4.size(), 1U);
  EXPECT_TRUE(of_fp4[0].starts_with("BuilderFlag::kFP4: ") && of_fp4[0].ends_with(" multiplies f4e2m1 as floats"));
}

constexpr uint32_t bit(nv::TensorFormat format) { return 1U << static_cast<uint32_t>(format); }
constexpr uint32_t kLinear = bit(nv::TensorFormat::kLINEAR), kLast = bit(nv::TensorFormat::kHWC);

/// y = relu(x * w) in place of x [1, 8, 4, 5], with or without the relu; kernels like channels last.
struct Pictures : Workbench {
  explicit Pictures(bool has_relu) {
    for (int i = 0; i < 8 * 8 * 9; ++i) w.push_back(static_cast<float>(i * 7 % 11) * 0.125F - 0.5F);
    x = input("x", {1, 8, 4, 5});
    nv::IConvolutionLayer* const convolution = (*this)->addConvolutionNd(*x, 8, dims({3, 3}), weights(w), no_weights());
    convolution->setPaddingNd(dims({1, 1}));
    convolution->setName("convolution");
    y = convolution->getOutput(0);
    if (has_relu) y = (*this)->addActivation(*y, nv::ActivationType::kRELU)->getOutput(0);
    y->setName("y");
    mark(y);
  }
  /// The result of a build with direct I/O, and the names of the engine's steps.
  std::vector<float> run_direct(uint32_t x_formats, uint32_t y_formats) {
    if (x_formats) x->setAllowedFormats(x_formats);
    if (y_formats) y->setAllowedFormats(y_formats);
    config->setFlag(BuilderFlag::kDIRECT_IO);
    Running running(*this);
    EXPECT_EQ(running.error, "");
    if (!running.error.empty()) return {};
    const std::unique_ptr<nv::IEngineInspector> inspector(running.engine->createEngineInspector());
    steps = inspector->getEngineInformation(nv::LayerInformationFormat::kJSON);
    x_format = running.engine->getTensorFormat("x");
    y_format = running.engine->getTensorFormat("y");
    Shared<float> in(160), out(160);
    for (size_t i = 0; i < 160; ++i) in[at(i, x_format)] = static_cast<float>(i % 13) - 6;
    running.feed("x", in);
    running.feed("y", out);
    EXPECT_TRUE(running.run()) << running.last_error();
    std::vector<float> result(160);
    for (size_t i = 0; i < 160; ++i) result[i] = out[at(i, y_format)];
    return result;
  }
  /// Where element `i` of [8, 20] lies.
  static size_t at(size_t i, nv::TensorFormat format) {
    return format == nv::TensorFormat::kHWC ? i % 20 * 8 + i / 20 : i;
  }
  bool reformats() const { return steps.find("reformat ") != std::string::npos; }

  std::vector<float> w;
  nv::ITensor *x, *y;
  std::string steps;
  nv::TensorFormat x_format{}, y_format{};
};

/// Inputs and outputs whose formats the program chose are read and written as they are. Others are linear.
TEST(MissingChoices, DirectIoIsOfTheFormatsThatAreAllowed) {
  if (Pictures(false).builder->platformHasFastFp16()) GTEST_SKIP() << "which formats a GPU's kernels take is its own";
  for (const bool has_relu : {false, true}) {
    Pictures plain(has_relu);
    const std::vector<float> wanted = plain.run_direct(0, 0);
    EXPECT_EQ(plain.x_format, nv::TensorFormat::kLINEAR);
    EXPECT_EQ(plain.y_format, nv::TensorFormat::kLINEAR);
    for (const uint32_t x_formats : {kLinear, kLast, kLinear | kLast})
      for (const uint32_t y_formats : {kLinear, kLast, kLinear | kLast}) {
        Pictures direct(has_relu);
        const std::vector<float> result = direct.run_direct(x_formats, y_formats);
        ASSERT_EQ(result.size(), wanted.size());
        for (size_t i = 0; i < result.size(); ++i) EXPECT_NEAR(result[i], wanted[i], 1e-2) << i;
        EXPECT_FALSE(direct.reformats()) << direct.steps;
        EXPECT_TRUE(x_formats & bit(direct.x_format));
        EXPECT_TRUE(y_formats & bit(direct.y_format));
      }
  }
}

/// Where a step would only bring an input or an output to another format, direct I/O is an error.
TEST(MissingChoices, DirectIoForbidsReformats) {
  const auto error = [](bool output_too, bool direct) {
    Workbench w;
    nv::ITensor* const x = w.input("x", {1, 8, 4, 4});
    nv::ITensor* const y = w->addActivation(*x, nv::ActivationType::kRELU)->getOutput(0);
    w.mark(y);
    x->setAllowedFormats(kLast);
    y->setAllowedFormats(output_too ? kLast : kLinear);
    if (direct) w.config->setFlag(BuilderFlag::kDIRECT_IO);
    const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
    return plan ? std::string() : w.take_error();
  };
  EXPECT_EQ(error(false, false), "");
  EXPECT_EQ(error(true, true), "");
  const std::string bent = error(false, true);
  EXPECT_NE(bent.find("would be reformatted ("), std::string::npos) << bent;
  EXPECT_NE(bent.find("), since "), std::string::npos) << bent;
}

}  // namespace
}  // namespace kiln::api::testing
