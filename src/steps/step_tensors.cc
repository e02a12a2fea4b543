#include "steps/step_tensors.h"

namespace kiln {
Status StepTensors::check(std::string_view kind, const StepTypes& types) const {
  const auto num_inputs = static_cast<int>(types.inputs.size()), num_outputs = static_cast<int>(types.outputs.size());
  // kAny is a name for "no limit", not a number to compare with: a concatenation of a thousand tensors is one step.
  TRY(require(num_inputs >= least_inputs && (most_inputs == kAny || num_inputs <= most_inputs) &&
                  (outputs == kAny ? num_outputs >= 1 : num_outputs == outputs),
              "a step of kind '", kind, "' has ", num_inputs, " inputs and ", num_outputs,
              " outputs, which it does not take"));
  TRY(require(sizes == kAny || types.num_sizes == sizes, "a step of kind '", kind, "' decides ", types.num_sizes,
              " sizes, and its kind ", sizes));
  const int needed = present == kAll ? num_inputs : present;
  for (int i = 0; i < needed; ++i)
    TRY(require(types.inputs[static_cast<size_t>(i)].present, "input ", i, " of a step of kind '", kind,
                "' is absent, and it takes none that is"));
  for (const auto* tensors : {&types.inputs, &types.outputs})
    for (const StepTensor& tensor : *tensors)
      TRY(require(blocked || !tensor.present || !tensor.format.is_blocked(), "a tensor of a step of kind '", kind,
                  "' has format ", tensor.format, ", which only copies read"));
  return {};
}

Status require_alike(const StepTensor& tensor, const StepTensor& like, std::string_view what) {
  return require(tensor.dtype == like.dtype && tensor.format == like.format, what, " is ", tensor.dtype, " in format ",
                 tensor.format, "; the step's other tensors imply ", like.dtype, " in format ", like.format);
}

Status require_one_type(const StepTypes& types) {
  const DType type = types.outputs[0].dtype;
  for (const auto* tensors : {&types.inputs, &types.outputs})
    for (const StepTensor& tensor : *tensors)
      TRY(require(!tensor.present || tensor.dtype == type, "a step's tensors are ", tensor.dtype, " and ", type,
                  "; its kernel takes one type"));
  return {};
}

Status require_linear(const StepTypes& types, size_t i) {
  const Format& format = types.inputs[i].format;
  return require(format.is_linear(), "input ", i, " has format ", format, "; its kernel reads it row-major");
}

Result<int> element_bytes(DType dtype) {
  if (bits_of(dtype) < 8) return error(Code::kUnsupported, "elements of ", dtype, " are less than a byte");
  return bits_of(dtype) / 8;
}

Status require_count(const Extents& extents, int64_t count, std::string_view what) {
  return require(volume(extents) == count, what, " is ", extents, "; ", count, " elements are needed");
}

Status require_extents(const Extents& found, const Extents& implied, std::string_view what) {
  return require(found == implied, what, " is ", found, "; the step's other tensors imply ", implied);
}

}  // namespace kiln
