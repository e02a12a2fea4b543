#include <gtest/gtest.h>

#include <cmath>

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
  EXPECT_EQ(c->getHardwareCompatibilityLevel(), nv::HardwareCompatibilityLevel::kNONE);
  EXPECT_EQ(c->getRuntimePlatform(), nv::RuntimePlatform::kSAME_AS_BUILD);
  EXPECT_EQ(c->getTilingOptimizationLevel(), nv::TilingOptimizationLevel::kNONE);
  EXPECT_EQ(c->getL2LimitForTiling(), -1);
  EXPECT_EQ(c->getTacticSources(), 24U);
  EXPECT_EQ(c->getQuantizationFlags(), 0U);
  EXPECT_EQ(c->getDLACore(), -1);
  EXPECT_EQ(c->getNbPluginsToSerialize(), 0);
  EXPECT_EQ(c->getPluginToSerialize(0), nullptr);
  EXPECT_TRUE(c->getPreviewFeature(nv::PreviewFeature::kPROFILE_SHARING_0806));
  EXPECT_FALSE(c->getPreviewFeature(nv::PreviewFeature::kALIASED_PLUGIN_IO_10_03));
}

TEST(BuilderConfig, BeginsWithoutObjectsOfTheProgram) {
  Workbench w;
  const std::unique_ptr<nv::IBuilderConfig> c(w.builder->createBuilderConfig());
  EXPECT_EQ(c->getTimingCache(), nullptr);
  EXPECT_EQ(c->getProgressMonitor(), nullptr);
  EXPECT_EQ(c->getProfileStream(), nullptr);
  EXPECT_EQ(c->getInt8Calibrator(), nullptr);
  EXPECT_EQ(c->getAlgorithmSelector(), nullptr);
  EXPECT_EQ(c->getCalibrationProfile(), nullptr);
  EXPECT_EQ(c->getRemoteAutoTuningConfig(), nullptr);
}

TEST(BuilderConfig, BeginsWithTensorRTsPools) {
  using Pool = nv::MemoryPoolType;
  Workbench w;
  const std::unique_ptr<nv::IBuilderConfig> c(w.builder->createBuilderConfig());
  constexpr size_t kMiB = size_t{1} << 20;
  EXPECT_GT(c->getMemoryPoolLimit(Pool::kWORKSPACE), kMiB);
  EXPECT_EQ(c->getMemoryPoolLimit(Pool::kTACTIC_DRAM), c->getMemoryPoolLimit(Pool::kWORKSPACE));
  EXPECT_EQ(c->getMemoryPoolLimit(Pool::kTACTIC_SHARED_MEMORY), 1024 * kMiB);
  EXPECT_EQ(c->getMemoryPoolLimit(Pool::kDLA_MANAGED_SRAM), 0U);  // as on every device without a DLA
  EXPECT_EQ(c->getMemoryPoolLimit(Pool::kDLA_LOCAL_DRAM), 1024 * kMiB);
  EXPECT_EQ(c->getMemoryPoolLimit(Pool::kDLA_GLOBAL_DRAM), 512 * kMiB);
  c->setMemoryPoolLimit(Pool::kTACTIC_SHARED_MEMORY, 1024 * kMiB + 1);
  EXPECT_NE(w.take_error().find("at most 1073741824 bytes"), std::string::npos);
  c->setMemoryPoolLimit(Pool::kDLA_LOCAL_DRAM, 2048);
  EXPECT_NE(w.take_error().find("4096 bytes at least"), std::string::npos);
  EXPECT_EQ(c->getMemoryPoolLimit(Pool::kDLA_LOCAL_DRAM), 1024 * kMiB);
}

