#include "backend/cuda/exec/executor.h"

namespace kiln::cuda {

#define KERNEL(name) Result<std::unique_ptr<LoadedStep>> load_##name(const LoadArguments&);
#include "backend/cuda/exec/kernels.def"
#undef KERNEL

std::span<const KernelEntry> kernel_table() {
  static constexpr KernelEntry kTable[] = {
#define KERNEL(name) {#name, load_##name},
#include "backend/cuda/exec/kernels.def"
#undef KERNEL
  };
  return kTable;
}

Result<std::unique_ptr<LoadedStep>> CudaExecutor::load(const StepSpec& spec,
                                                       std::span<const HostTensor* const> constants) {
  const CurrentContext current(device_);
  for (const KernelEntry& entry : kernel_table())
    if (entry.name == spec.kernel) return entry.load({spec, constants, device_});
  return error(Code::kVersion, "no CUDA kernel is called '", spec.kernel, "'; the plan is of another version of Kiln");
}

}  // namespace kiln::cuda
