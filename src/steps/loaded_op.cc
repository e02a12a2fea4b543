#include "steps/loaded_op.h"

namespace kiln {

ReferenceTensors::ReferenceTensors(const StepTypes& types, const StepShapes& shapes, size_t num_sizes)
    : input_extents_(shapes.inputs.begin(), shapes.inputs.end()),
      output_extents_(shapes.outputs.begin(), shapes.outputs.end()),
      num_sizes_(num_sizes) {
  for (size_t i = 0; i < types.inputs.size(); ++i)
    inputs.push_back({types.inputs[i].dtype, input_extents_[i], nullptr, types.inputs[i].present});
  for (size_t i = 0; i < types.outputs.size(); ++i)
    outputs.push_back({types.outputs[i].dtype, output_extents_[i], nullptr, true});
}

}  // namespace kiln
