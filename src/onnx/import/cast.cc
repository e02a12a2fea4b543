#include "ops/cast.h"

#include <algorithm>
#include <cmath>

#include "onnx/dtypes.h"
#include "onnx/import/compose.h"
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
  if (const ValueId length = TRY(length_of_floats(cx, x, to)); length != ValueId::kNone) return cx.output(length);
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
