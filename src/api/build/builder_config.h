/// IBuilderConfig: choices for a build, kept until one reads them.
#pragma once

#include <NvInfer.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/guard.h"
#include "api/build/optimization_profile.h"
#include "api/build/timing_cache.h"

namespace kiln::api {

class BuilderConfig final : public nv::IBuilderConfig, public nv::apiv::VBuilderConfig {
 public:
  /// `device_memory` bytes are the default of the memory limits; `device_identity` is what timing caches belong to.
  BuilderConfig(const Reporter& reporter, size_t device_memory, std::string device_identity);

  // For builds.
  const std::vector<const OptimizationProfile*>& profiles() const { return profiles_; }
  bool has(nv::BuilderFlag flag) const { return getFlag(flag); }
  /// Whether a build may take kernels from there. Until the program names sources, cuBLASLt is one although the default
  /// does not name it: its kernels are measured like ours, and a program that cares says so.
  bool uses(nv::TacticSource source) const {
    if (!choices_.tactic_sources && source == nv::TacticSource::kCUBLAS_LT) return true;
    return (getTacticSources() >> static_cast<int32_t>(source) & 1U) != 0;
  }
  /// The cache that a build fills: the one that was set, else one of the configuration's own, which no program sees.
  /// Null where the flags say to use none.
  TimingCache* timing_cache();
  bool has_given_timing_cache() const { return given_cache_ != nullptr; }

  // VBuilderConfig.
  void setAvgTimingIterations(int32_t avgTiming) noexcept override;
  int32_t getAvgTimingIterations() const noexcept override;
  void setEngineCapability(nv::EngineCapability capability) noexcept override;
  nv::EngineCapability getEngineCapability() const noexcept override;
  void setInt8Calibrator(nv::IInt8Calibrator* calibrator) noexcept override;
  nv::IInt8Calibrator* getInt8Calibrator() const noexcept override;
  void setFlags(nv::BuilderFlags builderFlags) noexcept override;
  nv::BuilderFlags getFlags() const noexcept override;
  void clearFlag(nv::BuilderFlag builderFlag) noexcept override;
  void setFlag(nv::BuilderFlag builderFlag) noexcept override;
  bool getFlag(nv::BuilderFlag builderFlag) const noexcept override;
  void setDeviceType(const nv::ILayer* layer, nv::DeviceType deviceType) noexcept override;
  nv::DeviceType getDeviceType(const nv::ILayer* layer) const noexcept override;
  bool isDeviceTypeSet(const nv::ILayer* layer) const noexcept override;
  void resetDeviceType(const nv::ILayer* layer) noexcept override;
  bool canRunOnDLA(const nv::ILayer* layer) const noexcept override;
  void setDLACore(int32_t dlaCore) noexcept override;
  int32_t getDLACore() const noexcept override;
  void setDefaultDeviceType(nv::DeviceType deviceType) noexcept override;
  nv::DeviceType getDefaultDeviceType() const noexcept override;
  void reset() noexcept override;
  void setProfileStream(cudaStream_t stream) noexcept override;
  cudaStream_t getProfileStream() const noexcept override;
  int32_t addOptimizationProfile(const nv::IOptimizationProfile* profile) noexcept override;
  int32_t getNbOptimizationProfiles() const noexcept override;
  void setProfilingVerbosity(nv::ProfilingVerbosity verbosity) noexcept override;
  nv::ProfilingVerbosity getProfilingVerbosity() const noexcept override;
  void setAlgorithmSelector(nv::IAlgorithmSelector* selector) noexcept override;
  nv::IAlgorithmSelector* getAlgorithmSelector() const noexcept override;
  bool setCalibrationProfile(const nv::IOptimizationProfile* profile) noexcept override;
  const nv::IOptimizationProfile* getCalibrationProfile() noexcept override;
  void setQuantizationFlags(nv::QuantizationFlags flags) noexcept override;
  nv::QuantizationFlags getQuantizationFlags() const noexcept override;
  void clearQuantizationFlag(nv::QuantizationFlag flag) noexcept override;
  void setQuantizationFlag(nv::QuantizationFlag flag) noexcept override;
  bool getQuantizationFlag(nv::QuantizationFlag flag) const noexcept override;
  bool setTacticSources(nv::TacticSources tacticSources) noexcept override;
  nv::TacticSources getTacticSources() const noexcept override;
  nv::ITimingCache* createTimingCache(const void* blob, size_t size) const noexcept override;
  bool setTimingCache(const nv::ITimingCache& cache, bool ignoreMismatch) noexcept override;
  const nv::ITimingCache* getTimingCache() const noexcept override;
  void setMemoryPoolLimit(nv::MemoryPoolType pool, size_t poolSize) noexcept override;
  size_t getMemoryPoolLimit(nv::MemoryPoolType pool) const noexcept override;
  void setPreviewFeature(nv::PreviewFeature feature, bool enable) noexcept override;
  bool getPreviewFeature(nv::PreviewFeature feature) const noexcept override;
  void setBuilderOptimizationLevel(int32_t level) noexcept override;
  int32_t getBuilderOptimizationLevel() const noexcept override;
  void setHardwareCompatibilityLevel(nv::HardwareCompatibilityLevel hardwareCompatibilityLevel) noexcept override;
  nv::HardwareCompatibilityLevel getHardwareCompatibilityLevel() const noexcept override;
  void setPluginsToSerialize(const char* const* paths, int32_t nbPaths) noexcept override;
  const char* getPluginToSerialize(int32_t index) const noexcept override;
  int32_t getNbPluginsToSerialize() const noexcept override;
  const std::vector<std::string>& plugins() const { return choices_.plugins; }  ///< paths of libraries for the plan
  void setMaxAuxStreams(int32_t nbStreams) noexcept override;
  int32_t getMaxAuxStreams() const noexcept override;
  void setProgressMonitor(nv::IProgressMonitor* monitor) noexcept override;
  nv::IProgressMonitor* getProgressMonitor() const noexcept override;
  void setRuntimePlatform(nv::RuntimePlatform runtimePlatform) noexcept override;
  nv::RuntimePlatform getRuntimePlatform() const noexcept override;
  void setMaxNbTactics(int32_t maxTactics) noexcept override;
  int32_t getMaxNbTactics() const noexcept override;
  bool setTilingOptimizationLevel(nv::TilingOptimizationLevel level) noexcept override;
  nv::TilingOptimizationLevel getTilingOptimizationLevel() const noexcept override;
  bool setL2LimitForTiling(int64_t size) noexcept override;
  int64_t getL2LimitForTiling() const noexcept override;
  bool setRemoteAutoTuningConfig(const char* config) noexcept override;
  const char* getRemoteAutoTuningConfig() const noexcept override;

