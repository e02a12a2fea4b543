#include "onnx/import/bodies.h"

namespace kiln::onnx {

void mark_outputs(const ImportedBody& imported, const GraphDef& body, size_t skipped) {
  for (size_t i = skipped; i < imported.outputs.size(); ++i)
    imported.graph->mark_output(imported.outputs[i], std::string(body.outputs[i].name));
}

Result<ValueId> single(ImportContext& cx, size_t input, std::string_view what) {
  const ValueId value = TRY(cx.input(input));
  TRY(require(!sym::provably_different(cx.type(value).volume(), 1), what, " is ", cx.type(value),
              "; one element is needed"));
  return value;
}

}  // namespace kiln::onnx
