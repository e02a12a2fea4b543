/// Symbolic values, carried by launches.
#include "steps/values.h"

#include <algorithm>
#include <cstring>

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/fill/arguments.h"

namespace kiln::cuda {

LoadResult load(const steps::Values&, const LoadArguments& arguments) {
  StepCode code = TRY(StepCode::load(arguments));
  const Function function = TRY(code.function("values"));
  return loaded_step([code = std::move(code), function,
                      dtype = arguments.spec.outputs[0].dtype](const StepShapes& shapes) -> BindResult {
    const Bytes bytes = steps::Values::elements(dtype, shapes.params);
    std::vector<ValuesArgument> launches;
    for (size_t at = 0; at < bytes.size(); at += ValuesArgument::kMost) {
      ValuesArgument& argument = launches.emplace_back();
      argument.count = static_cast<uint32_t>(std::min<size_t>(ValuesArgument::kMost, bytes.size() - at));
      std::memcpy(argument.bytes, bytes.data() + at, argument.count);
    }
    LaunchShape shape;
    shape.block[0] = 256;
    shape.pdl = true;
    return bound_step([function, launches = std::move(launches), shape](const RunArguments& run) mutable -> Status {
      auto* y = static_cast<std::byte*>(run.outputs[0]);
      for (ValuesArgument& argument : launches) {
        argument.y = y;
        y += argument.count;
        void* pointers[] = {&argument};
        TRY(launch(*run.stream, function, shape, pointers));
      }
      return {};
    });
  });
}

}  // namespace kiln::cuda