 private:
  /// Preview features that have become how it is.
  static constexpr uint32_t kAlwaysOn = 1U << static_cast<uint32_t>(nv::PreviewFeature::kPROFILE_SHARING_0806);

  /// Everything that `reset` brings back.
  struct Choices {
    int32_t average_timing = 1;
    nv::EngineCapability capability = nv::EngineCapability::kSTANDARD;
    nv::IInt8Calibrator* calibrator = nullptr;
    nv::BuilderFlags flags = 1U << static_cast<uint32_t>(nv::BuilderFlag::kTF32);
    std::map<const nv::ILayer*, nv::DeviceType> device_types;
    nv::DeviceType default_device = nv::DeviceType::kGPU;
    cudaStream_t stream = nullptr;
    nv::ProfilingVerbosity verbosity = nv::ProfilingVerbosity::kLAYER_NAMES_ONLY;
    nv::IAlgorithmSelector* selector = nullptr;
    const nv::IOptimizationProfile* calibration_profile = nullptr;
    nv::QuantizationFlags quantization_flags = 0;
    std::optional<nv::TacticSources> tactic_sources;  ///< none: as Kiln likes
    std::array<size_t, 6> memory_limits{};            ///< by MemoryPoolType
    uint32_t preview_features = kAlwaysOn;
    int32_t optimization_level = 3;
    nv::HardwareCompatibilityLevel hardware_level = nv::HardwareCompatibilityLevel::kNONE;
    std::vector<std::string> plugins;
    int32_t auxiliary_streams = -1;
    nv::IProgressMonitor* monitor = nullptr;
    nv::RuntimePlatform platform = nv::RuntimePlatform::kSAME_AS_BUILD;
    int32_t max_tactics = -1;
    nv::TilingOptimizationLevel tiling = nv::TilingOptimizationLevel::kNONE;
    int64_t l2_limit = -1;
  };
  Choices defaults() const;
  template <class E>
  void set_enum(const char* call, E Choices::*field, E value) noexcept;

  Reporter reporter_;
  const size_t device_memory_;
  const std::string device_identity_;
  Choices choices_;
  std::vector<const OptimizationProfile*> profiles_;
  const nv::ITimingCache* given_cache_ = nullptr;  ///< the program's own object, and its to delete
  std::shared_ptr<TimingCache> timing_cache_;      ///< what it holds, or ours; null until one is needed
};

}  // namespace kiln::api
