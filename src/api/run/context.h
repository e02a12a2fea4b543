/// IExecutionContext: shapes, addresses and the run of an engine.
#pragma once

#include <NvInferRuntime.h>

#include <memory>
#include <string>
#include <vector>

#include "api/run/debug_tensors.h"
#include "api/run/engine.h"
#include "api/run/program_allocator.h"
#include "runtime/context.h"

namespace kiln::api {

/// The state of a context beside what it runs: settings that programs read back.
struct ContextSettings {
  std::string name;
  bool debug_sync = false;
  bool emits_profile = true;
  size_t persistent_cache_limit = 0;
  nvinfer1::ProfilingVerbosity nvtx_verbosity = nvinfer1::ProfilingVerbosity::kLAYER_NAMES_ONLY;
  nvinfer1::IGpuAllocator* temporary_allocator = nullptr;
  cudaEvent_t inputs_consumed = nullptr;
};

class Context final : public nvinfer1::IExecutionContext,
                      public nvinfer1::apiv::VExecutionContext,
                      private runtime::FaultObserver,
                      private runtime::OutputMemory {
 public:
  using Dims = nvinfer1::Dims;
  using Strategy = nvinfer1::ExecutionContextAllocationStrategy;

  /// Memory is from where the engine's is, or (kUSER_MANAGED) given by the program.
  static Result<std::unique_ptr<Context>> create(const Engine& engine, const Reporter& parent, Strategy strategy);

  const plan::Plan& plan() const { return context_->engine().plan(); }
  const runtime::Context& runtime_context() const { return *context_; }
  /// The same, which knows all that the set shapes decide, unless they contradict each other.
  const runtime::Context& inferred_context() const {
    if (context_->all_inputs_set()) static_cast<void>(context_->infer_shapes());
    return *context_;
  }

  nvinfer1::IExecutionContext* getPImpl() noexcept override { return this; }
  void setDebugSync(bool sync) noexcept override { settings_.debug_sync = sync; }
  bool getDebugSync() const noexcept override { return settings_.debug_sync; }
  void setProfiler(nvinfer1::IProfiler* profiler) noexcept override;
  nvinfer1::IProfiler* getProfiler() const noexcept override { return profiler_; }
  nvinfer1::ICudaEngine const& getEngine() const noexcept override { return engine_; }
  void setName(char const* name) noexcept override;
  char const* getName() const noexcept override { return settings_.name.c_str(); }
  void setDeviceMemory(void* memory) noexcept override;
  void setDeviceMemoryV2(void* memory, int64_t size) noexcept override;
  size_t updateDeviceMemorySizeForShapes() noexcept override;
  int32_t getOptimizationProfile() const noexcept override { return context_->profile(); }
  bool setOptimizationProfileAsync(int32_t index, cudaStream_t stream) noexcept override;
  void setErrorRecorder(nvinfer1::IErrorRecorder* recorder) noexcept override { reporter_.set_recorder(recorder); }
  nvinfer1::IErrorRecorder* getErrorRecorder() const noexcept override { return reporter_.recorder(); }

  bool setInputShape(char const* name, Dims const& dims) noexcept override;
  Dims getTensorShape(char const* name) const noexcept override;
  Dims getTensorStrides(char const* name) const noexcept override;
  bool allInputDimensionsSpecified() const noexcept override;
  bool allInputShapesSpecified() const noexcept override;
  int32_t inferShapes(int32_t max_names, char const** names) noexcept override;
  int64_t getMaxOutputSize(char const* name) const noexcept override;

  bool setTensorAddress(char const* name, void* data) noexcept override;
  void const* getTensorAddress(char const* name) const noexcept override;
  bool setInputTensorAddress(char const* name, void const* data) noexcept override;
  bool setOutputTensorAddress(char const* name, void* data) noexcept override;
  void* getOutputTensorAddress(char const* name) const noexcept override;
  bool setOutputAllocator(char const* name, nvinfer1::IOutputAllocator* allocator) noexcept override;
  nvinfer1::IOutputAllocator* getOutputAllocator(char const* name) noexcept override;

  bool executeV2(void* const* bindings) noexcept override;
  bool enqueueV3(cudaStream_t stream) noexcept override;
  void setEnqueueEmitsProfile(bool emits) noexcept override { settings_.emits_profile = emits; }
  bool getEnqueueEmitsProfile() const noexcept override { return settings_.emits_profile; }
  bool reportToProfiler() const noexcept override;
  bool setInputConsumedEvent(cudaEvent_t event) noexcept override;
  cudaEvent_t getInputConsumedEvent() const noexcept override { return settings_.inputs_consumed; }

  bool setTemporaryStorageAllocator(nvinfer1::IGpuAllocator* allocator) noexcept override;
  nvinfer1::IGpuAllocator* getTemporaryStorageAllocator() const noexcept override {
    return settings_.temporary_allocator;
  }
  void setPersistentCacheLimit(size_t size) noexcept override { settings_.persistent_cache_limit = size; }
  size_t getPersistentCacheLimit() const noexcept override { return settings_.persistent_cache_limit; }
  bool setNvtxVerbosity(nvinfer1::ProfilingVerbosity verbosity) noexcept override;
  nvinfer1::ProfilingVerbosity getNvtxVerbosity() const noexcept override { return settings_.nvtx_verbosity; }
  void setAuxStreams(cudaStream_t* streams, int32_t count) noexcept override;
  bool setDebugListener(nvinfer1::IDebugListener* listener) noexcept override;
  nvinfer1::IDebugListener* getDebugListener() noexcept override { return debug_tensors_.listener(); }
  bool setTensorDebugState(char const* name, bool flag) noexcept override;
  bool getDebugState(char const* name) const noexcept override;
  bool setAllTensorsDebugState(bool flag) noexcept override;
  bool setUnfusedTensorsDebugState(bool flag) noexcept override;
  bool getUnfusedTensorsDebugState() const noexcept override { return debug_tensors_.unfused_state(); }
  nvinfer1::IRuntimeConfig* getRuntimeConfig() const noexcept override;
  bool setCommunicator(void* communicator) noexcept override;

 private:
  Context(const Engine& engine, const Reporter& parent, Strategy strategy, std::unique_ptr<runtime::Context> context);

  void faulted(const Error& error, const Stream* stream) noexcept override {
    const bool is_own = stream && stream == own_stream_.get();
    reporter_.report(is_own ? "IExecutionContext::executeV2" : "IExecutionContext::enqueueV3", error);
  }
  Result<void*> memory_of(int output, const Extents& extents) override;
  Result<Extents> extents_of(const IoRef& io) const;  ///< -1 where not known yet
  Result<Extents> known_extents_of(const IoRef& io) const;
  Status ask_output_allocators();
  void forget_shape_memory();
  void set_output_address(int output, void* data);
  Status enqueue(Stream& stream, cudaStream_t handle);
  Status enqueue_outputs(Stream& stream, cudaStream_t handle);
  void apply_debug_states(cudaStream_t handle);
  /// Fails in calls of a debug listener's.
  Status check_not_called() const;
  Status report_times() const;
  Status wait_for_graph() const;
  Status wait_for(Stream& stream, bool& faulted);
  Device& device() const { return context_->engine().device(); }

  const Engine& engine_;  ///< for getEngine alone: a program may have deleted it
  Reporter reporter_;
  const Strategy strategy_;
  ContextSettings settings_;
  std::shared_ptr<Allocator> temporary_memory_;  ///< of setTemporaryStorageAllocator
  std::unique_ptr<Event> inputs_consumed_;
  nvinfer1::IProfiler* profiler_ = nullptr;
  std::vector<nvinfer1::IOutputAllocator*> output_allocators_;  ///< by output; null: none
  std::vector<void*> output_addresses_;  ///< by output, as the program set them: what an allocator gave is its own
  /// By output, what its allocator gave last. executeV2 asks allocators to enlarge that memory, since its bindings are
  /// new in each call. enqueueV3 asks them to enlarge what setTensorAddress said.
  std::vector<void*> given_memory_;
  int num_output_allocators_ = 0;
  std::unique_ptr<Stream> own_stream_;  ///< of executeV2
  DebugTensors debug_tensors_;
  bool has_run_ = false;
  cudaStream_t latest_stream_ = nullptr;       ///< of the latest enqueueV3, or of this one while it goes on
  std::unique_ptr<runtime::Context> context_;  ///< goes first: waits for runs in flight
};

}  // namespace kiln::api
