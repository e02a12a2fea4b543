#include "ops/unique.h"

#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

Status unique(ImportContext& cx) {
  ops::Unique op{.sorted = TRY(cx.node().get_int("sorted", 1)) != 0};
  const ValueId x = TRY(cx.input(0));
  if (cx.node().find("axis")) op.axis = TRY(cx.axis(TRY(cx.node().get_int("axis", 0)), cx.rank(x)));
  const Values outputs = TRY(cx.add_all(op, Values{x}));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (cx.wants(i)) TRY(cx.output(i, outputs[i]));
  return {};
}

}  // namespace kiln::onnx::importers
