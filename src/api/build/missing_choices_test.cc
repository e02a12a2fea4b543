#include <gtest/gtest.h>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using nv::BuilderFlag;

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
  EXPECT_EQ(w.warnings_of_build(),
            (Texts{"BuilderFlag::kFP8 is not in Kiln yet: layers compute in wider types",
                   "BuilderFlag::kSTRICT_NANS is not in Kiln yet: infinities and not-a-number may spread further than "
                   "IEEE has it",
                   "setTilingOptimizationLevel is not in Kiln yet: layers are not tiled together"}));
}

/// Where a step would only bring an input or an output to another format, direct I/O is an error.
TEST(MissingChoices, DirectIoForbidsReformats) {
  const auto error = [](bool output_too, bool direct) {
    Workbench w;
    nv::ITensor* const x = w.input("x", {1, 8, 4, 4});
    nv::ITensor* const y = w->addActivation(*x, nv::ActivationType::kRELU)->getOutput(0);
    w.mark(y);
    constexpr uint32_t kLast = 1U << static_cast<uint32_t>(nv::TensorFormat::kHWC);
    x->setAllowedFormats(kLast);
    if (output_too) y->setAllowedFormats(kLast);
    if (direct) w.config->setFlag(BuilderFlag::kDIRECT_IO);
    const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
    return plan ? std::string() : w.take_error();
  };
  EXPECT_EQ(error(false, false), "");
  EXPECT_EQ(error(true, true), "");
  EXPECT_NE(error(false, true).find("would be reformatted"), std::string::npos);
}

}  // namespace
}  // namespace kiln::api::testing
