#include "onnx/import/bodies.h"

namespace kiln::onnx {

Result<ValueId> single(ImportContext& cx, size_t input, std::string_view what) {
  const ValueId value = TRY(cx.input(input));
  TRY(require(!sym::provably_different(cx.type(value).volume(), 1), what, " is ", cx.type(value),
              "; one element is needed"));
  return value;
}

}  // namespace kiln::onnx
