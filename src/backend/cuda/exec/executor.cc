#include "backend/cuda/exec/executor.h"

namespace kiln::cuda {

#define KERNEL(name, ...) Result<std::unique_ptr<LoadedStep>> load_##name(const LoadArguments&);
#include "backend/cuda/exec/kernels.def"
#undef KERNEL

std::span<const KernelEntry> kernel_table() {
  constexpr int kAll = StepTensors::kAll, kAny = StepTensors::kAny;
  static constexpr KernelEntry kTable[] = {
#define KERNEL(name, ...) {#name, load_##name, {__VA_ARGS__}},
#include "backend/cuda/exec/kernels.def"
#undef KERNEL
  };
  return kTable;
}

Result<std::unique_ptr<LoadedStep>> CudaExecutor::load(const StepSpec& spec,
                                                       std::span<const HostTensor* const> constants) {
  const CurrentContext current(device_);
  for (const KernelEntry& entry : kernel_table())
    if (entry.name == spec.kernel) {
      TRY(entry.tensors.check("CUDA", entry.name, spec));
      if (entry.name != "copy") TRY(require_unblocked("CUDA", spec));
      return entry.load({spec, constants, device_});
    }
  return error(Code::kVersion, "no CUDA kernel is called '", spec.kernel, "'; the plan is of another version of Kiln");
}

}  // namespace kiln::cuda
