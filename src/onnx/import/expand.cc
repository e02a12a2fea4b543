#include "onnx/dtypes.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

Status expand(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const SymbolicValues to = TRY(cx.values(TRY(cx.input(1)), "shape"));
  return cx.output(TRY(expand(cx, x, to)));
}

Status constant_of_shape(ImportContext& cx) {
  const SymbolicValues shape = TRY(cx.values(TRY(cx.input(0)), "shape"));
  HostTensor value = HostTensor::scalar(DType::kF32, 0);
  ElementType type = ElementType::kFloat;
  if (const TensorDef* given = TRY(cx.node().get_tensor("value"))) {
    type = given->type;
    value = TRY(host_tensor(TRY(tensor_data(cx.model(), *given))));
    TRY(require(value.volume() == 1, "value has ", value.volume(), " elements; one is needed"));
  }
  const Extents ones(shape.size(), 1);
  return cx.output(0, TRY(expand(cx, cx.add_constant(value.reshaped(ones)), shape)), type);
}

}  // namespace kiln::onnx::importers
