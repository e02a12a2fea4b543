#include "device/step_tensors.h"

namespace kiln {
namespace {

constexpr std::string_view kDamaged = ": the plan is damaged, build it again";

}  // namespace

Status StepTensors::check(std::string_view executor, std::string_view kernel, const StepSpec& spec) const {
  const auto num_inputs = static_cast<int>(spec.inputs.size()), num_outputs = static_cast<int>(spec.outputs.size());
  // kAny is a name for "no limit", not a number to compare with: a concatenation of a thousand tensors is one step.
  TRY(require(num_inputs >= least_inputs && (most_inputs == kAny || num_inputs <= most_inputs) &&
                  (outputs == kAny ? num_outputs >= 1 : num_outputs == outputs),
              "a step of the ", executor, " kernel '", kernel, "' has ", num_inputs, " inputs and ", num_outputs,
              " outputs, which it does not take", kDamaged));
  const int needed = present == kAll ? num_inputs : present;
  for (int i = 0; i < needed; ++i)
    TRY(require(spec.inputs[static_cast<size_t>(i)].present, "input ", i, " of the ", executor, " kernel '", kernel,
                "' is absent, and it takes none that is", kDamaged));
  return {};
}

Status require_alike(const StepTensor& tensor, const StepTensor& like, std::string_view what) {
  return require(tensor.dtype == like.dtype && tensor.format == like.format, what, " is ", tensor.dtype, " in format ",
                 tensor.format, "; the step's other tensors imply ", like.dtype, " in format ", like.format, kDamaged);
}

Status require_one_type(const StepSpec& spec) {
  const DType type = spec.outputs[0].dtype;
  for (const auto* tensors : {&spec.inputs, &spec.outputs})
    for (const StepTensor& tensor : *tensors)
      TRY(require(!tensor.present || tensor.dtype == type, "a step's tensors are ", tensor.dtype, " and ", type,
                  "; its kernel takes one type", kDamaged));
  return {};
}

Status require_unblocked(std::string_view executor, const StepSpec& spec) {
  for (const auto* tensors : {&spec.inputs, &spec.outputs})
    for (const StepTensor& tensor : *tensors)
      TRY(require(!tensor.present || !tensor.format.is_blocked(), "a tensor of the ", executor, " kernel '",
                  spec.kernel, "' has format ", tensor.format, ", which only copies read", kDamaged));
  return {};
}

Status require_count(const Extents& extents, int64_t count, std::string_view what) {
  return require(volume(extents) == count, what, " is ", extents, "; ", count, " elements are needed", kDamaged);
}

Status require_extents(const Extents& found, const Extents& implied, std::string_view what) {
  return require(found == implied, what, " is ", found, "; the step's other tensors imply ", implied, kDamaged);
}

}  // namespace kiln