/// Behaves like TensorRT on a machine without DLA: the default device may be one, its core cannot.
TEST(BuilderConfig, HasNoDla) {
  Workbench w;
  nv::IBuilderConfig& c = *w.config;
  for (const int32_t core : {0, 1, -1}) {
    c.setDLACore(core);
    EXPECT_EQ(c.getDLACore(), -1);
  }
  EXPECT_EQ(w.take_error(), "");
  c.setDefaultDeviceType(nv::DeviceType::kDLA);
  EXPECT_EQ(c.getDefaultDeviceType(), nv::DeviceType::kDLA);
  EXPECT_EQ(w.take_error(), "");
  w.mark(w->addIdentity(*w.input("x", {2}))->getOutput(0));
  EXPECT_FALSE(c.canRunOnDLA(w->getLayer(0)));
  EXPECT_EQ(w.take_error(), "");
  EXPECT_FALSE(w.builder->isNetworkSupported(*w.network, c));
  EXPECT_NE(w.take_error().find("DeviceType::kDLA"), std::string::npos);
  c.setFlag(BuilderFlag::kGPU_FALLBACK);
  EXPECT_TRUE(w.builder->isNetworkSupported(*w.network, c));
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
  c.setPreviewFeature(nv::PreviewFeature::kPROFILE_SHARING_0806, false);
  EXPECT_TRUE(c.getPreviewFeature(nv::PreviewFeature::kPROFILE_SHARING_0806));  // it cannot be switched off
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
  constexpr uint32_t kCublasLt = 1U << 1, kCudnn = 1U << 2;
  EXPECT_EQ(w.config->getTacticSources(), 24U);  // as TensorRT: what is timed beside them is Kiln's own choice
  w.config->setTacticSources(w.config->getTacticSources());
  EXPECT_EQ(libraries(), std::pair(false, false));  // from here on the bits decide
  w.config->setTacticSources(w.config->getTacticSources() | kCublasLt | kCudnn);
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
  c.setDeviceType(nullptr, nv::DeviceType::kGPU);
  EXPECT_EQ(w.take_error(), "IBuilderConfig::setDeviceType: layer is null");
  EXPECT_FALSE(c.canRunOnDLA(nullptr));
  EXPECT_EQ(w.take_error(), "IBuilderConfig::canRunOnDLA: layer is null");
  EXPECT_FALSE(c.setTacticSources(1U << 20));
  EXPECT_EQ(c.addOptimizationProfile(nullptr), -1);
  EXPECT_FALSE(c.setCalibrationProfile(nullptr));
  c.setPluginsToSerialize(nullptr, 1);
  EXPECT_NE(w.take_error().find("paths are null"), std::string::npos);
  const char* const paths[] = {"libmine.so", ""};
  c.setPluginsToSerialize(paths, 2);
  EXPECT_EQ(w.take_error(), "IBuilderConfig::setPluginsToSerialize: path 1 is empty");
  EXPECT_EQ(c.getNbPluginsToSerialize(), 0);
  EXPECT_FALSE(c.setRemoteAutoTuningConfig("x"));
  EXPECT_EQ(w.take_error(), "IBuilderConfig::setRemoteAutoTuningConfig: not in Kiln yet");
}

