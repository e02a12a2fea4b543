/// IBuilder: makes networks and configurations, and builds plans of them.
#pragma once

#include <NvInfer.h>

#include <memory>
#include <vector>

#include "api/base/guard.h"
#include "api/build/optimization_profile.h"
#include "plan/plan.h"
#include "plugin/registry.h"

namespace kiln::api {

class BuilderConfig;
class Network;

class Builder final : public nv::IBuilder, public nv::apiv::VBuilder {
 public:
  explicit Builder(nv::ILogger& logger) : reporter_(logger), plugins_(::getPluginRegistry()) {
    mImpl = this;
    plugins_.set_logger(&logger);
  }

  // VBuilder.
  bool platformHasFastFp16() const noexcept override;
  bool platformHasFastInt8() const noexcept override;
  int32_t getMaxDLABatchSize() const noexcept override;
  int32_t getNbDLACores() const noexcept override;
  void setGpuAllocator(nv::IGpuAllocator* allocator) noexcept override;
  nv::IGpuAllocator* gpu_allocator() const { return allocator_; }  ///< the program's; null: it has set none
  nv::IBuilderConfig* createBuilderConfig() noexcept override;
  nv::INetworkDefinition* createNetworkV2(nv::NetworkDefinitionCreationFlags flags) noexcept override;
  nv::IOptimizationProfile* createOptimizationProfile() noexcept override;
  void setErrorRecorder(nv::IErrorRecorder* recorder) noexcept override;
  nv::IErrorRecorder* getErrorRecorder() const noexcept override;
  void reset() noexcept override;
  bool platformHasTf32() const noexcept override;
  nv::IHostMemory* buildSerializedNetwork(nv::INetworkDefinition& network,
                                          nv::IBuilderConfig& config) noexcept override;
  bool isNetworkSupported(const nv::INetworkDefinition& network,
                          const nv::IBuilderConfig& config) const noexcept override;
  nv::ILogger* getLogger() const noexcept override;
  bool setMaxThreads(int32_t maxThreads) noexcept override;
  int32_t getMaxThreads() const noexcept override;
  nv::IPluginRegistry& getPluginRegistry() noexcept override;
  nv::ICudaEngine* buildEngineWithConfig(nv::INetworkDefinition& network, nv::IBuilderConfig& config) noexcept override;
  bool buildSerializedNetworkToStream(nv::INetworkDefinition& network, nv::IBuilderConfig& config,
                                      nv::IStreamWriter& writer) noexcept override;
  nv::IHostMemory* buildSerializedNetworkWithKernelText(nv::INetworkDefinition& network, nv::IBuilderConfig& config,
                                                        nv::IHostMemory*& kernelText) noexcept override;

 private:
  Reporter reporter_;
  plugin::Registry plugins_;
  std::vector<std::unique_ptr<OptimizationProfile>> profiles_;
  nv::IGpuAllocator* allocator_ = nullptr;
  int32_t max_threads_ = 1;
};

}  // namespace kiln::api
