#include "backend/cpu/exec/executor.h"

#include "steps/load_step.h"

namespace kiln::cpu {

#define KERNEL(name, ...) Result<std::unique_ptr<LoadedStep>> load_##name(const LoadArguments&);
#include "backend/cpu/exec/kernels.def"
#undef KERNEL
#define STEP(name) Result<std::unique_ptr<LoadedStep>> load(const steps::name&, const LoadArguments&);
#define CUDA_STEP(name)
#include "steps/steps.def"
#undef STEP

std::span<const KernelEntry> kernel_table() {
  constexpr int kAny = StepTensors::kAny;
  static constexpr KernelEntry kTable[] = {
#define KERNEL(name, ...) {#name, load_##name, {__VA_ARGS__}},
#include "backend/cpu/exec/kernels.def"
#undef KERNEL
  };
  return kTable;
}

Result<std::unique_ptr<LoadedStep>> CpuExecutor::load_checked(const StepSpec& spec, const AnyStep& step,
                                                              std::span<const HostTensor* const> constants) {
  const LoadArguments arguments{spec, constants, team_};
  if (step) return load_step(step, arguments);
  for (const KernelEntry& entry : kernel_table())
    if (entry.name == spec.kernel) {
      TRY(entry.tensors.check(entry.name, spec));
      return entry.load(arguments);
    }
  return error(Code::kVersion, "no CPU kernel is called '", spec.kernel, "'; the plan is of another version of Kiln");
}

}  // namespace kiln::cpu
