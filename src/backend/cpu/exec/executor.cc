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

/// Blocks are what copies are for.
static Status require_unblocked(const StepSpec& spec) {
  for (const auto* tensors : {&spec.inputs, &spec.outputs})
    for (const StepTensor& tensor : *tensors)
      TRY(require(!tensor.present || !tensor.format.is_blocked(), "a tensor of the CPU kernel '", spec.kernel,
                  "' has format ", tensor.format, ", which only copies read: the plan is damaged, build it again"));
  return {};
}

Result<std::unique_ptr<LoadedStep>> CpuExecutor::load(const StepSpec& spec,
                                                      std::span<const HostTensor* const> constants) {
  for (const KernelEntry& entry : kernel_table())
    if (entry.name == spec.kernel) {
      TRY(entry.tensors.check("CPU", entry.name, spec));
      if (entry.name != "copy") TRY(require_unblocked(spec));
      return entry.load({spec, constants, team_});
    }
  return error(Code::kVersion, "no CPU kernel is called '", spec.kernel, "'; the plan is of another version of Kiln");
}

}  // namespace kiln::cpu
