/// IRuntime: plans become engines.
#pragma once

#include <NvInferRuntime.h>

#include <memory>
#include <string>

#include "api/base/guard.h"
#include "plan/plan.h"
#include "plugin/plan_libraries.h"
#include "plugin/registry.h"

namespace kiln::api {

class Runtime final : public nvinfer1::IRuntime, public nvinfer1::apiv::VRuntime {
 public:
  explicit Runtime(nvinfer1::ILogger& logger) : reporter_(logger), plugins_(::getPluginRegistry()) {
    mImpl = this;
    plugins_.set_logger(&logger);
  }

  nvinfer1::IRuntime* getPImpl() noexcept override { return this; }
  nvinfer1::ICudaEngine* deserializeCudaEngine(void const* blob, size_t size) noexcept override;
  nvinfer1::ICudaEngine* deserializeCudaEngine(nvinfer1::IStreamReader& reader) noexcept override;
  nvinfer1::ICudaEngine* deserializeCudaEngineV2(nvinfer1::IStreamReaderV2& reader) noexcept override;
  void setDLACore(int32_t core) noexcept override;
  int32_t getDLACore() const noexcept override { return -1; }
  int32_t getNbDLACores() const noexcept override { return 0; }
  void setGpuAllocator(nvinfer1::IGpuAllocator* allocator) noexcept override { allocator_ = allocator; }
  void setErrorRecorder(nvinfer1::IErrorRecorder* recorder) noexcept override { reporter_.set_recorder(recorder); }
  nvinfer1::IErrorRecorder* getErrorRecorder() const noexcept override { return reporter_.recorder(); }
  nvinfer1::ILogger* getLogger() const noexcept override { return &reporter_.logger(); }
  bool setMaxThreads(int32_t threads) noexcept override;
  int32_t getMaxThreads() const noexcept override { return max_threads_; }
  void setTemporaryDirectory(char const* path) noexcept override;
  char const* getTemporaryDirectory() const noexcept override;
  void setTempfileControlFlags(nvinfer1::TempfileControlFlags flags) noexcept override { tempfile_flags_ = flags; }
  nvinfer1::TempfileControlFlags getTempfileControlFlags() const noexcept override { return tempfile_flags_; }
  nvinfer1::IPluginRegistry& getPluginRegistry() noexcept override { return plugins_; }
  void setPluginRegistryParent(nvinfer1::IPluginRegistry* parent) noexcept override { plugins_.set_parent(parent); }
  nvinfer1::IRuntime* loadRuntime(char const* path) noexcept override;
  void setEngineHostCodeAllowed(bool allowed) noexcept override { host_code_allowed_ = allowed; }
  bool getEngineHostCodeAllowed() const noexcept override { return host_code_allowed_; }

 private:
  Result<nvinfer1::ICudaEngine*> load(Result<std::shared_ptr<const plan::Plan>> read);
  Result<std::shared_ptr<const plugin::PlanLibraries>> libraries_of(const plan::Plan& plan) const;

  Reporter reporter_;
  plugin::Registry plugins_;
  nvinfer1::IGpuAllocator* allocator_ = nullptr;
  int32_t max_threads_ = 1;
  std::string temporary_directory_;
  nvinfer1::TempfileControlFlags tempfile_flags_ = 3;  // both of TempfileControlFlag
  bool host_code_allowed_ = false;
};

}  // namespace kiln::api
