/// ICudaEngine: answers questions about a loaded plan and makes contexts.
#pragma once

#include <NvInferRuntime.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/guard.h"
#include "plugin/make_plugins.h"
#include "runtime/engine.h"

namespace kiln::api {

/// Loads `plan` on the device; `makers` make its plugins. The engine has the logger and recorder of `parent`; weights
/// on a GPU and contexts get their memory from `allocator`, or from the device where it is null. The caller deletes it.
Result<nvinfer1::ICudaEngine*> make_engine(std::shared_ptr<const plan::Plan> plan, const plugin::Makers& makers,
                                           const Reporter& parent, nvinfer1::IGpuAllocator* allocator);

/// The verbosity with which the plan was built.
nvinfer1::ProfilingVerbosity profiling_verbosity(const plan::Plan& plan);

/// An input or output of an engine, by name or by its index among all: inputs first, in the network's order.
struct IoRef {
  bool is_input = false;
  int index = -1;  ///< among the inputs, or among the outputs
  const plan::IoTensor* tensor = nullptr;
};
std::optional<IoRef> find_io(const runtime::Engine& engine, std::string_view name);
Result<IoRef> get_io(const runtime::Engine& engine, const char* name);     ///< the error lists the names there are
Result<IoRef> get_input(const runtime::Engine& engine, const char* name);  ///< the same for inputs alone
Result<IoRef> get_output(const runtime::Engine& engine, const char* name);

class Engine final : public nvinfer1::ICudaEngine, public nvinfer1::apiv::VCudaEngine {
 public:
  using Dims = nvinfer1::Dims;
  using Strategy = nvinfer1::ExecutionContextAllocationStrategy;
  using Select = nvinfer1::OptProfileSelector;

  Engine(std::shared_ptr<const runtime::Engine> engine, Reporter reporter);

  const std::shared_ptr<const runtime::Engine>& runtime_engine() const { return engine_; }
  const plan::Plan& plan() const { return engine_->plan(); }

  nvinfer1::ICudaEngine* getPImpl() noexcept override { return this; }
  int32_t getNbLayers() const noexcept override { return num_layers_; }
  nvinfer1::IHostMemory* serialize() const noexcept override;
  nvinfer1::IExecutionContext* createExecutionContext(Strategy strategy) noexcept override;
  nvinfer1::IExecutionContext* createExecutionContextWithoutDeviceMemory() noexcept override;
  size_t getDeviceMemorySize() const noexcept override;
  bool isRefittable() const noexcept override;
  char const* getName() const noexcept override;
  int32_t getNbOptimizationProfiles() const noexcept override;
  int32_t const* getProfileTensorValues(char const* name, int32_t profile, Select select) const noexcept override;
  nvinfer1::EngineCapability getEngineCapability() const noexcept override;
  void setErrorRecorder(nvinfer1::IErrorRecorder* recorder) noexcept override { reporter_.set_recorder(recorder); }
  nvinfer1::IErrorRecorder* getErrorRecorder() const noexcept override { return reporter_.recorder(); }
  bool hasImplicitBatchDimension() const noexcept override { return false; }
  nvinfer1::TacticSources getTacticSources() const noexcept override;
  nvinfer1::ProfilingVerbosity getProfilingVerbosity() const noexcept override;
  nvinfer1::IEngineInspector* createEngineInspector() const noexcept override;
  Dims getTensorShape(char const* name) const noexcept override;
  nvinfer1::DataType getTensorDataType(char const* name) const noexcept override;
  nvinfer1::TensorLocation getTensorLocation(char const* name) const noexcept override;
  bool isShapeInferenceIO(char const* name) const noexcept override;
  nvinfer1::TensorIOMode getTensorIOMode(char const* name) const noexcept override;
  int32_t getTensorBytesPerComponent(char const* name) const noexcept override;
  int32_t getTensorComponentsPerElement(char const* name) const noexcept override;
  nvinfer1::TensorFormat getTensorFormat(char const* name) const noexcept override;
  char const* getTensorFormatDesc(char const* name) const noexcept override;
  int32_t getTensorVectorizedDim(char const* name) const noexcept override;
  Dims getProfileShape(char const* name, int32_t profile, Select select) const noexcept override;
  int32_t getNbIOTensors() const noexcept override;
  char const* getIOTensorName(int32_t index) const noexcept override;
  nvinfer1::HardwareCompatibilityLevel getHardwareCompatibilityLevel() const noexcept override;
  int32_t getNbAuxStreams() const noexcept override { return engine_->num_aux_streams(); }
  int32_t getTensorBytesPerComponentV2(char const* name, int32_t profile) const noexcept override;
  int32_t getTensorComponentsPerElementV2(char const* name, int32_t profile) const noexcept override;
  nvinfer1::TensorFormat getTensorFormatV2(char const* name, int32_t profile) const noexcept override;
  char const* getTensorFormatDescV2(char const* name, int32_t profile) const noexcept override;
  int32_t getTensorVectorizedDimV2(char const* name, int32_t profile) const noexcept override;
  nvinfer1::ISerializationConfig* createSerializationConfig() noexcept override;
  nvinfer1::IHostMemory* serializeWithConfig(nvinfer1::ISerializationConfig& config) const noexcept override;
  size_t getDeviceMemorySizeForProfile(int32_t profile) const noexcept override;
  nvinfer1::IRefitter* createRefitter(nvinfer1::ILogger& logger) noexcept override;
  bool setWeightStreamingBudget(int64_t budget) noexcept override;
  int64_t getWeightStreamingBudget() const noexcept override { return 0; }
  int64_t getMinimumWeightStreamingBudget() const noexcept override { return 0; }
  int64_t getStreamableWeightsSize() const noexcept override { return 0; }
  bool isDebugTensor(char const* name) const noexcept override;
  bool setWeightStreamingBudgetV2(int64_t budget) noexcept override;
  int64_t getWeightStreamingBudgetV2() const noexcept override { return 0; }
  int64_t getWeightStreamingAutomaticBudget() const noexcept override { return 0; }
  int64_t getWeightStreamingScratchMemorySize() const noexcept override { return 0; }
  int64_t getDeviceMemorySizeV2() const noexcept override;
  int64_t getDeviceMemorySizeForProfileV2(int32_t profile) const noexcept override;
  int64_t const* getProfileTensorValuesV2(char const* name, int32_t profile, Select select) const noexcept override;
  nvinfer1::IExecutionContext* createExecutionContextWithRuntimeConfig(
      nvinfer1::IRuntimeConfig* config) noexcept override;
  nvinfer1::IRuntimeConfig* createRuntimeConfig() noexcept override;
  int64_t getEngineStat(nvinfer1::EngineStat stat) const noexcept override;
  char const* getAliasedInputTensor(char const* name) const noexcept override;

 private:
  nvinfer1::IExecutionContext* make_context(const char* call, Strategy strategy) noexcept;
  Result<nvinfer1::IHostMemory*> plan_bytes() const;
  Result<Ref<const plan::Profile>> profile(int32_t index) const;
  /// An element of min, opt and max, and of what of them: extents, or values of a shape input.
  Result<Ref<const Extents>> profile_entry(const char* name, int32_t profile, Select select, bool values) const;

  std::shared_ptr<const runtime::Engine> engine_;
  Reporter reporter_;
  std::vector<std::string> format_texts_;            ///< by index among all inputs and outputs
  int32_t num_layers_ = 0;                           ///< of profile 0, those in bodies included
  std::vector<std::vector<int32_t>> narrow_values_;  ///< for getProfileTensorValues, whose numbers have 32 bits
};

}  // namespace kiln::api
