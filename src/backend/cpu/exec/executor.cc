#include "backend/cpu/exec/executor.h"

#include "steps/load_step.h"

namespace kiln::cpu {

#define STEP(name) Result<std::unique_ptr<LoadedStep>> load(const steps::name&, const LoadArguments&);
#define CUDA_STEP(name)
#define CONTROL_STEP(name)
#include "steps/steps.def"
#undef STEP

Result<std::unique_ptr<LoadedStep>> CpuExecutor::load_checked(const StepSpec& spec,
                                                              std::span<const HostTensor* const> constants) {
  return load_step(spec.step, LoadArguments{spec, constants, team_});
}

}  // namespace kiln::cpu
