#include "device/step_constants.h"

namespace kiln {

Status require_linear(const StepSpec& spec, size_t i) {
  const Format& format = spec.inputs[i].format;
  return require(format.is_linear(), "input ", i, " of the kernel '", spec.kernel, "' has format ", format,
                 "; its kernel reads it row-major: the plan is damaged, build it again");
}

}  // namespace kiln
