#include "api/build/builder.h"

#include <malloc.h>

#include <algorithm>
#include <optional>

#include "api/base/create.h"
#include "api/base/host_memory.h"
#include "api/base/network_handle.h"
#include "api/build/algorithms.h"
#include "api/build/alias_plugins.h"
#include "api/build/build_request.h"
#include "api/build/builder_config.h"
#include "api/build/cache_aliases.h"
#include "api/build/calibration.h"
#include "api/build/compilers.h"
#include "api/build/edge_types.h"
#include "api/build/expand_plugins.h"
#include "api/build/memory_monitor.h"
#include "api/build/missing_choices.h"
#include "api/build/network.h"
#include "api/build/plugin_handles.h"
#include "api/build/progress.h"
#include "api/run/devices.h"
#include "api/run/engine.h"
#include "api/run/program_allocator.h"
#include "backend/cpu/tactics/backend.h"
#include "backend/cuda/tactics/backend.h"
#include "builder/build.h"
#include "plan/reader.h"
#include "plan/writer.h"
#include "plugin/plan_libraries.h"

namespace kiln::api {
namespace {

Result<Network*> network_argument(nv::INetworkDefinition& network) {
  nv::INetworkDefinition* const given = address_of(network);
  TRY(require(given != nullptr, "the network is null"));
  return static_cast<Network*>(given);
}
Result<BuilderConfig*> config_argument(nv::IBuilderConfig& config) {
  nv::IBuilderConfig* const given = address_of(config);
  TRY(require(given != nullptr, "the configuration is null"));
  return static_cast<BuilderConfig*>(given);
}

/// The backend of the device that this thread builds for.
Result<std::unique_ptr<Backend>> engine_backend() {
  Device& device = TRY(engine_device());
  if (device.kind() == DeviceKind::kCuda)
    return std::make_unique<cuda::CudaBackend>(static_cast<cuda::CudaDevice&>(device));
  return std::make_unique<cpu::CpuBackend>(static_cast<cpu::CpuDevice&>(device));
}

/// Gives back to the system what malloc keeps of a build's constants and packed weights: an engine is often loaded
/// next.
struct TrimmedAtEnd {
  TrimmedAtEnd() = default;
  TrimmedAtEnd(const TrimmedAtEnd&) = delete;
  TrimmedAtEnd& operator=(const TrimmedAtEnd&) = delete;
  ~TrimmedAtEnd() {
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
  }
};

Result<plan::Plan> build(nv::INetworkDefinition& network_argument_, nv::IBuilderConfig& config_argument_,
                         const plugin::Makers& makers, nv::IGpuAllocator* allocator, Log& log) {
  const TrimmedAtEnd trimmed;  // before the plan is written
  Network& network = *TRY(network_argument(network_argument_));
  BuilderConfig& config = *TRY(config_argument(config_argument_));
  BuildRequest request = TRY(request_of(network, config));
  std::vector<plan::Weight> libraries = TRY(plugin::read_libraries(config.plugins()));
  const MemoryMonitor memory(config.has(nv::BuilderFlag::kMONITOR_MEMORY), log);
  memory.tell("before the build");
  Progress progress(config.getProgressMonitor());
  request.timing_cache = config.timing_cache();
  request.progress = &Progress::report;
  request.progress_user = &progress;
  ir::Graph graph = TRY(graph_to_build(network, config));
  if (config.getPreviewFeature(nv::PreviewFeature::kALIASED_PLUGIN_IO_10_03))
    TRY(alias_plugins(graph));
  else
    warn_of_aliases(graph, log);
  request.expand_plugins = [&network](ir::Graph& g) { return expand_plugins(network, g, RangesAre::kKnown); };
  const std::unique_ptr<Backend> backend = TRY(engine_backend());
  warn_of_missing_choices(config, graph, backend->device(), log);
  give_plugin_handles(graph, config, backend->device(), log);
  request.memory = TRY(ProgramAllocator::create(allocator, backend->device()));
  TensorRanges ranges = TRY(tensor_ranges(network, config, {graph, *backend, request, makers, allocator}));
  request.int8_ranges = std::move(ranges.int8);
  request.half_ranges = std::move(ranges.half);
  request.warns_of_precisions = config.has(nv::BuilderFlag::kPREFER_PRECISION_CONSTRAINTS);
  TRY(quantize_edges(network, config, graph, request.int8_ranges));
  std::optional<AlgorithmSelection> selection;
  if (nv::IAlgorithmSelector* const selector = config.getAlgorithmSelector())
    request.selector = &selection.emplace(*selector, config.has(nv::BuilderFlag::kREJECT_EMPTY_ALGORITHMS));
  plan::Plan plan = TRY(build_plan(graph, *backend, request, log));
  memory.tell("after the build");
  memory.tell(plan);
  announce_compiled(backend->device(), log);
  if (backend->device().kind() == DeviceKind::kCuda)
    plan.build.compute_capability = compute_capability(static_cast<const cuda::CudaDevice&>(backend->device()));
  plan.plugin_libraries = std::move(libraries);
  plan.build.profiling_verbosity = static_cast<int>(config.getProfilingVerbosity());
  plan.build.debugs_unfused = network.debugs_unfused();
  plan.build.cache_inputs = cache_inputs(network.graph(), plan);
  plan.build.tactic_sources = static_cast<int>(config.getTacticSources());
  const size_t limit = config.getMemoryPoolLimit(nv::MemoryPoolType::kWORKSPACE);
  for (const plan::Profile& profile : plan.profiles)
    if (static_cast<uint64_t>(profile.workspace_bytes) > limit)
      log.warning("a layer takes ", profile.workspace_bytes, " bytes of workspace, more than the limit of ", limit,
                  ": Kiln does not choose tactics by that limit");
  return plan;
}

/// A program's stream writer, which may take fewer bytes than it is given.
class ProgramSink final : public plan::Sink {
 public:
  explicit ProgramSink(nv::IStreamWriter& writer) : writer_(writer) {}
  Status write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const int64_t taken = writer_.write(bytes.data(), static_cast<int64_t>(bytes.size()));
      if (taken <= 0 || static_cast<uint64_t>(taken) > bytes.size())
        return error(Code::kIo, "the stream writer answered ", taken, " when given ", bytes.size(), " bytes");
      bytes = bytes.subspan(static_cast<size_t>(taken));
    }
    return {};
  }

