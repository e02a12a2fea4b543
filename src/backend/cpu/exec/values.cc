#include "steps/values.h"

#include <cstring>

#include "backend/cpu/exec/executor.h"
#include "steps/by_function.h"

namespace kiln::cpu {

LoadResult load(const steps::Values&, const LoadArguments& arguments) {
  return loaded_step([dtype = arguments.spec.outputs[0].dtype](const StepShapes& shapes) {
    return bound_step([bytes = steps::Values::elements(dtype, shapes.params)](const RunArguments& run) {
      if (!bytes.empty()) std::memcpy(run.outputs[0], bytes.data(), bytes.size());
    });
  });
}

}  // namespace kiln::cpu