TEST(TimingCache, IsSharedSerializedAndCombined) {
  Workbench w;
  const std::unique_ptr<nv::ITimingCache> cache(w.config->createTimingCache(nullptr, 0));
  ASSERT_NE(cache, nullptr);
  EXPECT_TRUE(w.config->setTimingCache(*cache, false));
  EXPECT_EQ(w.config->getTimingCache(), cache.get());
  nv::TimingCacheKey key{{1, 2, 3}};
  EXPECT_EQ(cache->query(key).tacticHash, nv::TimingCacheValue::kINVALID_TACTIC_HASH);
  EXPECT_FALSE(cache->update(key, {0x030201, 2.5F}));  // what is not there cannot be changed
  static_cast<TimingCacheObject*>(cache.get())->cache()->insert({0x030201, 0}, 7);
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

/// Owners of the pointer, as the Python bindings are, delete what they set, and nothing else.
TEST(TimingCache, IsTheObjectThatWasSet) {
  Workbench w;
  std::unique_ptr<nv::ITimingCache> first(w.config->createTimingCache(nullptr, 0)),
      second(w.config->createTimingCache(nullptr, 0));
  EXPECT_TRUE(w.config->setTimingCache(*first, false));
  EXPECT_EQ(w.config->getTimingCache(), first.get());
  EXPECT_TRUE(w.config->setTimingCache(*second, false));
  EXPECT_EQ(w.config->getTimingCache(), second.get());
  w.config->reset();
  EXPECT_EQ(w.config->getTimingCache(), nullptr);
  EXPECT_TRUE(w.config->setTimingCache(*first, false));
  w.config.reset();
  EXPECT_EQ(first->queryKeys(nullptr, 0), 0);  // it outlives the configuration
}

TEST(TimingCache, NoneIsSeenWhereNoneWasSet) {
  Workbench w;
  w.config->setFlag(BuilderFlag::kERROR_ON_TIMING_CACHE_MISS);  // is about a cache that was set
  const std::vector<float> kernel(16 * 16 * 9, 0.5F);
  nv::ITensor* x = w.input("x", {1, 16, 8, 8});
  w.mark(w->addConvolutionNd(*x, 16, dims({3, 3}), weights(kernel), no_weights())->getOutput(0));
  const std::unique_ptr<nv::IHostMemory> plan(w.builder->buildSerializedNetwork(*w.network, *w.config));
  EXPECT_NE(plan, nullptr) << w.take_error();
  EXPECT_EQ(w.config->getTimingCache(), nullptr);
}

TEST(TimingCache, EntriesOfAnOpNameItsTactic) {
  Workbench w;
  const std::unique_ptr<nv::ITimingCache> cache(w.config->createTimingCache(nullptr, 0));
  static_cast<TimingCacheObject*>(cache.get())->cache()->assign({0x030201, 0}, {55, 4000});
  const nv::TimingCacheKey key{{1, 2, 3}};
  EXPECT_EQ(cache->queryKeys(nullptr, 0), 1);
  EXPECT_EQ(cache->query(key).tacticHash, 55U);
  EXPECT_EQ(cache->query(key).timingMSec, 4.0F);
  EXPECT_TRUE(cache->update(key, {56, 1.0F}));
  EXPECT_EQ(cache->query(key).tacticHash, 56U);
  EXPECT_FALSE(cache->update(key, {56, -1.0F}));
  EXPECT_FALSE(cache->update(key, {nv::TimingCacheValue::kINVALID_TACTIC_HASH, 1.0F}));
  EXPECT_TRUE(cache->update(key, {57, std::nanf("")}));  // which deletes it
  EXPECT_EQ(cache->queryKeys(nullptr, 0), 0);
  EXPECT_EQ(cache->query(key).tacticHash, nv::TimingCacheValue::kINVALID_TACTIC_HASH);
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
  const std::unique_ptr<nv::ITimingCache> cache(w.config->createTimingCache(nullptr, 0));
  ASSERT_TRUE(w.config->setTimingCache(*cache, false));
  const std::vector<float> kernel(16 * 16 * 9, 0.5F);
  nv::ITensor* x = w.input("x", {1, 16, 8, 8});
  w.mark(w->addConvolutionNd(*x, 16, dims({3, 3}), weights(kernel), no_weights())->getOutput(0));
  const std::unique_ptr<nv::IHostMemory> first(w.builder->buildSerializedNetwork(*w.network, *w.config));
  EXPECT_EQ(w.config->getTimingCache(), cache.get());
  EXPECT_GT(cache->queryKeys(nullptr, 0), 0);
  w.config->setFlag(BuilderFlag::kERROR_ON_TIMING_CACHE_MISS);  // nothing is missing now
  const std::unique_ptr<nv::IHostMemory> second(w.builder->buildSerializedNetwork(*w.network, *w.config));
  EXPECT_NE(second, nullptr) << w.take_error();
}

}  // namespace
}  // namespace kiln::api::testing
