#include "steps/values.h"

#include "steps/define.h"
#include "tensor/view.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Values>();

namespace kiln::steps {

Status Values::check(const StepTypes&, const StepShapes& shapes) const {
  const auto count = static_cast<int64_t>(shapes.params.size());
  return require(count == volume(shapes.outputs[0]), "a step has ", count, " values for ", shapes.outputs[0]);
}

Bytes Values::elements(DType dtype, std::span<const int64_t> params) {
  Bytes bytes(static_cast<size_t>(size_bytes(dtype, static_cast<int64_t>(params.size()))));
  for (size_t i = 0; i < params.size(); ++i) store_integer(dtype, bytes.data(), static_cast<int64_t>(i), params[i]);
  return bytes;
}

}  // namespace kiln::steps
