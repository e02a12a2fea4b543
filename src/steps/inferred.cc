#include "steps/inferred.h"

#include "ops/reference_context.h"
#include "steps/step_tensors.h"

namespace kiln {
namespace {

/// Extents that the op decides may be bounded by more than is known here: values that shapes tell.
Status require_within(const Extents& found, const TensorType& implied, std::string_view what) {
  const Extents most = implied.max_extents();
  bool fits = found.size() == most.size();
  for (size_t axis = 0; fits && axis < most.size(); ++axis)
    fits = implied.shape[axis].is_const() ? found[axis] == most[axis] : found[axis] <= most[axis];
  return require(fits, what, " is ", found, "; the step's other tensors imply at most ", most);
}

}  // namespace

Status require_inferred(const Op& op, const StepTypes& step, const StepShapes& shapes,
                        std::span<const HostTensor* const> constants) {
  std::vector<TensorType> types(step.inputs.size());
  std::vector<InferInput> inputs(step.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!step.inputs[i].present) continue;
    TRY(require_linear(step, i));
    const HostTensor* constant = i < constants.size() ? constants[i] : nullptr;
    if (!constant && op.info().reads_on_host(i)) return {};
    types[i] = constant ? type_of(*constant) : tensor_type(step.inputs[i].dtype, shapes.inputs[i]);
    if (constant) TRY(require_extents(shapes.inputs[i], constant->extents(), "a constant"));
    inputs[i] = {&types[i], constant};
  }
  sym::Table table;
  std::vector<DecidedSize> sizes;
  const std::vector<TensorType> outputs = TRY(infer_types(op, inputs, table, nullptr, &sizes));
  TRY(require(outputs.size() == step.outputs.size(), op.name(), " makes ", outputs.size(), " tensors; its step has ",
              step.outputs.size()));
  TRY(require(std::ssize(sizes) == step.num_sizes, op.name(), " decides ", sizes.size(), " sizes; its step has ",
              step.num_sizes));
  for (size_t i = 0; i < outputs.size(); ++i) {
    TRY(require(step.outputs[i].format.is_linear(), op.name(), " writes format ", step.outputs[i].format,
                "; its reference writes row-major tensors"));
    TRY(require(outputs[i].dtype == step.outputs[i].dtype, op.name(), " makes ", outputs[i], "; its step has ",
                step.outputs[i].dtype));
    if (!sizes.empty())
      TRY(require_within(shapes.outputs[i], outputs[i], op.name()));
    else if (const auto extents = outputs[i].extents())
      TRY(require_extents(shapes.outputs[i], *extents, op.name()));
  }
  return {};
}

}  // namespace kiln
