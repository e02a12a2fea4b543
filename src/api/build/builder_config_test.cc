#include <gtest/gtest.h>

#include "api/build/builder_config.h"
#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

using nv::BuilderFlag;

TEST(BuilderConfig, BeginsAsTensorRTDoes) {
  Workbench w;
  const std::unique_ptr<nv::IBuilderConfig> c(w.builder->createBuilderConfig());
  EXPECT_TRUE(c->getFlag(BuilderFlag::kTF32));
  EXPECT_EQ(c->getFlags(), 1U << static_cast<uint32_t>(BuilderFlag::kTF32));
  EXPECT_EQ(c->getBuilderOptimizationLevel(), 3);
  EXPECT_EQ(c->getAvgTimingIterations(), 1);
  EXPECT_EQ(c->getProfilingVerbosity(), nv::ProfilingVerbosity::kLAYER_NAMES_ONLY);
  EXPECT_EQ(c->getEngineCapability(), nv::EngineCapability::kSTANDARD);
  EXPECT_EQ(c->getDefaultDeviceType(), nv::DeviceType::kGPU);
  EXPECT_EQ(c->getNbOptimizationProfiles(), 0);
  EXPECT_EQ(c->getMaxAuxStreams(), -1);
  EXPECT_EQ(c->getMaxNbTactics(), -1);
  EXPECT_EQ(c->getTimingCache(), nullptr);
  EXPECT_EQ(c->getProgressMonitor(), nullptr);
  EXPECT_GT(c->getMemoryPoolLimit(nv::MemoryPoolType::kWORKSPACE), size_t{1} << 20);
  EXPECT_EQ(c->getMemoryPoolLimit(nv::MemoryPoolType::kDLA_MANAGED_SRAM), size_t{1} << 20);
}

TEST(BuilderConfig, KeepsChoicesUntilReset) {
  Workbench w;
  nv::IBuilderConfig& c = *w.config;
  c.setFlag(BuilderFlag::kFP16);
  c.clearFlag(BuilderFlag::kTF32);
  EXPECT_EQ(c.getFlags(), 1U);
  c.setBuilderOptimizationLevel(9);
  EXPECT_EQ(c.getBuilderOptimizationLevel(), 5);
  c.setMemoryPoolLimit(nv::MemoryPoolType::kWORKSPACE, 12345);
  EXPECT_EQ(c.getMemoryPoolLimit(nv::MemoryPoolType::kWORKSPACE), 12345U);
  c.setPreviewFeature(nv::PreviewFeature::kALIASED_PLUGIN_IO_10_03, true);
  EXPECT_TRUE(c.getPreviewFeature(nv::PreviewFeature::kALIASED_PLUGIN_IO_10_03));
  c.setProfilingVerbosity(nv::ProfilingVerbosity::kDETAILED);
  EXPECT_EQ(c.getProfilingVerbosity(), nv::ProfilingVerbosity::kDETAILED);
  EXPECT_TRUE(c.setTacticSources(1));
  EXPECT_EQ(c.getTacticSources(), 1U);
  const char* const paths[] = {"a.so", "b.so"};
  c.setPluginsToSerialize(paths, 2);
  EXPECT_EQ(c.getNbPluginsToSerialize(), 2);
  EXPECT_STREQ(c.getPluginToSerialize(1), "b.so");
  EXPECT_EQ(c.getPluginToSerialize(2), nullptr);
  c.setHardwareCompatibilityLevel(nv::HardwareCompatibilityLevel::kAMPERE_PLUS);
  EXPECT_EQ(c.getHardwareCompatibilityLevel(), nv::HardwareCompatibilityLevel::kAMPERE_PLUS);
  c.setQuantizationFlag(nv::QuantizationFlag::kCALIBRATE_BEFORE_FUSION);
  EXPECT_EQ(c.getQuantizationFlags(), 1U);
  EXPECT_TRUE(c.setTilingOptimizationLevel(nv::TilingOptimizationLevel::kFAST));
  EXPECT_TRUE(c.setL2LimitForTiling(5));
  c.reset();
  EXPECT_EQ(c.getFlags(), 1U << static_cast<uint32_t>(BuilderFlag::kTF32));
  EXPECT_EQ(c.getBuilderOptimizationLevel(), 3);
  EXPECT_EQ(c.getNbPluginsToSerialize(), 0);
}

TEST(BuilderConfig, TacticSourcesDecideAboutLibraries) {
  Workbench w;
  const auto libraries = [&] {
    const auto* config = static_cast<const BuilderConfig*>(w.config.get());
    return std::pair(config->uses(nv::TacticSource::kCUBLAS_LT), config->uses(nv::TacticSource::kCUDNN));
  };
  EXPECT_EQ(libraries(), std::pair(true, false));  // until somebody says otherwise
  constexpr uint32_t kCublasLt = 1U << 1, kCudnn = 1U << 2, kOthers = 1U << 3 | 1U << 4;
  EXPECT_EQ(w.config->getTacticSources(), kCublasLt | kOthers);
  w.config->setTacticSources(w.config->getTacticSources() | kCudnn);
  EXPECT_EQ(libraries(), std::pair(true, true));
  w.config->setTacticSources(1U << static_cast<uint32_t>(nv::TacticSource::kCUDNN));
  EXPECT_EQ(libraries(), std::pair(false, true));
  w.config->setTacticSources(0);
  EXPECT_EQ(libraries(), std::pair(false, false));
  w.config->reset();
  EXPECT_EQ(libraries(), std::pair(true, false));
}

