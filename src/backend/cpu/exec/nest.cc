#include "steps/nest.h"

#include <algorithm>

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

NestStrides strides_of(const steps::NestView& view) {
  NestStrides strides;
  std::ranges::copy(view.strides, strides.at);
  return strides;
}

BoundNest bind_nest(const Nest& nest, const steps::Nest& step, const StepTypes& types, const StepShapes& shapes) {
  const Extents& space = shapes.outputs[0];
  std::vector<NestStrides> strides;
  for (size_t i = 0; i < types.inputs.size(); ++i) {
    const auto view = step.view_of(i, space.size(), shapes.params);
    strides.push_back(view ? strides_of(*view) : strides_in(types.inputs[i], shapes.inputs[i], space));
  }
  for (size_t i = 0; i < types.outputs.size(); ++i)
    strides.push_back(strides_in(types.outputs[i], shapes.outputs[i], space));
  return BoundNest(nest, space, strides);
}

/// The bytes from the beginning of each input to the first element that a nest reads.
std::vector<int64_t> input_offsets(const steps::Nest& step, const StepTypes& types, const StepShapes& shapes) {
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < types.inputs.size(); ++i) {
    const auto view = step.view_of(i, shapes.outputs[0].size(), shapes.params);
    offsets.push_back(view ? view->offset * (bits_of(types.inputs[i].dtype) / 8) : 0);
  }
  return offsets;
}

}  // namespace

LoadResult load(const steps::Nest& step, const LoadArguments& arguments) {
  for (const StepTensor& input : arguments.spec.inputs)
    TRY(require(is_nest_type(input.dtype), "a nest of the CPU has no ", input.dtype));
  Nest loaded = TRY(Nest::make(step.program));
  return loaded_step([nest = std::move(loaded), step, types = StepTypes(arguments.spec),
                      &team = arguments.team](const StepShapes& shapes) -> std::unique_ptr<BoundStep> {
    BoundNest bound = bind_nest(nest, step, types, shapes);
    if (step.views.empty())
      return bound_step([&nest, &team, bound = std::move(bound)](const RunArguments& run) {
        bound.run(nest, team, run.inputs, run.outputs);
      });
    std::vector<int64_t> offsets = input_offsets(step, types, shapes);
    std::vector<const void*> inputs(offsets.size());
    return bound_step([&nest, &team, bound = std::move(bound), offsets = std::move(offsets),
                       inputs = std::move(inputs)](const RunArguments& run) mutable {
      for (size_t i = 0; i < offsets.size(); ++i) inputs[i] = static_cast<const std::byte*>(run.inputs[i]) + offsets[i];
      bound.run(nest, team, inputs.data(), run.outputs);
    });
  });
}

}  // namespace kiln::cpu
