#include "ops/einsum.h"

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

Status einsum(ImportContext& cx) {
  for (size_t i = 0; i < cx.num_inputs(); ++i) TRY(cx.input(i));
  return cx.output(TRY(cx.add(ops::Einsum{std::string(TRY(cx.node().need_string("equation")))}, cx.inputs())));
}

}  // namespace kiln::onnx::importers