 private:
  nv::IStreamWriter& writer_;
};

/// Takes a plan's bytes to where an engine keeps them, so that there are not two of all weights.
class EngineSink final : public plan::Sink {
 public:
  Status expect(uint64_t size_bytes) override {
    HostTensor::Fresh fresh = TRY(HostTensor::make(DType::kU8, {static_cast<int64_t>(size_bytes)}));
    bytes_ = std::move(fresh.tensor);
    left_ = fresh.data;
    return {};
  }
  Status write(std::span<const std::byte> more) override {
    CHECK(more.size() <= left_.size());
    std::ranges::copy(more, left_.begin());
    left_ = left_.subspan(more.size());
    return {};
  }
  Result<std::shared_ptr<const plan::Plan>> read() const { return plan::read_plan(bytes_.bytes(), bytes_.owner()); }

 private:
  HostTensor bytes_;
  std::span<std::byte> left_;
};

}  // namespace

nv::IHostMemory* Builder::buildSerializedNetwork(nv::INetworkDefinition& network, nv::IBuilderConfig& config) noexcept {
  return guard(reporter_, "IBuilder::buildSerializedNetwork", static_cast<nv::IHostMemory*>(nullptr),
               [&]() -> Result<nv::IHostMemory*> {
                 const TrimmedAtEnd trimmed;
                 const plan::Plan plan = TRY(build(network, config, {plugins_}, allocator_, reporter_.log()));
                 auto bytes = TRY(plan::write_plan(plan));
                 return new HostMemory(std::move(bytes));
               });
}

nv::IHostMemory* Builder::buildSerializedNetworkWithKernelText(nv::INetworkDefinition& network,
                                                               nv::IBuilderConfig& config,
                                                               nv::IHostMemory*& kernelText) noexcept {
  nv::IHostMemory* const plan = buildSerializedNetwork(network, config);
  if (nv::IHostMemory** const text = address_of(kernelText)) *text = nullptr;  // the CPU's kernels have no source text
  return plan;
}

bool Builder::buildSerializedNetworkToStream(nv::INetworkDefinition& network, nv::IBuilderConfig& config,
                                             nv::IStreamWriter& writer) noexcept {
  return guard(reporter_, "IBuilder::buildSerializedNetworkToStream", [&]() -> Status {
    nv::IStreamWriter* const given = address_of(writer);
    TRY(require(given != nullptr, "the writer is null"));
    const TrimmedAtEnd trimmed;
    const plan::Plan plan = TRY(build(network, config, {plugins_}, allocator_, reporter_.log()));
    ProgramSink sink(*given);
    return plan::write_plan(plan, sink);
  });
}

nv::ICudaEngine* Builder::buildEngineWithConfig(nv::INetworkDefinition& network, nv::IBuilderConfig& config) noexcept {
  return guard(reporter_, "IBuilder::buildEngineWithConfig", static_cast<nv::ICudaEngine*>(nullptr),
               [&]() -> Result<nv::ICudaEngine*> {
                 // Through bytes: the built plan borrows weights that the program may free now.
                 EngineSink sink;
                 TRY(plan::write_plan(TRY(build(network, config, {plugins_}, allocator_, reporter_.log())), sink));
                 return make_engine(TRY(sink.read()), {plugins_}, reporter_, allocator_);
               });
}

