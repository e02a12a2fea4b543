#include "ops/cast.h"

#include "onnx/dtypes.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

Status cast_to(ImportContext& cx, DType to) {
  const ValueId x = TRY(cx.input(0));
  if (to == DType::kF8E4M3 && TRY(cx.node().get_int("saturate", 1)) == 0)
    return error(Code::kUnsupported, "saturate is 0; a cast to FLOAT8E4M3FN always saturates in Kiln");
  if (to == DType::kI4 || to == DType::kF4E2M1 || to == DType::kE8M0)
    return error(Code::kUnsupported, "a cast to ", to, " is not supported: such tensors come from quantization");
  return cx.output(TRY(cx.add(ops::Cast{to}, {x})));
}

}  // namespace

Status cast(ImportContext& cx) {
  const auto to = static_cast<ElementType>(TRY(cx.node().need_int("to")));
  return cast_to(cx, TRY(in_context(need_dtype(to), [] { return "cast to"; })));
}

Status cast_like(ImportContext& cx) { return cast_to(cx, cx.dtype(TRY(cx.input(1)))); }

}  // namespace kiln::onnx::importers
