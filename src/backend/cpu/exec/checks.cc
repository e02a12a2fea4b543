#include "backend/cpu/exec/checks.h"

#include <algorithm>

namespace kiln::cpu {
Status require_types(const StepSpec& spec, DType dtype, size_t inputs) {
  const auto check = [&](const StepTensor& tensor, std::string_view what, size_t i) {
    return require(!tensor.present || tensor.dtype == dtype, what, " ", i, " is ", tensor.dtype, "; its kernel takes ",
                   dtype);
  };
  for (size_t i = 0; i < std::min(inputs, spec.inputs.size()); ++i) TRY(check(spec.inputs[i], "input", i));
  for (size_t i = 0; i < spec.outputs.size(); ++i) TRY(check(spec.outputs[i], "output", i));
  return {};
}

}  // namespace kiln::cpu
