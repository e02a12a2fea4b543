#include "backend/cuda/exec/executor.h"

namespace kiln::cuda {

#define KERNEL(name, ...) Result<std::unique_ptr<LoadedStep>> load_##name(const LoadArguments&);
#include "backend/cuda/exec/kernels.def"
#undef KERNEL

std::span<const KernelEntry> kernel_table() {
  constexpr int kAll = KernelEntry::kAll, kAny = KernelEntry::kAny;
  static constexpr KernelEntry kTable[] = {
#define KERNEL(name, ...) {#name, load_##name, __VA_ARGS__},
#include "backend/cuda/exec/kernels.def"
#undef KERNEL
  };
  return kTable;
}

/// A plan is input: loaders index its tensors.
static Status check_tensors(const KernelEntry& kernel, const StepSpec& spec) {
  const auto inputs = static_cast<int>(spec.inputs.size()), outputs = static_cast<int>(spec.outputs.size());
  TRY(require(inputs >= kernel.least_inputs && inputs <= kernel.most_inputs &&
                  (kernel.outputs == KernelEntry::kAny ? outputs >= 1 : outputs == kernel.outputs),
              "a step of the CUDA kernel '", kernel.name, "' has ", inputs, " inputs and ", outputs,
              " outputs, which it does not take: the plan is damaged, build it again"));
  const int present = kernel.present == KernelEntry::kAll ? inputs : kernel.present;
  for (int i = 0; i < present; ++i)
    TRY(require(spec.inputs[static_cast<size_t>(i)].present, "input ", i, " of the CUDA kernel '", kernel.name,
                "' is absent, and it takes none that is: the plan is damaged, build it again"));
  for (const auto* tensors : {&spec.inputs, &spec.outputs})
    for (const StepTensor& tensor : *tensors)
      if (tensor.format.is_blocked())
        return error(Code::kUnsupported, "the CUDA kernel '", kernel.name, "' does not take the format ",
                     tensor.format);
  return {};
}

Result<std::unique_ptr<LoadedStep>> CudaExecutor::load(const StepSpec& spec,
                                                       std::span<const HostTensor* const> constants) {
  const CurrentContext current(device_);
  for (const KernelEntry& entry : kernel_table())
    if (entry.name == spec.kernel) {
      TRY(check_tensors(entry, spec));
      return entry.load({spec, constants, device_});
    }
  return error(Code::kVersion, "no CUDA kernel is called '", spec.kernel, "'; the plan is of another version of Kiln");
}

}  // namespace kiln::cuda
