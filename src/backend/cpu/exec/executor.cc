#include "backend/cpu/exec/executor.h"

namespace kiln::cpu {

#define KERNEL(name) Result<std::unique_ptr<LoadedStep>> load_##name(const LoadArguments&);
#include "backend/cpu/exec/kernels.def"
#undef KERNEL

std::span<const KernelEntry> kernel_table() {
  static constexpr KernelEntry kTable[] = {
#define KERNEL(name) {#name, load_##name},
#include "backend/cpu/exec/kernels.def"
#undef KERNEL
  };
  return kTable;
}

Result<std::unique_ptr<LoadedStep>> CpuExecutor::load(const StepSpec& spec,
                                                      std::span<const HostTensor* const> constants) {
  for (const KernelEntry& entry : kernel_table())
    if (entry.name == spec.kernel) return entry.load({spec, constants, team_});
  return error(Code::kVersion, "no CPU kernel is called '", spec.kernel, "'; the plan is of another version of Kiln");
}

}  // namespace kiln::cpu
