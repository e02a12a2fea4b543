#include "ops/top_k.h"

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

/// Imports TopK. Its values are sorted also where it does not ask for that.
Status top_k(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  ops::TopK op;
  op.axis = TRY(cx.axis(TRY(cx.node().get_int("axis", -1)), cx.rank(x)));
  op.largest = TRY(cx.node().get_int("largest", 1)) != 0;
  op.indices = DType::kI64;
  Values inputs{x};
  if (cx.opset() >= 10)
    inputs.push_back(TRY(cx.input(1)));
  else
    op.k = TRY(cx.node().need_int("k"));
  if (inputs.size() > 1 && cx.is_constant(inputs[1])) {
    const Ints given = TRY(cx.ints(inputs[1], "k"));
    TRY(require(given.size() == 1, "k has ", given.size(), " elements; one is needed"));
    op.k = given[0];
    inputs.pop_back();
  } else if (inputs.size() > 1) {
    TRY(cx.values(inputs[1], "k"));  // or the host reads it while the network runs
  }
  const Values outputs = TRY(cx.add_all(op, inputs));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (cx.wants(i)) TRY(cx.output(i, outputs[i]));
  return {};
}

}  // namespace kiln::onnx::importers
