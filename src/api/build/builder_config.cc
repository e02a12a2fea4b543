#include "api/build/builder_config.h"

#include <algorithm>
#include <bit>

#include "api/base/network_handle.h"
#include "api/build/layer.h"

namespace kiln::api {
namespace {

constexpr uint32_t bits_of(int32_t count) { return (1U << count) - 1; }
constexpr nv::TacticSources kDefaultSources = 1U << static_cast<uint32_t>(nv::TacticSource::kEDGE_MASK_CONVOLUTIONS) |
                                              1U << static_cast<uint32_t>(nv::TacticSource::kJIT_CONVOLUTIONS);
constexpr size_t kKiB = size_t{1} << 10, kMiB = size_t{1} << 20;
constexpr size_t kLeastDlaPool = 4 * kKiB, kMostSharedMemory = 1024 * kMiB;
constexpr int32_t kMaxOptimizationLevel = 5;

template <class E>
Result<uint32_t> bit_of(E value, const char* what) {
  return 1U << static_cast<uint32_t>(TRY(enum_from_api<E>(value, what)));
}
template <class E>
bool has_bit(uint32_t bits, E value) {
  const auto number = static_cast<int32_t>(value);
  return number >= 0 && number < nv::EnumMax<E>() && ((bits >> number) & 1U) != 0;
}
bool is_dla(nv::MemoryPoolType pool) {
  return pool == nv::MemoryPoolType::kDLA_MANAGED_SRAM || pool == nv::MemoryPoolType::kDLA_LOCAL_DRAM ||
         pool == nv::MemoryPoolType::kDLA_GLOBAL_DRAM;
}
Status no_dla() { return error(Code::kUnsupported, "this platform has no DLA"); }

}  // namespace

BuilderConfig::BuilderConfig(const Reporter& reporter, size_t device_memory, std::string device_identity)
    : reporter_(reporter),
      device_memory_(device_memory),
      device_identity_(std::move(device_identity)),
      choices_(defaults()) {
  mImpl = this;
}

BuilderConfig::Choices BuilderConfig::defaults() const {
  Choices choices;
  // Without a DLA the pool of its own memory is 0. The pools in DRAM have TensorRT's defaults nevertheless.
  choices.memory_limits = {device_memory_, 0, 1024 * kMiB, 512 * kMiB, device_memory_, kMostSharedMemory};
  return choices;
}

void BuilderConfig::reset() noexcept {
  guard(reporter_, "IBuilderConfig::reset", [&] {
    choices_ = defaults();
    profiles_.clear();
    given_cache_ = nullptr;
    timing_cache_.reset();
  });
}

template <class E>
void BuilderConfig::set_enum(const char* call, E Choices::*field, E value) noexcept {
  guard(reporter_, call, [&]() -> Status {
    choices_.*field = TRY(enum_from_api<E>(value, "value"));
    return {};
  });
}

TimingCache* BuilderConfig::timing_cache() {
  if (has(nv::BuilderFlag::kDISABLE_TIMING_CACHE)) return nullptr;
  if (!timing_cache_) timing_cache_ = std::make_shared<TimingCache>(device_identity_);
  return timing_cache_.get();
}

void BuilderConfig::setAvgTimingIterations(int32_t avgTiming) noexcept {
  guard(reporter_, "IBuilderConfig::setAvgTimingIterations", [&]() -> Status {
    TRY(require(avgTiming >= 1, "avgTiming is ", avgTiming, "; 1 is the least"));
    choices_.average_timing = avgTiming;
    return {};
  });
}
int32_t BuilderConfig::getAvgTimingIterations() const noexcept { return choices_.average_timing; }
void BuilderConfig::setEngineCapability(nv::EngineCapability capability) noexcept {
  set_enum("IBuilderConfig::setEngineCapability", &Choices::capability, capability);
}
nv::EngineCapability BuilderConfig::getEngineCapability() const noexcept { return choices_.capability; }
void BuilderConfig::setInt8Calibrator(nv::IInt8Calibrator* calibrator) noexcept { choices_.calibrator = calibrator; }
nv::IInt8Calibrator* BuilderConfig::getInt8Calibrator() const noexcept { return choices_.calibrator; }

void BuilderConfig::setFlags(nv::BuilderFlags builderFlags) noexcept {
  guard(reporter_, "IBuilderConfig::setFlags", [&]() -> Status {
    TRY(require((builderFlags & ~bits_of(nv::EnumMax<nv::BuilderFlag>())) == 0, "flags ", builderFlags,
                " have bits that are no BuilderFlag"));
    choices_.flags = builderFlags;
    return {};
  });
}
nv::BuilderFlags BuilderConfig::getFlags() const noexcept { return choices_.flags; }
void BuilderConfig::clearFlag(nv::BuilderFlag builderFlag) noexcept {
  guard(reporter_, "IBuilderConfig::clearFlag", [&]() -> Status {
    choices_.flags &= ~TRY(bit_of(builderFlag, "builderFlag"));
    return {};
  });
}
void BuilderConfig::setFlag(nv::BuilderFlag builderFlag) noexcept {
  guard(reporter_, "IBuilderConfig::setFlag", [&]() -> Status {
    choices_.flags |= TRY(bit_of(builderFlag, "builderFlag"));
    return {};
  });
}
bool BuilderConfig::getFlag(nv::BuilderFlag builderFlag) const noexcept { return has_bit(choices_.flags, builderFlag); }

void BuilderConfig::setDeviceType(const nv::ILayer* layer, nv::DeviceType deviceType) noexcept {
  guard(reporter_, "IBuilderConfig::setDeviceType", [&]() -> Status {
    TRY(require(layer != nullptr, "layer is null"));
    const auto type = TRY(enum_from_api<nv::DeviceType>(deviceType, "deviceType"));
    if (type == nv::DeviceType::kDLA) return no_dla();
    choices_.device_types[layer] = type;
    return {};
  });
}
nv::DeviceType BuilderConfig::getDeviceType(const nv::ILayer* layer) const noexcept {
  const auto found = choices_.device_types.find(layer);
  return found == choices_.device_types.end() ? choices_.default_device : found->second;
}
bool BuilderConfig::isDeviceTypeSet(const nv::ILayer* layer) const noexcept {
  return choices_.device_types.contains(layer);
}
void BuilderConfig::resetDeviceType(const nv::ILayer* layer) noexcept { choices_.device_types.erase(layer); }
bool BuilderConfig::canRunOnDLA(const nv::ILayer* layer) const noexcept {
  guard(reporter_, "IBuilderConfig::canRunOnDLA", [&]() -> Status {
    TRY(require(layer != nullptr, "layer is null"));
    reporter_.log().verbose("layer '", layer->getName(), "' cannot run on a DLA: there is none");
    return {};
  });
  return false;
}
/// The call does nothing where there is no DLA.
void BuilderConfig::setDLACore(int32_t dlaCore) noexcept {
  guard(reporter_, "IBuilderConfig::setDLACore", [&] {
    if (dlaCore >= 0) reporter_.log().warning("there are no DLA cores; the choice of core ", dlaCore, " is ignored");
  });
}
int32_t BuilderConfig::getDLACore() const noexcept { return -1; }
void BuilderConfig::setDefaultDeviceType(nv::DeviceType deviceType) noexcept {
  set_enum("IBuilderConfig::setDefaultDeviceType", &Choices::default_device, deviceType);
}
nv::DeviceType BuilderConfig::getDefaultDeviceType() const noexcept { return choices_.default_device; }
void BuilderConfig::setProfileStream(cudaStream_t stream) noexcept { choices_.stream = stream; }
cudaStream_t BuilderConfig::getProfileStream() const noexcept { return choices_.stream; }

int32_t BuilderConfig::addOptimizationProfile(const nv::IOptimizationProfile* profile) noexcept {
  return guard(reporter_, "IBuilderConfig::addOptimizationProfile", -1, [&]() -> Result<int32_t> {
    TRY(require(profile != nullptr, "profile is null"));
    const auto* const ours = static_cast<const OptimizationProfile*>(profile);
    TRY(ours->request());
    profiles_.push_back(ours);
    return static_cast<int32_t>(profiles_.size()) - 1;
  });
}
int32_t BuilderConfig::getNbOptimizationProfiles() const noexcept { return static_cast<int32_t>(profiles_.size()); }
void BuilderConfig::setProfilingVerbosity(nv::ProfilingVerbosity verbosity) noexcept {
  set_enum("IBuilderConfig::setProfilingVerbosity", &Choices::verbosity, verbosity);
}
nv::ProfilingVerbosity BuilderConfig::getProfilingVerbosity() const noexcept { return choices_.verbosity; }
void BuilderConfig::setAlgorithmSelector(nv::IAlgorithmSelector* selector) noexcept { choices_.selector = selector; }
nv::IAlgorithmSelector* BuilderConfig::getAlgorithmSelector() const noexcept { return choices_.selector; }
bool BuilderConfig::setCalibrationProfile(const nv::IOptimizationProfile* profile) noexcept {
  return guard(reporter_, "IBuilderConfig::setCalibrationProfile", [&]() -> Status {
    TRY(require(profile != nullptr, "profile is null"));
    TRY(static_cast<const OptimizationProfile*>(profile)->request());
    choices_.calibration_profile = profile;
    return {};
  });
}
const nv::IOptimizationProfile* BuilderConfig::getCalibrationProfile() noexcept { return choices_.calibration_profile; }

void BuilderConfig::setQuantizationFlags(nv::QuantizationFlags flags) noexcept {
  guard(reporter_, "IBuilderConfig::setQuantizationFlags", [&]() -> Status {
    TRY(require((flags & ~bits_of(nv::EnumMax<nv::QuantizationFlag>())) == 0, "flags ", flags,
                " have bits that are no QuantizationFlag"));
    choices_.quantization_flags = flags;
    return {};
  });
}
nv::QuantizationFlags BuilderConfig::getQuantizationFlags() const noexcept { return choices_.quantization_flags; }
void BuilderConfig::clearQuantizationFlag(nv::QuantizationFlag flag) noexcept {
  guard(reporter_, "IBuilderConfig::clearQuantizationFlag", [&]() -> Status {
    choices_.quantization_flags &= ~TRY(bit_of(flag, "flag"));
    return {};
  });
}
void BuilderConfig::setQuantizationFlag(nv::QuantizationFlag flag) noexcept {
  guard(reporter_, "IBuilderConfig::setQuantizationFlag", [&]() -> Status {
    choices_.quantization_flags |= TRY(bit_of(flag, "flag"));
    return {};
  });
}
bool BuilderConfig::getQuantizationFlag(nv::QuantizationFlag flag) const noexcept {
  return has_bit(choices_.quantization_flags, flag);
}

bool BuilderConfig::setTacticSources(nv::TacticSources tacticSources) noexcept {
  return guard(reporter_, "IBuilderConfig::setTacticSources", [&]() -> Status {
    TRY(require((tacticSources & ~bits_of(nv::EnumMax<nv::TacticSource>())) == 0, "sources ", tacticSources,
                " have bits that are no TacticSource"));
    choices_.tactic_sources = tacticSources;
    return {};
  });
}
nv::TacticSources BuilderConfig::getTacticSources() const noexcept {
  return choices_.tactic_sources.value_or(kDefaultSources);
}

nv::ITimingCache* BuilderConfig::createTimingCache(const void* blob, size_t size) const noexcept {
  return guard(reporter_, "IBuilderConfig::createTimingCache", static_cast<nv::ITimingCache*>(nullptr),
               [&]() -> Result<nv::ITimingCache*> {
                 TRY(require(blob || size == 0, "blob is null and size is ", size));
                 auto cache = std::make_shared<TimingCache>(device_identity_);
                 if (size > 0) {
                   auto read =
                       TimingCache::parse(std::span(static_cast<const std::byte*>(blob), size), device_identity_);
                   if (read)
                     cache = *std::move(read);
                   else if (read.error().code == Code::kVersion)  // a cache is a hint
                     reporter_.log().warning(read.error().message, "; it is ignored");
                   else
                     return std::unexpected(std::move(read).error());
                 }
                 return new TimingCacheObject(std::move(cache), reporter_);
               });
}
bool BuilderConfig::setTimingCache(const nv::ITimingCache& cache, bool ignoreMismatch) noexcept {
  return guard(reporter_, "IBuilderConfig::setTimingCache", [&]() -> Status {
    const nv::ITimingCache* const given = address_of(cache);
    TRY(require(given != nullptr, "the cache is null"));
    const std::shared_ptr<TimingCache>& ours = static_cast<const TimingCacheObject*>(given)->cache();
    TRY(require(ignoreMismatch || ours->device_identity() == device_identity_, "the cache was made on '",
                ours->device_identity(), "', this device is '", device_identity_, "'"));
    timing_cache_ = ours;
    given_cache_ = given;
    return {};
  });
}
const nv::ITimingCache* BuilderConfig::getTimingCache() const noexcept { return given_cache_; }

void BuilderConfig::setMemoryPoolLimit(nv::MemoryPoolType pool, size_t poolSize) noexcept {
  guard(reporter_, "IBuilderConfig::setMemoryPoolLimit", [&]() -> Status {
    const auto which = TRY(enum_from_api<nv::MemoryPoolType>(pool, "pool"));
    TRY(require(!is_dla(which) || (std::has_single_bit(poolSize) && poolSize >= kLeastDlaPool), "poolSize is ",
                poolSize, "; a DLA's memory is a power of two, ", kLeastDlaPool, " bytes at least"));
    if (which == nv::MemoryPoolType::kTACTIC_SHARED_MEMORY && poolSize > kMostSharedMemory)
      return error(Code::kUnsupported, "poolSize is ", poolSize, "; at most ", kMostSharedMemory,
                   " bytes of shared memory can be a limit");
    choices_.memory_limits[static_cast<size_t>(which)] = poolSize;
    return {};
  });
}
size_t BuilderConfig::getMemoryPoolLimit(nv::MemoryPoolType pool) const noexcept {
  return guard(reporter_, "IBuilderConfig::getMemoryPoolLimit", size_t{0}, [&]() -> Result<size_t> {
    return choices_.memory_limits[static_cast<size_t>(TRY(enum_from_api<nv::MemoryPoolType>(pool, "pool")))];
  });
}
void BuilderConfig::setPreviewFeature(nv::PreviewFeature feature, bool enable) noexcept {
  guard(reporter_, "IBuilderConfig::setPreviewFeature", [&]() -> Status {
    const uint32_t bit = TRY(bit_of(feature, "feature"));
    choices_.preview_features = enable ? choices_.preview_features | bit : choices_.preview_features & ~bit;
    choices_.preview_features |= kAlwaysOn;
    return {};
  });
}
bool BuilderConfig::getPreviewFeature(nv::PreviewFeature feature) const noexcept {
  return has_bit(choices_.preview_features, feature);
}
void BuilderConfig::setBuilderOptimizationLevel(int32_t level) noexcept {
  guard(reporter_, "IBuilderConfig::setBuilderOptimizationLevel", [&]() -> Status {
    TRY(require(level >= 0, "level is ", level, "; 0 is the least"));
    choices_.optimization_level = std::min(level, kMaxOptimizationLevel);
    return {};
  });
}
int32_t BuilderConfig::getBuilderOptimizationLevel() const noexcept { return choices_.optimization_level; }
void BuilderConfig::setHardwareCompatibilityLevel(nv::HardwareCompatibilityLevel level) noexcept {
  set_enum("IBuilderConfig::setHardwareCompatibilityLevel", &Choices::hardware_level, level);
}
nv::HardwareCompatibilityLevel BuilderConfig::getHardwareCompatibilityLevel() const noexcept {
  return choices_.hardware_level;
}

void BuilderConfig::setPluginsToSerialize(const char* const* paths, int32_t nbPaths) noexcept {
  guard(reporter_, "IBuilderConfig::setPluginsToSerialize", [&]() -> Status {
    TRY(require(nbPaths >= 0 && (paths || nbPaths == 0), "paths are null, or nbPaths, ", nbPaths, ", is negative"));
    std::vector<std::string> plugins;
    for (int32_t i = 0; i < nbPaths; ++i) {
      const std::string_view path = TRY(name_argument(paths[i], "a path"));
      TRY(require(!path.empty(), "path ", i, " is empty"));
      TRY(require(std::ranges::find(plugins, path) == plugins.end(), "'", path, "' stands twice"));
      plugins.emplace_back(path);
    }
    choices_.plugins = std::move(plugins);
    return {};
  });
}
const char* BuilderConfig::getPluginToSerialize(int32_t index) const noexcept {
  return index >= 0 && index < getNbPluginsToSerialize() ? choices_.plugins[static_cast<size_t>(index)].c_str()
                                                         : nullptr;
}
int32_t BuilderConfig::getNbPluginsToSerialize() const noexcept {
  return static_cast<int32_t>(choices_.plugins.size());
}
void BuilderConfig::setMaxAuxStreams(int32_t nbStreams) noexcept {
  guard(reporter_, "IBuilderConfig::setMaxAuxStreams", [&]() -> Status {
    TRY(require(nbStreams >= -1, "nbStreams is ", nbStreams, "; -1 is the least"));
    choices_.auxiliary_streams = nbStreams;
    return {};
  });
}
int32_t BuilderConfig::getMaxAuxStreams() const noexcept { return choices_.auxiliary_streams; }
void BuilderConfig::setProgressMonitor(nv::IProgressMonitor* monitor) noexcept { choices_.monitor = monitor; }
nv::IProgressMonitor* BuilderConfig::getProgressMonitor() const noexcept { return choices_.monitor; }
void BuilderConfig::setRuntimePlatform(nv::RuntimePlatform runtimePlatform) noexcept {
  set_enum("IBuilderConfig::setRuntimePlatform", &Choices::platform, runtimePlatform);
}
nv::RuntimePlatform BuilderConfig::getRuntimePlatform() const noexcept { return choices_.platform; }
void BuilderConfig::setMaxNbTactics(int32_t maxTactics) noexcept {
  guard(reporter_, "IBuilderConfig::setMaxNbTactics", [&]() -> Status {
    TRY(require(maxTactics == -1 || maxTactics >= 1, "maxNbTactics is ", maxTactics, "; it must be -1, or 1 at least"));
    choices_.max_tactics = maxTactics;
    return {};
  });
}
int32_t BuilderConfig::getMaxNbTactics() const noexcept { return choices_.max_tactics; }
bool BuilderConfig::setTilingOptimizationLevel(nv::TilingOptimizationLevel level) noexcept {
  return guard(reporter_, "IBuilderConfig::setTilingOptimizationLevel", [&]() -> Status {
    choices_.tiling = TRY(enum_from_api<nv::TilingOptimizationLevel>(level, "level"));
    return {};
  });
}
nv::TilingOptimizationLevel BuilderConfig::getTilingOptimizationLevel() const noexcept { return choices_.tiling; }
bool BuilderConfig::setL2LimitForTiling(int64_t size) noexcept {
  return guard(reporter_, "IBuilderConfig::setL2LimitForTiling", [&]() -> Status {
    TRY(require(size >= 0, "size is ", size, "; it must not be negative"));
    choices_.l2_limit = size;
    return {};
  });
}
int64_t BuilderConfig::getL2LimitForTiling() const noexcept { return choices_.l2_limit; }
bool BuilderConfig::setRemoteAutoTuningConfig(const char*) noexcept {
  return missing(reporter_, "IBuilderConfig::setRemoteAutoTuningConfig", false);
}
const char* BuilderConfig::getRemoteAutoTuningConfig() const noexcept { return nullptr; }

}  // namespace kiln::api
