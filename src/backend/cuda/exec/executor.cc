#include "backend/cuda/exec/executor.h"

#include "steps/load_step.h"

namespace kiln::cuda {

#define STEP(name) Result<std::unique_ptr<LoadedStep>> load(const steps::name&, const LoadArguments&);
#define CPU_STEP(name)
#define CONTROL_STEP(name)
#include "steps/steps.def"
#undef STEP

Result<std::unique_ptr<LoadedStep>> CudaExecutor::load_checked(const StepSpec& spec,
                                                               std::span<const HostTensor* const> constants) {
  const CurrentContext current(device_);
  return load_step(spec.step, LoadArguments{spec, constants, device_});
}

}  // namespace kiln::cuda
