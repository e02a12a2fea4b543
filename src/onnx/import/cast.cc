#include "ops/cast.h"

#include <algorithm>
#include <cmath>

#include "onnx/dtypes.h"
#include "onnx/import/carried_types.h"
#include "onnx/import/exact_floats.h"
#include "onnx/import/importers.h"
#include "ops/dim_values.h"

namespace kiln::onnx::importers {
namespace {

/// Kiln's cast to f8e4m3 saturates. Without that, what rounds beyond 448, the largest number, is NaN.
Result<ValueId> with_overflow_as_nan(ImportContext& cx, ValueId x) {
  constexpr double kLargestThatRoundsDown = 464;  // halfway to what would be 480: the tie goes to 448, which is even
  const ValueId size = TRY(unary(cx, UnaryKind::kAbs, x));
  const ValueId beyond = TRY(binary(cx, ElementWiseKind::kGreater, size, kLargestThatRoundsDown));
  return select(cx, beyond, scalar_like(cx, NAN, x), x);
}

/// Integers of four bits keep the low bits of what a float truncates to, as integers among themselves do.
Result<ValueId> to_four_bits(ImportContext& cx, ValueId x) {
  return cx.add(ops::Cast{DType::kI4}, {is_float(cx.dtype(x)) ? TRY(cast(cx, x, DType::kI32)) : x});
}

/// Kiln's cast to f4e2m1 gives NaN the largest number; ONNX's gives it 0.
Result<ValueId> to_f4(ImportContext& cx, ValueId x) {
  if (!is_float(cx.dtype(x))) return cx.add(ops::Cast{DType::kF4E2M1}, {x});
  const ValueId numbers = TRY(cast(cx, x, DType::kF32));
  const ValueId is_nan = TRY(unary(cx, UnaryKind::kIsNan, numbers));
  return cx.add(ops::Cast{DType::kF4E2M1}, {TRY(select(cx, is_nan, scalar_like(cx, 0, numbers), numbers))});
}

/// To a power of two by the node's round_mode. Infinity is NaN; what rounds beyond 2^127 is so without saturation.
Result<ValueId> to_e8m0(ImportContext& cx, ValueId x) {
  const std::string_view mode = TRY(cx.node().get_string("round_mode", "up"));
  TRY(require(mode == "up" || mode == "down" || mode == "nearest", "round_mode is '", mode,
              "'; up, down or nearest is needed"));
  const auto times = [&](ValueId y, double factor) { return binary(cx, ElementWiseKind::kProd, y, factor); };
  const ValueId number = TRY(cast(cx, x, DType::kF32));
  const ValueId power = TRY(cast(cx, TRY(cx.add(ops::Cast{DType::kE8M0}, {number})), DType::kF32));
  const ValueId is_above = TRY(binary(cx, ElementWiseKind::kGreater, power, number));
  ValueId y = TRY(select(cx, is_above, TRY(times(power, 0.5)), power));  // the greatest that is not above x
  if (mode != "down") {
    const ValueId limit = mode == "up" ? y : TRY(times(y, 1.5));
    ValueId rounds_up = TRY(binary(cx, ElementWiseKind::kGreater, number, limit));
    if (mode == "nearest")
      rounds_up =
          TRY(binary(cx, ElementWiseKind::kOr, rounds_up, TRY(binary(cx, ElementWiseKind::kEqual, number, limit))));
    y = TRY(select(cx, rounds_up, TRY(times(y, 2)), y));
  }
  if (TRY(cx.node().get_int("saturate", 1)) != 0) {
    const ValueId most = scalar_like(cx, std::ldexp(1.0, 127), y);
    y = TRY(select(cx, TRY(binary(cx, ElementWiseKind::kGreater, y, most)), most, y));
  }
  return cx.add(ops::Cast{DType::kE8M0}, {y});
}

/// Whether elements of the network's inputs are among what `values` are made of.
bool has_elements_of_inputs(const ir::Graph& graph, const SymbolicValues& values) {
  std::vector<sym::Expr> symbols;
  for (const sym::Expr& value : values) collect_symbols(value, symbols);
  return std::ranges::any_of(graph.inputs(), [&](ValueId input) {
    const auto& elements = graph.type(input).values;
    return elements && std::ranges::any_of(*elements, [&](const sym::Expr& element) {
             return std::ranges::find(symbols, element) != symbols.end();
           });
  });
}

/// The value of a length that the network computes in floats, rounds and casts back; kNone if it is not known exactly.
Result<ValueId> length_of_floats(ImportContext& cx, ValueId x, DType to) {
  const DType from = cx.dtype(x);
  if (!is_index(to) || (from != DType::kF32 && from != DType::kF64)) return ValueId::kNone;
  const auto values = exact_whole_numbers(cx, x);
  if (!values) return ValueId::kNone;
  if (!cx.state().follows_elements_through_floats && has_elements_of_inputs(cx.graph(), *values)) {
    cx.state().met_elements_in_floats = true;
    return ValueId::kNone;
  }
  const Extents extents = TRY(cx.type(x).extents());
  if (const auto numbers = all_constant(*values)) return cx.add_constant(HostTensor::of_ints(to, extents, *numbers));
  return cx.add(ops::DimValues{*values, to, extents}, {});
}

Status cast_to(ImportContext& cx, DType to) {
  ValueId x = TRY(cx.input(0));
  if (is_float(to) && cx.carried(0) == ElementType::kUint64)
    x = TRY(from_carried(cx, x, cx.carried(0), to == DType::kF64 ? to : DType::kF32));
  if (const ValueId length = TRY(length_of_floats(cx, x, to)); length != ValueId::kNone) return cx.output(length);
  if (to == DType::kI4) return cx.output(TRY(to_four_bits(cx, x)));
  if (to == DType::kF4E2M1) return cx.output(TRY(to_f4(cx, x)));
  if (to == DType::kE8M0) return cx.output(TRY(to_e8m0(cx, x)));
  if (to == DType::kF8E4M3 && TRY(cx.node().get_int("saturate", 1)) == 0) x = TRY(with_overflow_as_nan(cx, x));
  return cx.output(TRY(cx.add(ops::Cast{to}, {x})));
}

Status cast_to_carried(ImportContext& cx, ElementType to) {
  const bool saturates = TRY(cx.node().get_int("saturate", 1)) != 0;
  return cx.output(0, TRY(as_carried(cx, TRY(cx.input(0)), cx.carried(0), to, saturates)), to);
}

/// Only the types for which these say something ask for them.
void pass_over_rounding(ImportContext& cx) {
  for (const std::string_view attribute : {"saturate", "round_mode"}) cx.node().pass_over(attribute);
}

}  // namespace

Status cast(ImportContext& cx) {
  pass_over_rounding(cx);
  const auto to = static_cast<ElementType>(TRY(cx.node().need_int("to")));
  if (carrier_of(to)) return cast_to_carried(cx, to);
  return cast_to(cx, TRY(in_context(need_dtype(to), [] { return "cast to"; })));
}

Status cast_like(ImportContext& cx) {
  pass_over_rounding(cx);
  const ElementType to = cx.carried(1);
  return carrier_of(to) ? cast_to_carried(cx, to) : cast_to(cx, cx.dtype(TRY(cx.input(1))));
}

}  // namespace kiln::onnx::importers
