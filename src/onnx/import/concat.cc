#include "ops/concatenation.h"

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

Status concat(ImportContext& cx) {
  TRY(cx.input(0));
  TRY(cx.node().need_int("axis"));
  const int axis = TRY(cx.int_attribute("axis", 0));
  return cx.output(TRY(cx.add(ops::Concatenation{axis}, cx.inputs())));
}

}  // namespace kiln::onnx::importers
