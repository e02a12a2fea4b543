#include "ops/cast.h"

#include <cmath>

#include "onnx/dtypes.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

/// Kiln's cast to f8e4m3 saturates. Without that, what rounds beyond 448, the largest number, is NaN.
Result<ValueId> with_overflow_as_nan(ImportContext& cx, ValueId x) {
  constexpr double kLargestThatRoundsDown = 464;  // halfway to what would be 480: the tie goes to 448, which is even
  const ValueId size = TRY(unary(cx, UnaryKind::kAbs, x));
  const ValueId beyond = TRY(binary(cx, ElementWiseKind::kGreater, size, kLargestThatRoundsDown));
  return select(cx, beyond, scalar_like(cx, NAN, x), x);
}

Status cast_to(ImportContext& cx, DType to) {
  ValueId x = TRY(cx.input(0));
  if (to == DType::kI4 || to == DType::kF4E2M1 || to == DType::kE8M0)
    return error(Code::kUnsupported, "a cast to ", to, " is not supported: such tensors come from quantization");
  if (to == DType::kF8E4M3 && TRY(cx.node().get_int("saturate", 1)) == 0) x = TRY(with_overflow_as_nan(cx, x));
  return cx.output(TRY(cx.add(ops::Cast{to}, {x})));
}

}  // namespace

Status cast(ImportContext& cx) {
  const auto to = static_cast<ElementType>(TRY(cx.node().need_int("to")));
  return cast_to(cx, TRY(in_context(need_dtype(to), [] { return "cast to"; })));
}

Status cast_like(ImportContext& cx) { return cast_to(cx, cx.dtype(TRY(cx.input(1)))); }

}  // namespace kiln::onnx::importers