TEST(BuilderConfig, SaysWhichRuleIsBroken) {
  Workbench w;
  nv::IBuilderConfig& c = *w.config;
  c.setFlag(static_cast<BuilderFlag>(40));
  EXPECT_EQ(w.take_error(), "IBuilderConfig::setFlag: builderFlag 40 is outside [0, 29)");
  c.setFlags(1U << 31);
  EXPECT_NE(w.take_error().find("no BuilderFlag"), std::string::npos);
  EXPECT_FALSE(c.getFlag(static_cast<BuilderFlag>(-1)));
  c.setAvgTimingIterations(0);
  EXPECT_EQ(w.take_error(), "IBuilderConfig::setAvgTimingIterations: avgTiming is 0; 1 is the least");
  c.setBuilderOptimizationLevel(-1);
  EXPECT_EQ(w.take_error(), "IBuilderConfig::setBuilderOptimizationLevel: level is -1; 0 is the least");
  c.setMemoryPoolLimit(nv::MemoryPoolType::kDLA_LOCAL_DRAM, 3);
  EXPECT_NE(w.take_error().find("power of two"), std::string::npos);
  c.setDefaultDeviceType(nv::DeviceType::kDLA);
  EXPECT_EQ(w.take_error(), "IBuilderConfig::setDefaultDeviceType: this platform has no DLA");
  c.setDeviceType(nullptr, nv::DeviceType::kGPU);
  EXPECT_EQ(w.take_error(), "IBuilderConfig::setDeviceType: layer is null");
  EXPECT_FALSE(c.canRunOnDLA(nullptr));
  EXPECT_FALSE(c.setTacticSources(1U << 20));
  EXPECT_EQ(c.addOptimizationProfile(nullptr), -1);
  EXPECT_FALSE(c.setCalibrationProfile(nullptr));
  c.setPluginsToSerialize(nullptr, 1);
  EXPECT_NE(w.take_error().find("paths are null"), std::string::npos);
  EXPECT_FALSE(c.setRemoteAutoTuningConfig("x"));
  EXPECT_EQ(w.take_error(), "IBuilderConfig::setRemoteAutoTuningConfig: not in Kiln yet");
}

TEST(TimingCache, IsSharedSerializedAndCombined) {
  Workbench w;
  const std::unique_ptr<nv::ITimingCache> cache(w.config->createTimingCache(nullptr, 0));
  ASSERT_NE(cache, nullptr);
  EXPECT_TRUE(w.config->setTimingCache(*cache, false));
  nv::TimingCacheKey key{{1, 2, 3}};
  EXPECT_EQ(cache->query(key).tacticHash, nv::TimingCacheValue::kINVALID_TACTIC_HASH);
  EXPECT_TRUE(cache->update(key, {0x030201, 2.5F}));
  EXPECT_FALSE(cache->update(key, {9, 2.5F}));
  EXPECT_EQ(w.config->getTimingCache()->query(key).timingMSec, 2.5F);
  EXPECT_EQ(cache->queryKeys(nullptr, 0), 1);
  nv::TimingCacheKey read{};
  EXPECT_EQ(cache->queryKeys(&read, 1), 1);
  EXPECT_EQ(read.data[2], 3);
  const std::unique_ptr<nv::IHostMemory> bytes(cache->serialize());
  const std::unique_ptr<nv::ITimingCache> copy(w.config->createTimingCache(bytes->data(), bytes->size()));
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->query(key).timingMSec, 2.5F);
  EXPECT_TRUE(cache->reset());
  EXPECT_EQ(cache->queryKeys(nullptr, 0), 0);
  EXPECT_TRUE(cache->combine(*copy, false));
  EXPECT_EQ(cache->queryKeys(nullptr, 0), 1);
  EXPECT_FALSE(cache->combine(*cache, false));
}

TEST(TimingCache, OtherBytesAreNone) {
  Workbench w;
  const std::string text = "this is no timing cache, though it is as long as one could be";
  EXPECT_EQ(w.config->createTimingCache(text.data(), text.size()), nullptr);
  EXPECT_NE(w.take_error().find("IBuilderConfig::createTimingCache"), std::string::npos);
  EXPECT_EQ(w.config->createTimingCache(nullptr, 7), nullptr);
}

TEST(TimingCache, ABuildFillsIt) {
  Workbench w;
  w.config->setBuilderOptimizationLevel(3);
  const std::vector<float> kernel(16 * 16 * 9, 0.5F);
  nv::ITensor* x = w.input("x", {1, 16, 8, 8});
  w.mark(w->addConvolutionNd(*x, 16, dims({3, 3}), weights(kernel), no_weights())->getOutput(0));
  const std::unique_ptr<nv::IHostMemory> first(w.builder->buildSerializedNetwork(*w.network, *w.config));
  ASSERT_NE(w.config->getTimingCache(), nullptr);
  EXPECT_GT(w.config->getTimingCache()->queryKeys(nullptr, 0), 0);
  w.config->setFlag(BuilderFlag::kERROR_ON_TIMING_CACHE_MISS);  // nothing is missing now
  const std::unique_ptr<nv::IHostMemory> second(w.builder->buildSerializedNetwork(*w.network, *w.config));
  EXPECT_NE(second, nullptr) << w.take_error();
}

}  // namespace
}  // namespace kiln::api::testing
