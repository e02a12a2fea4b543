/// The CUDA executor: hands a step to what loads its kind, `load` in exec/<kind>.cc.
#pragma once

#include <memory>
#include <span>

#include "backend/cuda/device/cuda_device.h"
#include "steps/executor.h"

namespace kiln::cuda {

/// Arguments of a kernel's loader. Constants outlive the step; null where an input is not one. A loaded step uploads
/// the constants that it needs: at run their addresses are null.
struct LoadArguments {
  const StepSpec& spec;
  std::span<const HostTensor* const> constants;
  CudaDevice& device;

  /// A constant on the device, in the memory that the engine takes.
  Result<std::shared_ptr<const Buffer>> upload(std::span<const std::byte> bytes) const {
    return device.upload(bytes, spec.memory);
  }
};

class CudaExecutor final : public Executor {
 public:
  explicit CudaExecutor(CudaDevice& device) : device_(device) {}
  std::string_view name() const override { return "cuda"; }

 protected:
  Result<std::unique_ptr<LoadedStep>> load_checked(const StepSpec& spec,
                                                   std::span<const HostTensor* const> constants) override;

 private:
  CudaDevice& device_;
};

}  // namespace kiln::cuda
