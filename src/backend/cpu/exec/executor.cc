#include "backend/cpu/exec/executor.h"

namespace kiln {
namespace steps {
#define STEP(name) struct name;
#include "steps/steps.def"
#undef STEP
}  // namespace steps

namespace cpu {

#define KERNEL(name, ...) Result<std::unique_ptr<LoadedStep>> load_##name(const LoadArguments&);
#include "backend/cpu/exec/kernels.def"
#undef KERNEL
#define STEP(name) Result<std::unique_ptr<LoadedStep>> load(const steps::name&, const LoadArguments&);
#include "steps/steps.def"
#undef STEP

namespace {

/// How a kind of step is loaded: by the overload of `load` in exec/, named like the kind.
struct StepEntry {
  const StepKind* kind;
  Result<std::unique_ptr<LoadedStep>> (*load)(const AnyStep& step, const LoadArguments& arguments);
};

std::span<const StepEntry> step_table() {
  static const StepEntry kTable[] = {
#define STEP(name)            \
  {&step_kind<steps::name>(), \
   [](const AnyStep& step, const LoadArguments& arguments) { return load(*step.as<steps::name>(), arguments); }},
#include "steps/steps.def"
#undef STEP
  };
  return kTable;
}

}  // namespace

std::span<const KernelEntry> kernel_table() {
  constexpr int kAll = StepTensors::kAll, kAny = StepTensors::kAny;
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
  if (step)
    for (const StepEntry& entry : step_table())
      if (entry.kind == &step.kind()) return entry.load(step, arguments);
  for (const KernelEntry& entry : kernel_table())
    if (entry.name == spec.kernel) {
      TRY(entry.tensors.check(entry.name, spec));
      return entry.load(arguments);
    }
  return error(Code::kVersion, "no CPU kernel is called '", spec.kernel, "'; the plan is of another version of Kiln");
}

}  // namespace cpu
}  // namespace kiln
