#include "onnx/dtypes.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

Status expand(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  SymbolicValues to = TRY(cx.values(TRY(cx.input(1)), "shape"));
  // An extent of x that is not 1 stays, whatever the shape says: so it needs no belief about the shape.
  const int skip = static_cast<int>(to.size()) - cx.rank(x);
  for (int i = 0; i < static_cast<int>(to.size()); ++i) {
    if (to[static_cast<size_t>(i)].is_const() || i < skip) continue;
    const auto own = cx.extent(x, i - skip).constant();
    if (own && *own != 1) to[static_cast<size_t>(i)] = *own;
  }
  return cx.output(TRY(expand(cx, x, to)));
}

Status constant_of_shape(ImportContext& cx) {
  const SymbolicValues shape = TRY(cx.values(TRY(cx.input(0)), "shape"));
  HostTensor value = HostTensor::scalar(DType::kF32, 0);
  if (const TensorDef* given = TRY(cx.node().get_tensor("value"))) {
    value = TRY(host_tensor(TRY(tensor_data(cx.model(), *given))));
    TRY(require(value.volume() == 1, "value has ", value.volume(), " elements; one is needed"));
  }
  const Extents ones(shape.size(), 1);
  return cx.output(TRY(expand(cx, cx.add_constant(value.reshaped(ones)), shape)));
}

}  // namespace kiln::onnx::importers
