#include "backend/cpu/exec/executor.h"

namespace kiln::cpu {

#define KERNEL(name, ...) Result<std::unique_ptr<LoadedStep>> load_##name(const LoadArguments&);
#include "backend/cpu/exec/kernels.def"
#undef KERNEL

std::span<const KernelEntry> kernel_table() {
  constexpr int kAll = StepTensors::kAll, kAny = StepTensors::kAny;
  static constexpr KernelEntry kTable[] = {
#define KERNEL(name, ...) {#name, load_##name, {__VA_ARGS__}},
#include "backend/cpu/exec/kernels.def"
#undef KERNEL
  };
  return kTable;
}

Result<std::unique_ptr<LoadedStep>> CpuExecutor::load(const StepSpec& spec,
                                                      std::span<const HostTensor* const> constants) {
  for (const KernelEntry& entry : kernel_table())
    if (entry.name == spec.kernel) {
      TRY(entry.tensors.check("CPU", entry.name, spec));
      if (entry.name != "copy") TRY(require_unblocked("CPU", spec));
      return entry.load({spec, constants, team_});
    }
  return error(Code::kVersion, "no CPU kernel is called '", spec.kernel, "'; the plan is of another version of Kiln");
}

}  // namespace kiln::cpu