bool Builder::isNetworkSupported(const nv::INetworkDefinition& network,
                                 const nv::IBuilderConfig& config) const noexcept {
  return guard(reporter_, "IBuilder::isNetworkSupported", [&]() -> Status {
    // The query changes neither of them; the network only infers types that it would infer later.
    Network& ours = *TRY(network_argument(const_cast<nv::INetworkDefinition&>(network)));
    BuilderConfig& choices = *TRY(config_argument(const_cast<nv::IBuilderConfig&>(config)));
    TRY(request_of(ours, choices));
    const ir::Graph graph = TRY(graph_to_build(ours, choices));
    return require(!graph.outputs().empty() || !ours.shape_outputs().empty(),
                   "the network has no output: call markOutput");
  });
}

nv::INetworkDefinition* Builder::createNetworkV2(nv::NetworkDefinitionCreationFlags flags) noexcept {
  return guard(reporter_, "IBuilder::createNetworkV2", static_cast<nv::INetworkDefinition*>(nullptr),
               [&]() -> Result<nv::INetworkDefinition*> {
                 TRY(require(flags < (1U << nv::EnumMax<nv::NetworkDefinitionCreationFlag>()), "flags ", flags,
                             " have bits that are no NetworkDefinitionCreationFlag"));
                 return new Network(*this, reporter_, flags);
               });
}

nv::IBuilderConfig* Builder::createBuilderConfig() noexcept {
  return guard(reporter_, "IBuilder::createBuilderConfig", static_cast<nv::IBuilderConfig*>(nullptr),
               [&]() -> Result<nv::IBuilderConfig*> {
                 Device& device = TRY(engine_device());
                 return new BuilderConfig(reporter_, static_cast<size_t>(device.total_memory_bytes()),
                                          device.identity());
               });
}

nv::IOptimizationProfile* Builder::createOptimizationProfile() noexcept {
  return guard(reporter_, "IBuilder::createOptimizationProfile", static_cast<nv::IOptimizationProfile*>(nullptr),
               [&]() -> nv::IOptimizationProfile* {
                 profiles_.push_back(std::make_unique<OptimizationProfile>(reporter_));
                 return profiles_.back().get();
               });
}

namespace {
// Every GPU that Kiln takes has tensor cores for FP16 and TF32.
bool runs_on_cuda() { return engine_device_kind().value_or(DeviceKind::kCpu) == DeviceKind::kCuda; }
}  // namespace
bool Builder::platformHasFastFp16() const noexcept { return runs_on_cuda(); }
bool Builder::platformHasFastInt8() const noexcept { return true; }
bool Builder::platformHasTf32() const noexcept { return runs_on_cuda(); }
int32_t Builder::getMaxDLABatchSize() const noexcept { return 0; }
int32_t Builder::getNbDLACores() const noexcept { return 0; }
void Builder::setGpuAllocator(nv::IGpuAllocator* allocator) noexcept { allocator_ = allocator; }
void Builder::setErrorRecorder(nv::IErrorRecorder* recorder) noexcept { reporter_.set_recorder(recorder); }
nv::IErrorRecorder* Builder::getErrorRecorder() const noexcept { return reporter_.recorder(); }
void Builder::reset() noexcept {
  reporter_.set_recorder(nullptr);
  allocator_ = nullptr;
  max_threads_ = 1;
}
nv::ILogger* Builder::getLogger() const noexcept { return &reporter_.logger(); }
bool Builder::setMaxThreads(int32_t maxThreads) noexcept {
  return guard(reporter_, "IBuilder::setMaxThreads", [&]() -> Status {
    TRY(require(maxThreads >= 1, "maxThreads is ", maxThreads, "; 1 is the least"));
    max_threads_ = maxThreads;
    return {};
  });
}
int32_t Builder::getMaxThreads() const noexcept { return max_threads_; }
nv::IPluginRegistry& Builder::getPluginRegistry() noexcept { return plugins_; }

}  // namespace kiln::api

void* createInferBuilder_INTERNAL(void* logger, int32_t version) noexcept {
  nvinfer1::ILogger* const program = kiln::api::accept_program(logger, "createInferBuilder", version);
  if (!program) return nullptr;
  const kiln::api::Reporter reporter(*program);
  return kiln::api::guard(reporter, "createInferBuilder", static_cast<nvinfer1::IBuilder*>(nullptr),
                          [&]() -> nvinfer1::IBuilder* {
                            kiln::api::announce_compilers(reporter.log());
                            kiln::api::make_engine_device_current();
                            return new kiln::api::Builder(*program);
                          });
}
