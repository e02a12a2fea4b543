#include "passes/simplify_casts.h"

#include <cmath>

#include "ops/cast.h"
#include "ops/unary.h"
#include "passes/rewrite.h"

namespace kiln::passes {
namespace {

/// Bits of significand and range of exponents, of the types that the rule knows.
struct FloatLimits {
  int digits, max_exponent, min_exponent;
};
std::optional<FloatLimits> float_limits(DType t) {
  switch (t) {
    case DType::kF64: return FloatLimits{53, 1024, -1074};
    case DType::kF32: return FloatLimits{24, 128, -149};
    case DType::kBF16: return FloatLimits{8, 128, -133};
    case DType::kF16: return FloatLimits{11, 16, -24};
    default: return std::nullopt;
  }
}
/// Bits that magnitudes need, and whether there are negative ones.
struct IntegerLimits {
  int bits;
  bool is_signed;
};
std::optional<IntegerLimits> integer_limits(DType t) {
  switch (t) {
    case DType::kBool: return IntegerLimits{1, false};
    case DType::kU8: return IntegerLimits{8, false};
    case DType::kI8: return IntegerLimits{7, true};
    case DType::kI32: return IntegerLimits{31, true};
    case DType::kI64: return IntegerLimits{63, true};
    default: return std::nullopt;
  }
}

/// Whether `wide` has every value of `narrow`.
bool holds(DType wide, DType narrow) {
  if (wide == narrow) return true;
  const auto wide_float = float_limits(wide), narrow_float = float_limits(narrow);
  const auto wide_integer = integer_limits(wide), narrow_integer = integer_limits(narrow);
  if (wide_float && narrow_float)
    return wide_float->digits >= narrow_float->digits && wide_float->max_exponent >= narrow_float->max_exponent &&
           wide_float->min_exponent <= narrow_float->min_exponent;
  if (wide_float && narrow_integer) return narrow_integer->bits <= wide_float->digits;
  if (wide_integer && narrow_integer && wide != DType::kBool)
    return narrow_integer->bits <= wide_integer->bits && (wide_integer->is_signed || !narrow_integer->is_signed);
  return false;
}

}  // namespace

Status simplify_casts(ir::Graph& graph, PassContext&) {
  const ir::Pattern two = ir::op<ops::Cast>("outer", ir::op<ops::Cast>("inner", ir::any("x")));
  TRY(rewrite(graph, two, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const DType from = found.type("x").dtype, through = found.type("inner").dtype, to = found.type("outer").dtype;
    const bool same_kind = is_float(from) == is_float(through);
    if (!holds(through, from) || !(same_kind || holds(to, from) || to == DType::kBool)) return {};
    const ir::ValueId x = found.value("x");
    return patch.replace(found.value("outer"), to == from ? x : TRY(patch.add(ops::Cast{to}, {x})));
  }));
  // PyTorch asks for infinity in FP64, whatever the type is.
  const ir::Pattern asked = ir::op<ops::Unary>("y", ir::op<ops::Cast>("wide", ir::any("x")));
  TRY(rewrite(graph, asked, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const ops::Unary op = found.op<ops::Unary>("y");
    const DType from = found.type("x").dtype, to = found.type("wide").dtype;
    const bool asks = op.kind == ops::UnaryKind::kIsInf || op.kind == ops::UnaryKind::kIsNan;
    if (!asks || !is_float(from) || !is_float(to) || !holds(to, from)) return {};
    return patch.replace(found.value("y"), TRY(patch.add(op, {found.value("x")})));
  }));
  return rewrite(graph, ir::op<ops::Cast>("y", ir::any("x")), [](const ir::Capture& found, ir::Patch& patch) -> Status {
    return found.type("x").dtype == found.type("y").dtype ? patch.replace(found.value("y"), found.value("x"))
                                                          : Status{};
  });
}

}  // namespace kiln::passes
