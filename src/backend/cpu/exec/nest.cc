#include "steps/nest.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/nest/nest.h"
#include "steps/by_function.h"

namespace kiln::cpu {
namespace {

/// Strides of a tensor by axis of `space`; 0 along axes that it lacks or repeats.
NestStrides strides_in(const StepTensor& tensor, const Extents& extents, const Extents& space) {
  NestStrides strides;
  const Extents own = tensor.format.strides(extents);
  const size_t missing = space.size() - extents.size();
  for (size_t axis = missing; axis < space.size(); ++axis)
    strides.at[axis] = extents[axis - missing] == 1 ? 0 : own[axis - missing];
  return strides;
}

BoundNest bind_nest(const Nest& nest, const StepTypes& types, const StepShapes& shapes) {
  const Extents& space = shapes.outputs[0];
  std::vector<NestStrides> strides;
  for (size_t i = 0; i < types.inputs.size(); ++i)
    strides.push_back(strides_in(types.inputs[i], shapes.inputs[i], space));
  for (size_t i = 0; i < types.outputs.size(); ++i)
    strides.push_back(strides_in(types.outputs[i], shapes.outputs[i], space));
  return BoundNest(nest, space, strides);
}

}  // namespace

LoadResult load(const steps::Nest& step, const LoadArguments& arguments) {
  for (const StepTensor& input : arguments.spec.inputs)
    TRY(require(is_nest_type(input.dtype), "a nest of the CPU has no ", input.dtype));
  Nest loaded = TRY(Nest::make(step.program));
  return loaded_step(
      [nest = std::move(loaded), types = StepTypes(arguments.spec), &team = arguments.team](const StepShapes& shapes) {
        return bound_step([&nest, &team, bound = bind_nest(nest, types, shapes)](const RunArguments& run) {
          bound.run(nest, team, run.inputs, run.outputs);
        });
      });
}

}  // namespace kiln::cpu
